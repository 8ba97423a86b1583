"""What the processes over one PostgreSQL tell each other: rows of a table, and a notification that there are some.

Theory of operation. A row has the id of the transaction that wrote it. A reader goes on from the last row that it read, in
the order of transactions, and reads only up to the oldest that is still open: nothing can come in behind it. A process
tells at most some times a second, in one transaction; none of this is part of a turn. A reader that misses a notification,
as behind a pool that passes none on, looks by itself.

Source: PostgreSQL's documentation of LISTEN, NOTIFY and `pg_snapshot_xmin`.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar, cast
from uuid import uuid4

import psycopg

from everfold.adapters.postgres.connection import Database, translated
from everfold.adapters.postgres.connections import add_options, add_parameters, hide
from everfold.adapters.postgres.repeating import commit, repeat
from everfold.adapters.sql.database import Bound
from everfold.errors import ConflictError, StoreError
from everfold.ports.replicas import SharedSettings

T = TypeVar("T")

KEPT_SECS: Final = 300.0
"""How long a row is kept: a reader that was cut off for longer has missed something. A row that a long transaction elsewhere on
the server has held back is kept for `FORGET_SECS` at least after it could be read. Source: own choice."""

FORGET_SECS: Final = 60.0
"""How often a process deletes old rows."""

LOOK_SECS: Final = 0.25
"""How long a reader waits for a notification before it looks by itself: a transaction that was open at one may end after it."""

PAGE_COUNT: Final = 1_000


class PostgresReplicas:
    """See `everfold.ports.replicas.Replicas`. Two connections of its own, each made anew where it was lost."""

    def __init__(self, url: str) -> None:
        self._path = hide(url)
        self._name = uuid4().hex
        self._writing = _Line(url, self._path)
        self._reading = _Line(url, self._path, channel="everfold_told")
        self._place: tuple[int, int] | None = None
        self._forgot_at = 0.0
        self._settled: int | None = None

    async def tell(self, contents: Sequence[bytes]) -> None:
        """See the port."""

        def write(database: Database) -> None:
            if time.monotonic() - self._forgot_at > FORGET_SECS:
                self._forget(database)
                self._forgot_at = time.monotonic()
            database.run_each("tell_others", [(self._name, content) for content in contents])
            database.rows("wake_others")

        await self._writing.call(lambda database: commit(database, write))

    def _forget(self, database: Database) -> None:
        """Delete old rows; none that could not be read when it was looked at the last time."""
        if self._settled is not None:
            database.run("forget_told", kept=round(KEPT_SECS * 1_000_000), settled=self._settled)
        self._settled = _find_end(database)

    async def hear(self, *, wait_secs: float) -> list[bytes]:
        """See the port. The first call begins with what is told from now on; one that closing overtakes gives nothing."""
        was_open = not self._reading.is_closing
        try:
            return await self._reading.call(lambda database: self._read(database, wait_secs))
        except StoreError:
            if was_open and self._reading.is_closing:
                return []
            raise

    def _read(self, database: Database, wait_secs: float) -> list[bytes]:
        if self._place is None:
            self._place = (_find_end(database), 0)
        ends_at = time.monotonic() + wait_secs
        while not (rows := self._read_page(database)) and (left := ends_at - time.monotonic()) > 0:
            if self._reading.is_closing:
                break
            list(database.connection.notifies(timeout=min(left, LOOK_SECS), stop_after=1))
        return [content for told_by, content in rows if told_by != self._name]

    def _read_page(self, database: Database) -> list[tuple[str, bytes]]:
        xid, id_ = cast("tuple[int, int]", self._place)
        rows = cast(
            "list[tuple[int, int, str, bytes]]", database.rows("list_told", xid=xid, id=id_, limit_count=PAGE_COUNT)
        )
        if rows:
            self._place = rows[-1][:2]
        return [row[2:] for row in rows]

    async def read_settings(self) -> SharedSettings:
        """See the port."""

        def read(database: Database) -> SharedSettings:
            row = cast("tuple[int, bytes] | None", database.row("read_shared_settings"))
            return SharedSettings() if row is None else SharedSettings(version=row[0], content=row[1])

        return await self._writing.call(read)

    async def write_settings(self, content: bytes, *, expected_version: int) -> None:
        """See the port."""
        name = "replace_shared_settings" if expected_version else "write_shared_settings"

        proof: Bound = ("find_written_settings", {"version": expected_version + 1, "content": content})

        def write(database: Database) -> int:
            database.prove_by(proof)
            return database.run(name, content=content, expected_version=expected_version)

        if not await self._writing.call(lambda database: commit(database, write)):
            raise ConflictError(
                f"the settings of {self._path} are no longer at version {expected_version}: another server changed them; "
                "read them again"
            )

    async def close(self) -> None:
        """See the port. A call of `hear` that waits ends at its next look."""
        await asyncio.gather(self._writing.close(), self._reading.close())


def _find_end(database: Database) -> int:
    """The transaction before which all have ended."""
    return cast("int", (database.row("find_told_end") or (0,))[0])


class _Line:
    """One connection with a thread of its own, made anew where it was lost.

    Attributes:
        is_closing: Nothing is tried again.
    """

    def __init__(self, url: str, path: str, *, channel: str | None = None) -> None:
        self.is_closing = False
        self._url = url
        self._path = path
        self._channel = channel
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="everfold-replicas")
        self._database: Database | None = None

    async def call(self, work: Callable[[Database], T]) -> T:
        """What a piece of work gives. Repeated as one of the store is; see `repeat`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    def _do(self, work: Callable[[Database], T]) -> T:
        try:
            with translated(self._path):
                return repeat(self._take, work, path=self._path)
        except BaseException:
            self._drop()
            raise

    @contextmanager
    def _take(self) -> Iterator[Database]:
        if self.is_closing:
            raise StoreError(f"{self._path} was closed; open it again", path=self._path)
        if self._database is None or self._database.is_lost:
            with translated(self._path):
                self._database = self._open()
        yield self._database

    def _open(self) -> Database:
        connection = psycopg.connect(add_parameters(self._url), autocommit=True, options=add_options(self._url))
        database = Database(connection, self._path)
        database.server_life = database.read_server_life()
        if self._channel is not None:
            connection.execute(f"LISTEN {self._channel}")
        return database

    def _drop(self) -> None:
        if self._database is not None:
            self._database.connection.close()
        self._database = None

    async def close(self) -> None:
        self.is_closing = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown(wait=False)
