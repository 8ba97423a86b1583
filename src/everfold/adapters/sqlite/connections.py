"""The two threads of a store: one writes and one reads, each with its own connection, so that neither holds up the other."""

from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from everfold.adapters.sqlite.connection import Database, reading, translated
from everfold.adapters.sqlite.connection_thread import ConnectionThread
from everfold.adapters.sqlite.places import Places
from everfold.ports.writing import find_watched, watch_writes

P = ParamSpec("P")
T = TypeVar("T")


class Connections:
    """A file that is open for writing and for reading."""

    def __init__(self, path: str) -> None:
        self.path = path
        with ExitStack() as opened:
            self._writer = ConnectionThread("writer", path)
            opened.callback(self._writer.close)
            self._reader = ConnectionThread("reader", path)
            opened.pop_all()

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

    async def _note(self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same for what is only noted beside the work; see `everfold.ports.writing`."""
        with watch_writes():  # of its own
            return await self._write(work, *arguments, **options)

    async def _read(self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs) -> T:
        database = self._reader.database

        def run() -> T:
            with reading(self.path), database.bounded():
                return work(database, *arguments, **options)

        return await self._reader.call(run)

    async def _read_at_once(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        """The same for what takes several queries: all of them see the database at one moment."""

        def look(database: Database) -> T:
            with database.snapshot():
                return work(database, *arguments, **options)

        return await self._read(look)


Work: TypeAlias = Callable[Concatenate[Database, P], T]
Method: TypeAlias = Callable[Concatenate[Connections, P], Coroutine[Any, Any, T]]


def writes(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that writes by a function, in one transaction; see the port for what it promises."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._write(work, *arguments, **options)

    return write


def notes(work: Work[P, T]) -> Method[P, T]:
    """The same as `writes`, for what is only noted beside the work; see `everfold.ports.writing`."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._note(work, *arguments, **options)

    return write


def reads(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that reads by a function of one query."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read(work, *arguments, **options)

    return read


PlacedWork: TypeAlias = Callable[Concatenate[Database, Places, P], T]


def writes_placed(work: PlacedWork[P, T]) -> Method[P, T]:
    """The same as `writes`, by a function that looks sessions up among those that the thread has seen."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._write(work, self._writer.places, *arguments, **options)

    return write


def reads_placed(work: PlacedWork[P, T]) -> Method[P, T]:
    """The same as `reads`, by a function that looks sessions up among those that the thread has seen."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read(work, self._reader.places, *arguments, **options)

    return read


def reads_at_once(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that reads by a function of several queries, which see the database at one moment."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read_at_once(work, *arguments, **options)

    return read
