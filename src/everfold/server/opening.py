"""Opening what a server serves."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.adapters.system.otel import OtelTracer
from everfold.agents.opening import open_agents
from everfold.config import Overrides
from everfold.ports.sources import ContextSource
from everfold.ports.system import Clock, Ids
from everfold.ports.tracing import NO_TRACER
from everfold.server.metrics import watch
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
    tracer = OtelTracer() if find_spec("opentelemetry") else NO_TRACER
    async with open_agents(
        url, settings=settings, config=config, clock=clock, ids=ids, tracer=tracer, sources=sources
    ) as agents:
        runtime = Runtime(
            engine=agents.engine,
            hands=agents.hands,
            settings=agents.settings,
            clock=clock,
            ids=ids,
            started_at=clock.now(),
            url=url or agents.settings.store.url,
            config=config,
            overrides=settings,
            tracer=tracer,
        )
        async with watch(runtime.metrics, agents.engine):
            try:
                yield runtime
            finally:
                await runtime.imports.close()
