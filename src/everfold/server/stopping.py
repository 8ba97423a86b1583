"""A uvicorn server that says when it is ready, and ends without the process being ended with it."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from uvicorn.config import STARTUP_FAILURE


class StoppableServer(uvicorn.Server):
    """Stops on SIGINT and SIGTERM; a second one of them stops it at once.

    A signal that stopped it has done its work then: it is not raised again, which would end the process before the
    engine is closed.

    Args:
        config: What it serves and where.
        on_ready: Told the address, `http://HOST:PORT`, once requests are answered and signals are taken.
    """

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take both signals for as long as it serves."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so; a server that cannot listen has logged why, and ends without being started."""
        try:
            await super().startup(sockets)
        except SystemExit:  # raised later, by `require_started`: a task group around the server would wrap it
            self.should_exit = True
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            self._on_ready(f"http://{shown}:{port}")

    def require_started(self) -> None:
        """End the process with uvicorn's exit code where the server could not listen; to be called once it has ended."""
        if not self.started:
            sys.exit(STARTUP_FAILURE)
