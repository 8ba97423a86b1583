"""Indexes of near vectors: one for each user who has so many vectors that reading them all takes too long.

A partial index has the vectors of one user and one space alone. An index of all users' vectors would be filtered by the
user after the search, and finds little of a user who has few. It is made and dropped beside the work of others, on a
connection of its own, by one process at a time.

Source: docs/adr/0022-vectors.md; the documentation of pgvector, "Filtering" and "HNSW", and of PostgreSQL, `CREATE INDEX
CONCURRENTLY`, which leaves an invalid index behind where it fails.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, cast

import psycopg
from psycopg import sql

from everfold.adapters.postgres.connection import Connection, Database
from everfold.adapters.postgres.connections import add_options, add_parameters

INDEXED_FROM: Final = 20_000
"""How many vectors of one space a user has before they get an index. Source: the prototype's measurement, an exact scan of so
many vectors of 384 numbers takes 11 ms."""
MOST_DIMENSIONS: Final = 4_000
"""What an index of halved floats takes. Source: pgvector's documentation, "HNSW"."""
LEAST_VERSION: Final = (0, 8)
"""The first pgvector that goes on searching where a condition leaves too few. Source: its changelog."""
INDEXING_KEY: Final = 1163282501
"""The advisory lock under which these indexes are made and dropped; `lock_user` of `sql/sessions.sql` has the number before."""


class Limits(NamedTuple):
    """How long the making of one index may take, in milliseconds.

    Attributes:
        lock_timeout_ms: How long each transaction of others is waited for. A statement of ours ends long before; a backup
            may take hours, and then the making begins again with the user's next vectors. Source: own choice.
        statement_timeout_ms: How long all of it may take. Source: measured with 64 MB of `maintenance_work_mem`, 100,000
            vectors of 384 numbers in 55 s, each beyond the first 50,000 in 0.9 ms; a million, which are as many as
            docs/adr/0022 plans for one user, take a quarter of it.
    """

    lock_timeout_ms: int = 300_000
    statement_timeout_ms: int = 3_600_000


class NearIndex(NamedTuple):
    """An index to make: of a user and a space, over vectors of so many numbers, on the table that holds the user's rows."""

    user_key: int
    space_key: int
    dimensions: int
    table: str

    @property
    def name(self) -> str:
        """Its name, by which a search finds it."""
        return f"vectors_near_{self.user_key}_{self.space_key}"


class Tending(NamedTuple):
    """What is to be done: names to drop first, then indexes to make."""

    dropped: tuple[str, ...] = ()
    made: tuple[NearIndex, ...] = ()


def plan_tending(database: Database, user_key: int, *, indexed_from: int) -> Tending:
    """What a user's vectors ask for: an index from so many on, and none below half of that. O(that number)."""
    found = database.rows("list_near_indexes", user_key=user_key)
    counted = database.rows("count_indexable", user_key=user_key, most_count=indexed_from)
    counts = {cast("int", space_key): cast("int", count) for space_key, _, count, _ in counted}
    kept = {
        cast("int", space_key)
        for _, space_key, is_valid in found
        if is_valid and counts.get(cast("int", space_key), 0) >= indexed_from / 2
    }
    dropped = (cast("str", name) for name, space_key, _ in found if space_key not in kept)
    made = (
        NearIndex(user_key, *cast("tuple[int, int, str]", (space_key, dimensions, table)))
        for space_key, dimensions, count, table in counted
        if cast("int", count) >= indexed_from and cast("int", dimensions) <= MOST_DIMENSIONS and space_key not in kept
    )
    return Tending(tuple(dropped), tuple(made)) if _can_index(database) else Tending()


def _can_index(database: Database) -> bool:
    [(version, is_owner)] = database.rows("read_index_rights")
    numbers = tuple(int(part) for part in cast("str", version).split(".")[:2])
    return bool(is_owner) and numbers >= LEAST_VERSION


def tend(url: str, planned: Tending, limits: Limits) -> None:
    """Do what was planned, as far as the server does it in time; nothing where another process is at it.

    An index that the server did not finish is not used, and is dropped and made again the next time. To drop one has the
    time of every other statement; to make one may take minutes.
    """
    with (
        suppress(psycopg.Error),
        psycopg.connect(add_parameters(url), autocommit=True, options=add_options(url)) as connection,
        _trying_alone(connection) as is_ours,
    ):
        if not is_ours:
            return
        for name in planned.dropped:
            connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))
        for setting, limit_ms in limits._asdict().items():
            connection.execute(sql.SQL("SET {} = {}").format(sql.Identifier(setting.removesuffix("_ms")), limit_ms))
        for index in planned.made:
            _make(connection, index)


@contextmanager
def _trying_alone(connection: Connection) -> Iterator[bool]:
    """Whether the lock is this connection's, which gives it back: the server notices the end of a connection only later."""
    [(is_ours,)] = connection.execute("SELECT pg_try_advisory_lock(%s)", (INDEXING_KEY,)).fetchall()
    try:
        yield is_ours
    finally:
        if is_ours:
            connection.execute("SELECT pg_advisory_unlock(%s)", (INDEXING_KEY,))


def _make(connection: Connection, index: NearIndex) -> None:
    values = {
        "name": sql.Identifier(index.name),
        "table": sql.SQL(index.table),  # as the server spells it
        "dimensions": sql.Literal(index.dimensions),
        "user_key": sql.Literal(index.user_key),
        "space_key": sql.Literal(index.space_key),
    }
    text = sql.SQL(
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} "
        "USING hnsw ((CAST(half AS HALFVEC({dimensions}))) halfvec_cosine_ops) "
        "WHERE user_key = {user_key} AND space_key = {space_key}"
    )
    connection.execute(text.format(**values))
