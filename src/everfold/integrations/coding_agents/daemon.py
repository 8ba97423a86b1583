"""The daemon that answers the hooks of coding agents, on a Unix socket that only this user may use.

    python -m everfold.integrations.coding_agents.daemon CONNECTION

One serves a store; a second one that is started for the same store ends at once. What is on its input is the first event. It
ends by itself when no event came for a while, and can be killed at any moment: what is stored is stored, and the rest of a
transcript is read by the next daemon.
"""

import asyncio
import fcntl
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from everfold.bootstrap import open as open_everfold
from everfold.errors import EverfoldError
from everfold.integrations.coding_agents.answering import Answering
from everfold.integrations.coding_agents.connection import (
    Connection,
    find_path,
    list_connections,
    make_private,
    read_connection,
)

LONGEST_BYTES: Final = 16_000_000
"""A longer event is none of a client's."""
LOCK_TRIES: Final = 20
LOCK_PAUSE_SECS: Final = 0.05
_LOG: Final = logging.getLogger("everfold.coding_agents")


async def serve(connection: Connection, first: bytes = b"") -> None:
    """Answer events until none has come for a while."""
    path = Path(connection.socket)
    make_private(path.parent)
    with _holding(path.with_suffix(".lock")) as is_held:
        if not is_held:
            return
        async with open_everfold(
            connection.url, config=Path(connection.config) if connection.config else None
        ) as engine:
            server = _Server(Answering(engine=engine), idle_secs=connection.idle_secs)
            await server.run(path, first)


@contextmanager
def _holding(path: Path) -> Iterator[bool]:
    """Whether this process may serve the socket; the system lets go of the lock when the process ends, however it ends."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield any(_lock(descriptor) for _ in range(LOCK_TRIES))
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock, or wait a moment: a daemon that ends holds it to its end."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(LOCK_PAUSE_SECS)
        return False
    return True


class _Server:
    """One daemon over an open store."""

    def __init__(self, answering: Answering, *, idle_secs: float) -> None:
        self._answering = answering
        self._idle_secs = idle_secs
        self._used = asyncio.Event()
        self._open_count = 0

    async def run(self, path: Path, first: bytes) -> None:
        """Listen on a socket of mode 0600 until nothing has come for the idle time."""
        _remove(path)
        mask = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._serve, path, limit=LONGEST_BYTES)
        finally:
            os.umask(mask)
        try:
            if first.strip():
                await self._answer(first)
            for connection in list_connections(str(path)):
                await self._answering.catch_up(connection)
            await self._wait_until_idle()
        finally:
            _remove(path)
            server.close()
            await self._answering.drain()

    async def _wait_until_idle(self) -> None:
        while True:
            self._used.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._used.wait(), self._idle_secs)
                continue
            if not self._open_count and not self._answering.tasks:
                return

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one event. The client may be gone by then."""
        self._open_count += 1
        self._used.set()
        try:
            with suppress(OSError, ValueError):
                writer.write(json.dumps({"text": await self._answer(await reader.readline())}).encode())
                await writer.drain()
        finally:
            self._open_count -= 1
            self._used.set()
            writer.close()

    async def _answer(self, line: bytes) -> str:
        """What is said to an event; nothing where anything about it fails, which is logged."""
        try:
            request = json.loads(line)
            path = Path(request["connection"])
            if path.parent != find_path("any").parent:
                return ""
            return await self._answering.answer(read_connection(path), request["event"])
        except (EverfoldError, OSError, ValueError, KeyError, TypeError):
            _LOG.exception("an event of a coding agent was not answered")
            return ""


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def main() -> None:
    """Serve the store of a connection."""
    connection = read_connection(Path(sys.argv[1]))
    logging.basicConfig(level=logging.WARNING)
    asyncio.run(serve(connection, sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()
