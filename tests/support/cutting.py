"""A way to PostgreSQL that breaks off where a test says."""

import ctypes
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread, Timer
from typing import Literal

from psycopg.conninfo import conninfo_to_dict

Place = Literal["begun", "unsent", "unanswered", "read"]
"""Where a connection breaks off: behind the beginning of a transaction, before its commit reaches the server, before the
answer to its commit comes back, or at whatever is asked next."""

_SOCKET = ".s.PGSQL.5432"
_MOST_BYTES = 1 << 20
_ATTACH_FILTER, _RETURN = 26, 6
"""Source: Linux, `SO_ATTACH_FILTER` of asm-generic/socket.h and `BPF_RET | BPF_K` of linux/bpf_common.h."""


class Cutter:
    """A socket in front of a server's own; breaks off one connection for each `place` that is set.

    Attributes:
        url: By which the server is reached over this socket.
        place: Where the next connection breaks off; None when it has.
        before: What happens meanwhile, before the client learns that its connection is lost.
        is_down: Whether every new connection is refused, as by a server that is being restarted.
    """

    def __init__(self, url: str, folder: Path) -> None:
        given = conninfo_to_dict(url)
        self.url = f"postgresql://{given['user']}@/{given['dbname']}?host={folder}"
        self.place: Place | None = None
        self.before: Callable[[], None] = lambda: None
        self.is_down = False
        self._open: list[socket.socket] = []
        self._server = str(Path(str(given["host"])) / _SOCKET)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / _SOCKET))
        self._listening.listen()
        Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()

    def go_down(self, secs: float) -> None:
        """Break off every connection, and refuse new ones for so long."""
        self.is_down = True
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        Timer(secs, self._come_back).start()

    def _come_back(self) -> None:
        self.is_down = False

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self.is_down:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        """What the client sends, until it breaks off; the answers come by another thread."""
        Thread(target=self._answer, args=(client, server), daemon=True).start()
        with closing(client), closing(server), suppress(OSError):
            while sent := client.recv(_MOST_BYTES):
                if self.place == "read" or (self.place == "unsent" and b"COMMIT" in sent):
                    break
                is_unanswered = self.place == "unanswered" and b"COMMIT" in sent
                if is_unanswered:
                    client.shutdown(socket.SHUT_RDWR)
                server.sendall(sent)
                if is_unanswered:
                    break
                if self.place == "begun" and b"BEGIN" in sent:
                    break
            else:
                return
            self.before()
            self.place = None
            for one in (client, server):  # the other thread holds them too: to close them is not enough
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _answer(client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while given := server.recv(_MOST_BYTES):
                client.sendall(given)


class SilentWay:
    """A way to PostgreSQL over TCP on which packets get lost from some moment on, and neither side learns of it.

    Attributes:
        url: By which the server is reached over it.
    """

    def __init__(self, url: str) -> None:
        given = conninfo_to_dict(url)
        self._server = str(Path(str(given["host"])) / _SOCKET)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://{given['user']}@127.0.0.1:{self._listening.getsockname()[1]}/{given['dbname']}"
        self._clients: list[socket.socket] = []
        self._servers: list[socket.socket] = []
        Thread(target=self._listen, daemon=True).start()

    def lose_connections(self) -> None:
        """Drop every packet of the connections that there are, as a firewall does that has forgotten them."""
        for client in self._clients:
            _drop_packets(client)

    def lose_host(self) -> None:
        """Drop those of new connections too, as if the host had lost its power."""
        _drop_packets(self._listening)
        self.lose_connections()

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        for one in (self._listening, *self._clients, *self._servers):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._clients.append(client)
                self._servers.append(server)
                for ends in ((client, server), (server, client)):
                    Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while sent := source.recv(_MOST_BYTES):
            target.sendall(sent)
        target.shutdown(socket.SHUT_WR)


def _drop_packets(one: socket.socket) -> None:
    """Have the kernel drop what arrives for a socket, without an acknowledgement: by a filter that admits no byte."""
    admit_none = ctypes.create_string_buffer(struct.pack("HBBI", _RETURN, 0, 0, 0))
    one.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(admit_none)))


@contextmanager
def cutting(url: str, folder: Path) -> Iterator[Cutter]:
    """A way to the server of a url that is on this machine."""
    cutter = Cutter(url, folder)
    try:
        yield cutter
    finally:
        cutter.close()
