"""Migrations of a PostgreSQL database: forward only, one process at a time, each known by its checksum.

Theory of operation. Several servers use one database, and are not replaced at one moment. A migration that begins with the
line `-- expand` only adds what a server of the release before does not need to know: a table, an index, a column that may
be empty. Such a server goes on working, and opens the database too. What it could not work with (a column that goes, a
constraint) is a migration without that line, a release later: until then no server may need what goes.

A change of a table waits for every transaction that has read it, a backup too, and whatever comes later waits behind the
change, reads of the running servers too. So a migration gives up its place in the queue after a moment, and tries again.

Where nothing is missing, nothing is created and no lock is taken, so that a role without the right to create can open the
database.
"""

import hashlib
import time
from collections.abc import Mapping
from typing import Final, cast

from psycopg import errors

from everfold.adapters.postgres.connection import Database
from everfold.adapters.sql.queries import load_migrations
from everfold.errors import InvalidInputError, SchemaError, StoreUnavailableError

MIGRATING_KEY: Final = 0x45564644
"""The lock under which migrations run: `EVFD`."""

LEAST_VERSION: Final = 14
"""The oldest PostgreSQL that is served. Source: its versioning policy, of which it is the oldest that is kept up."""

EXPANDING: Final = "-- expand"
"""The first line of a migration that a server of the release before works with."""

LOCK_MS: Final = 2_000
"""How long a migration waits in the queue for a lock: what comes behind it waits as long, and is given up after 5 seconds. Source:
own choice; PostgreSQL's documentation of `lock_timeout`."""

PAUSE_SECS: Final = 2.0
"""Between two tries, so that what has waited goes on."""

WAIT_SECS: Final = 60.0
"""How long it is tried. Source: own choice; a transaction of a server ends by then, and what takes longer is told."""

_HOLDERS: Final = """
SELECT DISTINCT pid FROM pg_locks
WHERE granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid()
ORDER BY pid LIMIT 5
"""

_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL)",
    "ALTER TABLE migrations ADD COLUMN IF NOT EXISTS expands BOOLEAN NOT NULL DEFAULT false",
)


def migrate(database: Database) -> None:
    """Bring a database to the current schema.

    Raises:
        SchemaError: a newer Everfold wrote it and this one cannot work with it, or a migration was changed after it ran.
        InvalidInputError: its encoding is not UTF-8, or the server is too old.
        StoreUnavailableError: another transaction holds what a migration has to change.
    """
    _check_server(database)
    known = dict(load_migrations("postgres"))
    ends_at = time.monotonic() + WAIT_SECS
    while missing := _list_missing(database, known):
        try:
            _migrate_next(database, known)
        except errors.LockNotAvailable as error:
            if time.monotonic() > ends_at:
                raise _held(database, missing[0]) from error
            time.sleep(PAUSE_SECS)


def _migrate_next(database: Database, known: Mapping[str, str]) -> None:
    """Run the first migration that is missing, if another process has not done so meanwhile.

    Raises:
        LockNotAvailable: something that it has to change is in use.
    """
    connection = database.connection
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING_KEY,))  # behind which nothing else waits
        connection.execute(f"SET LOCAL lock_timeout = {LOCK_MS}")
        for statement in _TABLE:
            connection.execute(statement)
        for name in _list_missing(database, known)[:1]:
            text = known[name]
            connection.execute(text)
            connection.execute(
                "INSERT INTO migrations (name, checksum, expands) VALUES (%s, %s, %s)",
                (name, _checksum(text), text.startswith(EXPANDING)),
            )


def _held(database: Database, name: str) -> StoreUnavailableError:
    rows = database.connection.execute(_HOLDERS).fetchall()
    pids = ", ".join(str(pid) for (pid,) in rows) or "unknown"
    return StoreUnavailableError(
        f"{database.path}: migration {name} has waited {WAIT_SECS:g} seconds for the locks of a backup or another transaction "
        f"(processes {pids}) and changed nothing; open the store again after its end",
        path=database.path,
    )


def _check_server(database: Database) -> None:
    row = database.connection.execute(
        "SELECT current_setting('server_encoding'), CAST(current_setting('server_version_num') AS INTEGER) / 10000"
    ).fetchall()[0]
    encoding, version = cast("tuple[str, int]", row)
    if encoding != "UTF8":
        raise InvalidInputError(
            f"{database.path} has the encoding {encoding}; expected UTF8: make it with ENCODING 'UTF8'",
            path=database.path,
        )
    if version < LEAST_VERSION:
        raise InvalidInputError(
            f"the server of {database.path} is PostgreSQL {version}; expected {LEAST_VERSION} or later",
            path=database.path,
        )


def _list_missing(database: Database, known: Mapping[str, str]) -> list[str]:
    """The migrations that have not run yet, in order.

    Raises:
        SchemaError: one that ran is another than the known one, or is not known and no mere addition.
    """
    done = _read_done(database)
    for name, (checksum, expands) in sorted(done.items()):
        if name not in known:
            if not expands:
                raise SchemaError(
                    f"{database.path} was written by a newer Everfold: it has the migration {name}; install the newer release",
                    path=database.path,
                )
        elif _checksum(known[name]) != checksum:
            raise SchemaError(
                f"{database.path}: migration {name} is not the one of this database (checksum {checksum[:12]}, expected "
                f"{_checksum(known[name])[:12]}); install the release that made it",
                path=database.path,
            )
    return [name for name in known if name not in done]


def _read_done(database: Database) -> dict[str, tuple[str, bool]]:
    """Checksum of each migration that ran, and whether it only expands; those of the first releases do not say."""
    connection = database.connection
    if connection.execute("SELECT to_regclass('migrations')").fetchall() == [(None,)]:
        return {}
    rows = connection.execute("SELECT name, checksum, to_jsonb(migrations) ->> 'expands' FROM migrations").fetchall()
    return {name: (checksum, expands == "true") for name, checksum, expands in rows}


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
