"""Opening Everfold with the hands of its settings."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.hand_source import HandSource
from everfold.agents.hands import Hands
from everfold.bootstrap import open as open_everfold
from everfold.config import Overrides, Settings, load_settings
from everfold.engine import Everfold
from everfold.ports.hooks import Hooks
from everfold.ports.sources import ContextSource
from everfold.ports.system import Clock, Ids
from everfold.ports.tracing import Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """An engine with what runs on it."""

    engine: Everfold
    hands: Hands
    settings: Settings


@asynccontextmanager
async def open_agents(
    url: str | Path | None = None,
    *,
    settings: Settings | Overrides | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    hooks: Sequence[Hooks] = (),
    tracer: Tracer | None = None,
    sources: Sequence[ContextSource] = (),
) -> AsyncIterator[Agents]:
    """Open a store and give the engine with the hands of the settings; all is let go at the end.

    The hands that `[[compaction.context_sources]]` allows are asked at each refresh. Where there are hands, the libraries of
    their models are loaded beside everything else from now on; without hands none is loaded.

    Args:
        url: As for `everfold.open`, and so are the others.
        settings: Settings by section and key, or ones that were loaded before.
        config: The settings file.
        clock: Tells the time.
        ids: Makes ids.
        hooks: Plug-ins.
        tracer: Takes spans.
        sources: Context sources that the program brings itself.

    Raises:
        NotFoundError: a hand that is allowed is not described; the message names the nearest.
        InvalidInputError: the url or a setting does not fit, or a hand does not list its tools.
        ConflictError: a name or a binding of the settings' users is another user's in the store.
        StoreError: the store cannot be opened.
    """
    loaded = settings if isinstance(settings, Settings) else load_settings(config, settings)
    clock, ids = clock or SystemClock(), ids or RandomIds()
    hands = Hands(settings=loaded, clock=clock, ids=ids)
    given = {source.name for source in sources}
    allowed = [entry.hand for entry in loaded.compaction.context_sources if entry.hand is not None]
    brought = [HandSource(hands=hands, hand=hands.get(name)) for name in allowed if f"hand://{name}" not in given]
    try:
        async with open_everfold(
            url, settings=loaded, clock=clock, ids=ids, hooks=hooks, tracer=tracer, sources=[*brought, *sources]
        ) as engine:
            hands.usage = engine.admin.usage
            hands.warm()
            yield Agents(engine=engine, hands=hands, settings=loaded)
    finally:
        await hands.close()
