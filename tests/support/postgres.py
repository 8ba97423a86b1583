"""A PostgreSQL of the tests' own."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.migrating import migrate
from everfold.testing import running_postgres

ON_DISK = "/var/tmp"
"""Where files are kept that outlive a restart of the machine: on a disk, unlike the tests' other files."""


@contextmanager
def serving(*, waits: bool = False) -> Iterator[str]:
    """The url of a PostgreSQL of this process alone: in memory where there is a place for that, without waiting for disks.

    Args:
        waits: It is on a disk, and a commit waits until it is written, as a server of users does.
    """
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    settings = {} if waits else dict.fromkeys(("fsync", "full_page_writes", "synchronous_commit"), "off")
    with running_postgres(folder=ON_DISK if waits else in_memory, settings=settings) as server:
        yield server.url


def make_template(url: str) -> None:
    """Migrate an empty database, and keep a copy of it for `renew_database`."""
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(Database(connection, "template"))
    with _minding(url) as connection:
        connection.execute("CREATE DATABASE made TEMPLATE postgres")


def renew_database(url: str) -> None:
    """Put a copy of the template into the place of a database: empty, and with every migration behind it."""
    with _minding(url) as connection:
        connection.execute("DROP DATABASE postgres WITH (FORCE)")
        connection.execute("CREATE DATABASE postgres TEMPLATE made STRATEGY FILE_COPY")


@contextmanager
def durable(url: str) -> Iterator[None]:
    """Within it a database has what it acknowledged also after a crash of its server."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE postgres SET synchronous_commit = on")
    yield
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER DATABASE postgres RESET synchronous_commit")


def crash(url: str) -> None:
    """Kill the process of one connection, after which the whole server begins again from its log; back when it serves.

    It may serve others until it has noticed: that it has begun again is told by its statistics, which begin anew.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        begun = connection.execute(_BEGUN).fetchall()
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.OperationalError):
            while True:
                connection.execute("SELECT pg_sleep(0.01)")
    while True:
        with suppress(psycopg.OperationalError), psycopg.connect(url) as connection:
            if connection.execute(_BEGUN).fetchall() != begun:
                return
        time.sleep(0.05)


_BEGUN: Final = "SELECT stats_reset FROM pg_stat_bgwriter"


@contextmanager
def _minding(url: str) -> Iterator[psycopg.Connection]:
    """A connection to the server of a database beside that one."""
    with psycopg.connect(make_conninfo(url, dbname="template1"), autocommit=True) as connection:
        yield connection


def empty_database(url: str) -> None:
    """Drop everything in a database, its tables too."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public, everfold_jobs CASCADE")
        connection.execute("CREATE SCHEMA public")


LOOKED_UP = frozenset(
    {
        "users",
        "user_bindings",
        "agents",
        "session_owners",
        "erased_sessions",
        "api_keys",
        "known_requests",
        "migrations",
        "told",
        "shared_settings",
        "activity_days",
        "vector_spaces",
    }
)
"""Tables without an owner in their uniques: what a name or an id that comes alone is looked up in, and what is of no user."""

PARTS_COUNT = 3


def partition(url: str) -> None:
    """Partition every table that carries an owner by a hash of it, with its constraints, foreign keys and triggers as they are."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = [name for name in _list_names(connection) if name not in LOOKED_UP]
        keys = _list_definitions(connection, "pg_constraint", "contype = 'f'")
        triggers = _list_definitions(connection, "pg_trigger", "NOT tgisinternal")
        for table in tables:
            owner = "user_id" if table == "model_calls" else "user_key"
            connection.execute(f"ALTER TABLE {table} RENAME TO whole")
            connection.execute(f"CREATE TABLE {table} (LIKE whole INCLUDING ALL) PARTITION BY HASH ({owner})")
            for number in range(PARTS_COUNT):
                connection.execute(
                    f"CREATE TABLE {table}_{number} PARTITION OF {table} "
                    f"FOR VALUES WITH (MODULUS {PARTS_COUNT}, REMAINDER {number})"
                )
            connection.execute("DROP TABLE whole CASCADE")
        for table, definition in keys:
            if table in tables:
                connection.execute(f"ALTER TABLE {table} ADD {definition}")
        for table, definition in triggers:
            if table in tables:
                connection.execute(definition)


def clear(url: str) -> None:
    """Delete every row of a database but those of its migrations. To truncate the tables would take four times as long."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = [name for name in _list_names(connection) if name != "migrations"]
        deleting = "; ".join(f"DELETE FROM {name}" for name in tables)
        connection.execute(f"SET session_replication_role = replica; {deleting}")
        connection.execute("SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'")


def _list_names(connection: psycopg.Connection) -> list[str]:
    found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    return [name for (name,) in found]


def _list_definitions(connection: psycopg.Connection, catalog: str, only: str) -> list[tuple[str, str]]:
    """The tables of public and what of a catalog is theirs, as statements make it."""
    at, write = {"pg_constraint": ("conrelid", "pg_get_constraintdef"), "pg_trigger": ("tgrelid", "pg_get_triggerdef")}[
        catalog
    ]
    return connection.execute(
        f"SELECT relname, {write}(one.oid) FROM {catalog} AS one JOIN pg_class ON pg_class.oid = {at} "
        f"WHERE relnamespace = CAST('public' AS REGNAMESPACE) AND {only} ORDER BY relname, one.oid"
    ).fetchall()
