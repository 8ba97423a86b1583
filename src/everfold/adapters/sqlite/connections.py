"""The two threads of a store: one writes and one reads, each with its own connection, so that neither holds up the other.

A database in memory belongs to one connection, and so to one thread, which does both.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Concatenate, ParamSpec, TypeVar
from weakref import finalize

from everfold.adapters.sql.connections import Connections
from everfold.adapters.sql.places import Places
from everfold.adapters.sqlite.connection import IN_MEMORY, Database, reading, translated
from everfold.adapters.sqlite.connection_thread import ConnectionThread
from everfold.ports.system import Clock
from everfold.ports.writing import find_watched

P = ParamSpec("P")
T = TypeVar("T")


class SqliteConnections(Connections):
    """A file, or a database in memory, that is open for writing and for reading."""

    def __init__(self, path: str, clock: Clock | None = None) -> None:
        self.path = path
        self._clock = clock
        with ExitStack() as opened:
            self._writer = self._start_thread("writer")
            opened.callback(self._writer.close)
            self._reader = self._writer if path == IN_MEMORY else self._start_thread("reader")
            opened.pop_all()

    def _start_thread(self, name: str) -> ConnectionThread:
        """A connection on a thread of its own, which ends with the store where that was never closed."""
        thread = ConnectionThread(name, self.path, self._clock)
        finalize(self, thread.end).atexit = False
        return thread

    async def _write(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        database, written = self._writer.database, find_watched()

        def run() -> T:
            with translated(self.path), database.transaction():
                database.expect_in_place()
                done = work(database, *arguments, **options)
                if written is not None:
                    written.commits_count += 1  # from here on it may be stored
                return done

        return await self._writer.call(run)

    async def _write_lightly(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        database = self._writer.database

        def run() -> T:
            with translated(self.path), database.unsynced(), database.transaction():
                database.expect_in_place()
                return work(database, *arguments, **options)

        return await self._writer.call(run)

    async def _write_placed(
        self, work: Callable[Concatenate[Database, Places, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        return await self._write(work, self._writer.places, *arguments, **options)

    async def _read(self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs) -> T:
        database = self._reader.database

        def run() -> T:
            with reading(self.path), database.bounded():
                return work(database, *arguments, **options)

        return await self._reader.call(run)

    async def _read_placed(
        self, work: Callable[Concatenate[Database, Places, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        return await self._read(work, self._reader.places, *arguments, **options)

    async def _read_at_once(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        def look(database: Database) -> T:
            with database.snapshot():
                return work(database, *arguments, **options)

        return await self._read(look)

    async def _empty_log(self) -> None:
        """Empty the write-ahead log too, unless a reader holds on to it."""
        await self._writer.call(self._writer.database.empty_log)
