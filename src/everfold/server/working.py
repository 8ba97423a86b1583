"""Working: the jobs that servers leave to workers, with the health and the figures of this worker beside it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from everfold.server.routes import health, system
from everfold.server.runtime import Runtime
from everfold.server.serving import serve


async def work(
    runtime: Runtime, *, host: str, port: int, concurrency: int | None, on_ready: Callable[[str], None]
) -> None:
    """Do jobs until the process is told to stop; those that run then are finished within `workers.drain_secs`.

    Args:
        runtime: Over a store whose work is left to workers.
        host: The address that answers for health and metrics.
        port: Its port; 0 takes a free one.
        concurrency: How many jobs are done at once; None for `workers.concurrency`.
        on_ready: Told the address once jobs are done and requests are answered.
    """
    settings = runtime.settings.workers
    runtime.is_worker = True
    working = asyncio.create_task(
        runtime.engine.admin.work(
            concurrency=settings.concurrency if concurrency is None else concurrency,
            heartbeat_secs=settings.heartbeat_secs,
            drain_secs=settings.drain_secs,
        ),
        name="everfold worker",
    )
    try:
        await serve(runtime, host=host, port=port, on_ready=on_ready, routers=(health.router, system.router))
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
