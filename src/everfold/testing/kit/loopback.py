"""Loopback: a real HTTP server on this machine, for as long as it is entered."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self


class Loopback:
    """A server with a thread for each connection; many may knock at once.

    Args:
        handler: Answers the requests of a connection.
        waits: Whether the end waits for the connections that are open.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler], *, waits: bool = False) -> None:
        self._http = _Http(("127.0.0.1", 0), handler)
        self._http.daemon_threads = not waits
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def release(self) -> None:
        """Let the answers that are held go on; called at the end, before the connections are closed."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Http(ThreadingHTTPServer):
    request_queue_size = 1024
