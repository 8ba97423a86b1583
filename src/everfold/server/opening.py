"""Opening what a server serves."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.opening import open_agents
from everfold.config import Overrides
from everfold.ports.sources import ContextSource
from everfold.ports.system import Clock, Ids
from everfold.server.runtime import Runtime


@asynccontextmanager
async def open_runtime(
    url: str | None = None,
    *,
    settings: Overrides | None = None,
    config: Path | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    sources: Sequence[ContextSource] = (),
) -> AsyncIterator[Runtime]:
    """The engine of the settings and what a server needs beside it; all is let go at the end. Errors as `open_agents`."""
    clock, ids = clock or SystemClock(), ids or RandomIds()
    async with open_agents(url, settings=settings, config=config, clock=clock, ids=ids, sources=sources) as agents:
        yield Runtime(
            engine=agents.engine,
            hands=agents.hands,
            settings=agents.settings,
            clock=clock,
            ids=ids,
            started_at=clock.now(),
            config=config,
        )
