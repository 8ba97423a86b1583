"""The methods of vectors over a SQLite file."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

from everfold.adapters.sql import vectors
from everfold.adapters.sqlite.connection import IN_MEMORY, Database, reading
from everfold.adapters.sqlite.connection_thread import ConnectionThread
from everfold.adapters.sqlite.connections import SqliteConnections
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import (
    Embeddable,
    Near,
    OpenWrites,
    Space,
    Vector,
    VectorKind,
    VectorRef,
    VectorRow,
    check_dimensions,
)
from everfold.errors import InvalidInputError, StoreUnavailableError
from everfold.ports.system import Clock

T = TypeVar("T")


class SqliteVectors(SqliteConnections):
    """The vector store's methods; see `everfold.ports.vectors.VectorStore`.

    What reads many vectors has a third thread with a connection of its own, so that it holds up neither writes nor
    other reads. Both are made when they are first needed: a store without an embedder has neither. A database in memory
    has the one thread for this too.
    """

    def __init__(self, path: str, clock: Clock | None = None) -> None:
        super().__init__(path, clock)
        self._seeker: ConnectionThread | None = self._writer if path == IN_MEMORY else None
        self._making_seeker = asyncio.Lock()
        self._can_compare = False

    async def put_vectors(self, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:
        """See the port."""
        return await self._write(vectors.put_vectors, user_id, space, rows)

    async def find_near(
        self,
        vector: Vector,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        kinds: Sequence[VectorKind],
        space: Space,
        limit_count: int,
    ) -> list[Near]:
        """See the port."""
        check_dimensions(vector, space)

        def look(database: Database) -> list[Near]:
            return vectors.find_near(database, vector, user_id, agent_id, kinds, space, limit_count)

        return await self._seek(look, compares=True)

    async def require_search(self) -> None:
        """See the port."""
        await self._seek(lambda _: None, compares=True)

    async def list_missing(
        self, user_id: UserId, kind: VectorKind, space: Space, *, after: VectorRef | None = None, limit_count: int
    ) -> list[Embeddable]:
        """See the port."""

        def look(database: Database) -> list[Embeddable]:
            return vectors.list_missing(database, user_id, kind, space, after, limit_count)

        return await self._seek(look)

    async def read_open_writes(self) -> OpenWrites:
        """See the port. There is one writer at a time."""
        return OpenWrites()

    async def tend_vectors(self, user_id: UserId) -> None:
        """See the port. Nothing: a search reads the codes of all vectors."""

    async def count_vectors(self, user_id: UserId) -> dict[Space, int]:
        """See the port."""
        return await self._read(vectors.count_vectors, user_id)

    async def drop_vectors(self, user_id: UserId, *, keep: Space | None = None, limit_count: int | None = None) -> int:
        """See the port."""
        return await self._write(vectors.drop_vectors, user_id, keep, limit_count)

    async def _seek(self, work: Callable[[Database], T], *, compares: bool = False) -> T:
        """The same as `_read_at_once`, on the third thread."""
        async with self._making_seeker:
            if self._reader.is_closed:
                raise StoreUnavailableError(f"{self.path} was closed; open it again", path=self.path)
            if self._seeker is None:
                self._seeker = await asyncio.to_thread(self._start_thread, "vectors")
        seeker = self._seeker

        def run() -> T:
            if compares:
                self._learn_to_compare(seeker.database)
            with reading(self.path), seeker.database.bounded(), seeker.database.snapshot():
                return work(seeker.database)

        return await seeker.call(run)

    def _learn_to_compare(self, database: Database) -> None:
        if not self._can_compare:
            load_extension(database)
            self._can_compare = True

    async def _close_seeker(self) -> None:
        """Let go of the third thread. No call may come after it."""
        async with self._making_seeker:
            if self._seeker is not None:
                await asyncio.to_thread(self._seeker.close)


def load_extension(database: Database) -> None:
    """Give a connection the functions that compare vectors.

    Raises:
        InvalidInputError: the package is not installed.
    """
    try:
        import sqlite_vec  # type: ignore[import-untyped]  # it ships no types
    except ImportError as error:
        raise InvalidInputError(
            "search by vectors in SQLite needs the extra `embed`: pip install 'everfold[embed]', or remove embed.model"
        ) from error
    try:
        database.connection.enable_load_extension(True)
        database.connection.load_extension(sqlite_vec.loadable_path())
        database.connection.enable_load_extension(False)
    except (apsw.Error, AttributeError, OSError) as error:
        raise InvalidInputError(
            f"sqlite-vec cannot be loaded into this SQLite ({error}): "
            "run pip install --force-reinstall sqlite-vec, or remove embed.model"
        ) from error
