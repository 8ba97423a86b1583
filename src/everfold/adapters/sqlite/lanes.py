"""The two threads of a store: one writes and one reads, each with its own connection, so that neither holds up the other."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Concatenate, ParamSpec, TypeVar

from everfold.adapters.sqlite.connection import Database, reading, translated
from everfold.adapters.sqlite.lane import Lane

P = ParamSpec("P")
T = TypeVar("T")


class Lanes:
    """A file that is open for writing and for reading."""

    def __init__(self, path: str) -> None:
        self.path = path
        with ExitStack() as opened:
            self._writer = Lane("writer", path)
            opened.callback(self._writer.close)
            self._reader = Lane("reader", path)
            opened.pop_all()

    async def _write(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        return await self._writer.call(self._make_transaction(work, *arguments, **options))

    async def _write_briefly(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        """The same for a few small rows; see `Lane.call_briefly`."""
        return await self._writer.call_briefly(self._make_transaction(work, *arguments, **options))

    def _make_transaction(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> Callable[[], T]:
        database = self._writer.database

        def run() -> T:
            with translated(self.path), database.transaction():
                database.expect_in_place()
                return work(database, *arguments, **options)

        return run

    async def _read(self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs) -> T:
        database = self._reader.database

        def run() -> T:
            with reading(self.path):
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
