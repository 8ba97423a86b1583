"""The methods of vectors over PostgreSQL. Their tables need the extension pgvector, and are made at the first use."""

import asyncio
from collections.abc import Sequence
from importlib.resources import files
from typing import cast

from psycopg import errors

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.connections import PostgresConnections
from everfold.adapters.postgres.migrating import MIGRATING_KEY
from everfold.adapters.postgres.near_indexes import INDEXED_FROM, Limits, Tending, plan_tending, tend
from everfold.adapters.sql import vectors
from everfold.adapters.sql.owners import find_user_key
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
from everfold.errors import InvalidInputError


class PostgresVectors(PostgresConnections):
    """The vector store's methods; see `everfold.ports.vectors.VectorStore`."""

    indexed_from = INDEXED_FROM
    indexing_limits = Limits()

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._url = url
        self._has_vectors = False

    async def put_vectors(self, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:
        """See the port."""
        await self.require_search()
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
        await self.require_search()
        return await self._read_at_once(vectors.find_near, vector, user_id, agent_id, kinds, space, limit_count)

    async def require_search(self) -> None:
        """See the port."""
        if not self._has_vectors:
            await self._call(_make_tables)
            self._has_vectors = True

    async def list_missing(
        self, user_id: UserId, kind: VectorKind, space: Space, *, after: VectorRef | None = None, limit_count: int
    ) -> list[Embeddable]:
        """See the port."""
        await self.require_search()
        return await self._read_at_once(vectors.list_missing, user_id, kind, space, after, limit_count)

    async def read_open_writes(self) -> OpenWrites:
        """See the port."""
        return await self._read(_read_open_writes)

    async def tend_vectors(self, user_id: UserId) -> None:
        """See the port."""
        planned = await self._read(_plan_tending, user_id, self.indexed_from)
        await self._tend(planned)
        if planned.made:  # meanwhile the vectors may have gone
            await self._drop_stale_indexes(user_id)

    async def _drop_stale_indexes(self, user_id: UserId) -> None:
        """Only drop what has no use any more: an erase does not wait until an index is made."""
        planned = await self._read(_plan_tending, user_id, self.indexed_from)
        await self._tend(planned._replace(made=()))

    async def _tend(self, planned: Tending) -> None:
        if planned.dropped or planned.made:
            await asyncio.to_thread(tend, self._url, planned, self.indexing_limits)

    async def count_vectors(self, user_id: UserId) -> dict[Space, int]:
        """See the port."""
        return await self._read(_count_vectors, user_id)

    async def drop_vectors(self, user_id: UserId, *, keep: Space | None = None, limit_count: int | None = None) -> int:
        """See the port."""
        dropped_count = await self._write(_drop_vectors, user_id, keep, limit_count)
        if dropped_count:
            await self._drop_stale_indexes(user_id)
        return dropped_count


def _has_tables(database: Database) -> bool:
    return bool((database.row("has_vectors") or (False,))[0])


def _plan_tending(database: Database, user_id: UserId, indexed_from: int) -> Tending:
    user_key = find_user_key(database, user_id)
    if user_key is None or not _has_tables(database):
        return Tending()
    return plan_tending(database, user_key, indexed_from=indexed_from)


def _read_open_writes(database: Database) -> OpenWrites:
    [(ended_before, next_)] = cast("list[tuple[int, int]]", database.rows("read_open_writes"))
    return OpenWrites(ended_before, next_)


def _count_vectors(database: Database, user_id: UserId) -> dict[Space, int]:
    return vectors.count_vectors(database, user_id) if _has_tables(database) else {}


def _drop_vectors(database: Database, user_id: UserId, keep: Space | None, limit_count: int | None) -> int:
    return vectors.drop_vectors(database, user_id, keep, limit_count) if _has_tables(database) else 0


def _make_tables(database: Database) -> None:
    """Make the tables of vectors where they are missing, one process at a time.

    Raises:
        InvalidInputError: the server has no pgvector, or the role may not create it.
    """
    if _has_tables(database):
        return
    text = (files("everfold.adapters.postgres") / "vectors.sql").read_text("utf-8")
    connection = database.connection
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING_KEY,))
            if not _has_tables(database):
                connection.execute(text)
    except errors.FeatureNotSupported as error:
        raise InvalidInputError(
            f"the server of {database.path} has no pgvector; install it there, or remove embed.model from the settings",
            path=database.path,
        ) from error
    except errors.InsufficientPrivilege as error:
        raise InvalidInputError(
            f"{database.path}: this role cannot create the vector tables; run CREATE EXTENSION vector as a superuser "
            "and open the store once as the owner",
            path=database.path,
        ) from error
