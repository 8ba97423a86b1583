"""A uvicorn server that says when it is ready, and ends without the process being ended with it."""

import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from everfold.errors import InvalidInputError


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


def require_free(host: str, port: int) -> None:
    """Refuse an address at which this process cannot listen, before anything is made that is told once it answers.

    Args:
        host: A name or an address; all addresses of a name that the machine has are tried.
        port: 0 for any.

    Raises:
        InvalidInputError: another program listens there, it is not allowed, or no machine has that address here.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        refused = [error for family, _, _, _, address in found if (error := _try_to_bind(family, address)) is not None]
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(f"{host!r} is no address: {error}; choose another one with --host") from error
    busy = next((error for error in refused if error.errno == errno.EADDRINUSE), None)
    if busy is not None:
        raise InvalidInputError(
            f"port {port} of {host} is in use; stop what listens there, or choose another one with --port"
        ) from busy
    if refused and len(refused) == len(found):
        raise InvalidInputError(
            f"nothing can listen on port {port} of {host}: {refused[0].strerror}; choose others with --host and --port"
        ) from refused[0]


def _try_to_bind(family: int, address: object) -> OSError | None:
    """Why an address cannot be had; None where it can."""
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        try:
            if os.name == "posix":  # elsewhere the option lets two programs have one port
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            tried.bind(address)  # type: ignore[arg-type]  # the shape depends on the family
        except OSError as error:
            return error
    return None
