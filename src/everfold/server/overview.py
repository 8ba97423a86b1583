"""What an operator sees of a server at one glance."""

from pathlib import PurePath

from everfold.config import explain_settings
from everfold.core.observation.overview import sum_usd
from everfold.server.reference import read_version
from everfold.server.routing import Fields
from everfold.server.runtime import Runtime

MOST_COMPACTIONS = 100
"""How many of what waits, and of what failed, are shown."""


async def show_system(runtime: Runtime) -> Fields:
    """All of it."""
    counts = await runtime.engine.admin.count_work()
    settings = runtime.settings
    rows = explain_settings(settings, path=runtime.config, overrides=runtime.overrides)
    return {
        "version": read_version(),
        "started_at": runtime.started_at,
        "store": _name_store(runtime.url),
        "users_count": counts.users_count,
        "sessions_count": counts.sessions_count,
        "compactions": {
            "counts": {**dict(counts.waiting), "degraded": counts.degraded_count, "all": counts.compactions_count},
            "oldest_pending_secs": counts.oldest_secs(runtime.clock.now()),
            "waiting": await runtime.engine.admin.unfinished(limit=MOST_COMPACTIONS),
            "failed": await runtime.engine.admin.degraded(limit=MOST_COMPACTIONS),
        },
        "recovery": settings.recovery,
        "spend": await _show_spend(runtime),
        "settings": [{"key": key, "value": value, "from": place} for key, value, place in rows],
    }


async def _show_spend(runtime: Runtime) -> Fields:
    spends, caps = await runtime.engine.admin.spent_today(), runtime.settings.spend
    return {
        "today_usd": sum_usd(spends),
        "per_day_usd": caps.per_day_usd,
        "per_compaction_usd": caps.per_compaction_usd,
        "by_model": spends,
    }


def _name_store(url: str) -> str:
    """The store without the folders of this machine."""
    scheme, _, path = url.partition(":///")
    return f"{scheme}: {PurePath(path).name}" if path else url.removesuffix("://")
