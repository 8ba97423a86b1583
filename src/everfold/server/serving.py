"""Serving the app until it is stopped."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, cast

import uvicorn
from fastapi import APIRouter
from starlette.types import ASGIApp

from everfold.server.app import make_app
from everfold.server.chats import load_answering
from everfold.server.connections import BoundedConnection, Bounds
from everfold.server.garbage import FullCollections
from everfold.server.gateway.app import open_gateway
from everfold.server.hosts import choose_hosts, is_loopback
from everfold.server.routes import ROUTERS
from everfold.server.runtime import Runtime
from everfold.server.stopping import StoppableServer, require_free

_IDLE_SECS: Final = 75
"""How long an idle connection is kept: longer than a proxy in front keeps its own, so that it never meets a closed one.

Source: the keep-alive timeouts that nginx (60 s) and AWS load balancers (60 s) document.
"""

_logger = logging.getLogger("everfold.server")


async def serve(
    runtime: Runtime,
    *,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    routers: Sequence[APIRouter] = ROUTERS,
) -> None:
    """Answer requests until the process is told to stop; what is on its way then is finished first.

    Args:
        runtime: What is served.
        host: The address to listen on.
        port: The port; 0 takes a free one.
        on_ready: Told the address once requests are answered.
        routers: What is answered.

    Raises:
        InvalidInputError: it cannot listen there.
    """
    require_free(host, port)
    settings = runtime.settings.server
    if not is_loopback(host) and not runtime.is_https:
        _logger.warning(
            "listening on %s without TLS: API keys and what users say can be read on the way; put a proxy with TLS in "
            "front, and name it in server.public_url",
            host,
        )
    connection = partial(BoundedConnection, bounds=Bounds(settings=settings, ids=runtime.ids))
    hosts = choose_hosts(settings, host)
    async with open_gateway(make_app(runtime, hosts=hosts, routers=routers), runtime, hosts=hosts) as app:
        server = _Server(_configure(app, runtime, connection, host=host, port=port), runtime, on_ready)
        await server.serve()
    server.require_started()


def _configure(
    app: ASGIApp, runtime: Runtime, connection: Callable[..., BoundedConnection], *, host: str, port: int
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=cast("type[BoundedConnection]", connection),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=_IDLE_SECS,
        timeout_graceful_shutdown=cast("int", runtime.settings.server.drain_secs),  # a float serves as well
    )


class _Server(StoppableServer):
    """Has streams end before it waits for what is on its way, and loads what only answers need once it is ready."""

    def __init__(self, config: uvicorn.Config, runtime: Runtime, on_ready: Callable[[str], None]) -> None:
        super().__init__(config, self._begin)
        self._runtime = runtime
        self._tell_ready = on_ready
        self._collections = FullCollections()

    def _begin(self, address: str) -> None:
        self._collections.begin()
        self._tell_ready(f"{address}/")
        self._loading = asyncio.create_task(self._load(), name="everfold answers")

    async def _load(self) -> None:
        await asyncio.to_thread(load_answering)
        self._collections.keep()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        self._collections.look(is_idle=not self.server_state.tasks)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._runtime.stopping.set()
        self._loading.cancel()
        await super().shutdown(sockets)
        self._collections.end()
