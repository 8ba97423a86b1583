"""The threads of a store over PostgreSQL: each piece of work takes a connection of the pool on one of them."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from everfold.adapters.postgres.connection import OPTIONS, Connection, Database, reading, translated
from everfold.adapters.postgres.migrating import migrate
from everfold.adapters.postgres.repeating import REPEAT_SECS, commit, repeat
from everfold.adapters.sql.connections import Connections
from everfold.adapters.sql.places import Places
from everfold.errors import InvalidInputError, StoreUnavailableError
from everfold.ports.writing import find_watched

P = ParamSpec("P")
T = TypeVar("T")

MOST_CONNECTIONS = 8
"""How many connections one process has at most. Source: own choice; 12 processes within PostgreSQL's default of 100."""

CONNECT_SECS = 5.0
"""How long one connection may take to be made. Source: docs/adr/0002; as long as a person waits before they ask."""

DEAD_SECS = 5
"""How long what was sent may stay without an acknowledgement before a connection is given up for lost: half of the time for
which a piece of work is tried, so that it is done on another one. Source: the manual page tcp(7), `TCP_USER_TIMEOUT`."""

DEADLINES: Mapping[str, int] = {
    "connect_timeout": int(CONNECT_SECS),
    "tcp_user_timeout": DEAD_SECS * 1_000,
    "keepalives_idle": DEAD_SECS,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
"""When a connection is given up that says nothing any more: a host that lost its power, a firewall that forgot it. What waits for
an answer has nothing to be acknowledged, and is kept alive by questions that the host itself answers, however long the server
takes. Source: PostgreSQL's documentation of these parameters, which wait for hours unless they are set."""

TAKE_SECS = 1.0
"""How long a connection is waited for before a new one is asked for, which is done for `REPEAT_SECS`. The pool doubles
its pause after each vain try; with a `reconnect_timeout` of half as long it gives up, and tries again at the next call, so that
a server is found within a second of its return. Source: psycopg-pool's documentation of `reconnect_timeout`."""


class PostgresConnections(Connections):
    """A database that is open for writing and for reading."""

    def __init__(self, url: str) -> None:
        self.path = hide(url)
        self.is_closed = False
        self._process_id = os.getpid()
        self._drained_at = 0.0
        self._databases: WeakKeyDictionary[Connection, Database] = WeakKeyDictionary()
        self._pool = ConnectionPool(
            add_parameters(url),
            kwargs={"autocommit": True, "options": add_options(url)},
            min_size=1,
            max_size=MOST_CONNECTIONS,
            timeout=TAKE_SECS,
            reconnect_timeout=TAKE_SECS / 2,
            configure=self._configure,
            open=False,
        )
        self._threads = ThreadPoolExecutor(MOST_CONNECTIONS, thread_name_prefix="everfold-postgres")
        try:
            with translated(self.path):
                with psycopg.connect(add_parameters(url), autocommit=True) as connection:
                    migrate(Database(connection, self.path))
                self._pool.open()
        except BaseException:
            self._shut()
            raise

    def _configure(self, connection: Connection) -> None:
        database = self._databases[connection] = Database(connection, self.path)
        database.server_life = database.read_server_life()

    def _shut(self) -> None:
        if os.getpid() != self._process_id:
            return
        self._pool.close()
        self._threads.shutdown()

    async def _call(self, work: Callable[[Database], T]) -> T:
        """What a piece of work gives on a connection of its own.

        Raises:
            StoreUnavailableError: the store was closed, or belongs to another process, or has no connection.
        """
        if os.getpid() != self._process_id:  # both would speak on the same sockets
            raise StoreUnavailableError(
                f"{self.path} was opened before this process was forked; open it again in this one", path=self.path
            )
        if self.is_closed:
            raise StoreUnavailableError(f"{self.path} was closed; open it again", path=self.path)

        def run() -> T:
            with translated(self.path):
                return repeat(self._take, work, path=self.path)

        return await asyncio.get_running_loop().run_in_executor(self._threads, run)

    @contextmanager
    def _take(self) -> Iterator[Database]:
        """A connection of the pool, which replaces it if it was lost.

        The others that were open by then may be lost too, and each would be noticed as late: all of them are replaced.
        """
        try:
            taken = self._pool.getconn()
        except PoolTimeout as error:
            text = f"{self.path}: no connection within {REPEAT_SECS:g} seconds; is the server running?"
            raise StoreUnavailableError(text, path=self.path) from error
        database = self._databases[taken]
        try:
            yield database
        finally:
            self._pool.putconn(taken)
            if database.is_lost and database.opened_at > self._drained_at and not self._pool.closed:
                self._drained_at = time.monotonic()
                self._pool.drain()

    async def _write(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        written = find_watched()

        def write(database: Database) -> T:
            done = work(database, *arguments, **options)
            if written is not None:
                written.commits_count += 1  # from here on it may be stored
            return done

        return await self._call(lambda database: commit(database, write))

    async def _write_placed(
        self, work: Callable[Concatenate[Database, Places, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        def run(database: Database) -> T:
            return work(database, database.places, *arguments, **options)

        return await self._write(run)

    async def _read(self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs) -> T:
        def run(database: Database) -> T:
            with reading(self.path):
                return work(database, *arguments, **options)

        return await self._call(run)

    async def _read_placed(
        self, work: Callable[Concatenate[Database, Places, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        def run(database: Database) -> T:
            return work(database, database.places, *arguments, **options)

        return await self._read(run)

    async def _read_at_once(
        self, work: Callable[Concatenate[Database, P], T], /, *arguments: P.args, **options: P.kwargs
    ) -> T:
        def look(database: Database) -> T:
            with database.snapshot():
                return work(database, *arguments, **options)

        return await self._read(look)

    async def _empty_log(self) -> None:
        """Nothing: the server's write-ahead files are not a client's to empty."""


def add_options(url: str) -> str:
    """What the url asks of the server, and our time limits before it, so that the url wins."""
    given = _read(url).get("options")
    return f"{OPTIONS} {given}" if given else OPTIONS


def add_parameters(url: str) -> str:
    """How to connect to a url: with our `DEADLINES` for what it does not set, and in UTF-8, which has every character."""
    given = _read(url)
    deadlines = {name: value for name, value in DEADLINES.items() if name not in given}
    return make_conninfo(url, **deadlines, client_encoding="UTF8")


def _read(url: str) -> Mapping[str, object]:
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise InvalidInputError(
            f"the store url {hide(url)} cannot be read; expected postgresql://user@host/name"
        ) from error


def hide(url: str) -> str:
    """The database's name and host, without what is secret in a url."""
    rest = url.partition("://")[2].partition("?")[0]
    return f"postgresql://{rest.rpartition('@')[2]}"
