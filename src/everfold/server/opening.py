"""Opening what a server serves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.adapters.system.otel import OtelTracer
from everfold.agents.opening import open_agents
from everfold.bootstrap import open_replicas
from everfold.config import Overrides
from everfold.ports.sources import ContextSource
from everfold.ports.system import Clock, Ids
from everfold.ports.tracing import NO_TRACER
from everfold.server.metrics import watch
from everfold.server.runtime import Runtime
from everfold.services.telling.relay import Relay
from everfold.services.telling.stream import Stream, tell_failed_work

_logger = logging.getLogger("everfold.server")


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
        async with watch(runtime.metrics, agents.engine), _sharing(runtime):
            try:
                yield runtime
            finally:
                await runtime.imports.close()


@asynccontextmanager
async def _sharing(runtime: Runtime) -> AsyncIterator[None]:
    """Within it, the server goes by what the others over its store changed, and each is told what the other ones do."""
    runtime.replicas = open_replicas(runtime.url)
    if runtime.replicas is None:
        yield
        return
    stream = runtime.engine.admin.stream
    runtime.relay = Relay(
        stream.feed,
        runtime.replicas,
        limiter=runtime.limiter,
        take_settings=runtime.take_shared,
        stop=runtime.chats.stop_holder,
        on_error=partial(_tell_refused, stream),
    )
    await runtime.relay.look_at_settings()
    relaying = asyncio.create_task(runtime.relay.run(), name="everfold relay")
    try:
        yield
    finally:
        relaying.cancel()
        await asyncio.wait([relaying])
        await runtime.replicas.close()


def _tell_refused(stream: Stream, name: str, error: Exception) -> None:
    """Tell the stream that settings cannot be taken, and the operator why."""
    _logger.warning("%s cannot be taken: %s", name, error)
    tell_failed_work(stream, name, error)
