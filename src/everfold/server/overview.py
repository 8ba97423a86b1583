"""What an operator sees of a server at one glance."""

from pathlib import PurePath

from everfold.config import explain_settings
from everfold.core.overview import sum_usd
from everfold.server.reference import read_version
from everfold.server.runtime import Runtime
from everfold.server.shapes.system import (
    EventsOverview,
    SettingLine,
    SpendOverview,
    SweepOverview,
    SystemShape,
    show_open_event,
    show_spend,
)

MOST_EVENTS = 100
"""How many of what waits, and of what failed, are shown."""


async def show_system(runtime: Runtime) -> SystemShape:
    """All of it."""
    counts = await runtime.engine.count_work()
    settings = runtime.settings
    rows = explain_settings(settings, path=runtime.config, overrides=runtime.overrides)
    return SystemShape(
        version=read_version(),
        started_at=runtime.started_at,
        store=_name_store(runtime.url),
        users_count=counts.users_count,
        sessions_count=counts.sessions_count,
        events=EventsOverview(
            counts={**dict(counts.waiting), "degraded": counts.degraded_count, "all": counts.events_count},
            oldest_pending_secs=counts.oldest_secs(runtime.clock.now()),
            waiting=[show_open_event(event) for event in await runtime.engine.unfinished(limit=MOST_EVENTS)],
            failed=[show_open_event(event) for event in await runtime.engine.degraded(limit=MOST_EVENTS)],
        ),
        sweep=SweepOverview.model_validate(settings.sweep),
        spend=await _show_spend(runtime),
        settings=[
            SettingLine.model_validate({"key": key, "value": value, "from": place}) for key, value, place in rows
        ],
    )


async def _show_spend(runtime: Runtime) -> SpendOverview:
    spends, caps = await runtime.engine.spent_today(), runtime.settings.spend
    return SpendOverview(
        today_usd=sum_usd(spends),
        per_day_usd=caps.per_day_usd,
        per_event_usd=caps.per_event_usd,
        by_model=[show_spend(spend) for spend in spends],
    )


def _name_store(url: str) -> str:
    """The store without the folders of this machine."""
    scheme, _, path = url.partition(":///")
    return f"{scheme}: {PurePath(path).name}" if path else url.removesuffix("://")
