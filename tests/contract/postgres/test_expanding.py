"""A server of the release before works on the schema of the next one, which only adds."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.postgres import clear
from tests.support.waiting import until

import everfold
from everfold.adapters.postgres import migrating
from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.store import PostgresStore
from everfold.adapters.sql.queries import load_migrations
from everfold.errors import SchemaError, StoreUnavailableError
from everfold.testing.contract.compaction import CompactionContract
from everfold.testing.contract.log import LogContract
from everfold.testing.contract.memory import ItemContract
from everfold.testing.contract.sessions import SessionContract
from everfold.testing.kit.builders import append_wires, open_session, talk, user

NEXT = (
    "9000_next.sql",
    """-- expand
    ALTER TABLE messages ADD COLUMN mood TEXT, ADD COLUMN weight BIGINT NOT NULL DEFAULT 1;
    ALTER TABLE sessions ADD COLUMN mood TEXT;
    ALTER TABLE items ADD COLUMN mood TEXT;
    CREATE TABLE moods (user_key BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (user_key, name));
    CREATE INDEX messages_mood ON messages (user_key, mood) WHERE mood IS NOT NULL;
    """,
)
ADDED = ("9000_added.sql", "-- expand\nALTER TABLE messages ADD COLUMN mood TEXT;")
FREE = ("9000_free.sql", "-- expand\nCREATE TABLE moods (name TEXT PRIMARY KEY);")
AFTER = ("9001_after.sql", "ALTER TABLE messages DROP COLUMN mood;")


def migrate_to(url: str, *later: tuple[str, str]) -> None:
    """Migrate a database as a release does that has more migrations than this one."""
    with pytest.MonkeyPatch.context() as patch, psycopg.connect(url, autocommit=True) as connection:
        patch.setattr(migrating, "load_migrations", lambda dialect: (*load_migrations(dialect), *later))
        migrating.migrate(Database(connection, "next"))


@pytest.fixture(scope="module")
def next_url(server_url: str) -> str:
    """The url of a database that the next release has migrated."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE next_release")
    url = make_conninfo(server_url, dbname="next_release")
    migrate_to(url, NEXT)
    return url


@pytest.fixture
async def store(next_url: str) -> AsyncIterator[PostgresStore]:
    """A store of this release over that database, emptied."""
    clear(next_url)
    opened = await PostgresStore.open(next_url)
    yield opened
    await opened.close()


class TestExpanded(SessionContract, LogContract):
    """Runs the contract of what a turn does over the schema of the next release: its sessions and their logs."""


@pytest.mark.slow
class TestExpandedWork(CompactionContract, ItemContract):
    """The same for compactions and memory."""


async def test_a_migration_behind_a_backup_stops_no_open_store(database_url: str) -> None:
    """While a migration waits for a long reader, an open store reads and appends, and the migration runs when that has ended."""
    async with everfold.open(database_url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        with ThreadPoolExecutor(1) as aside, _backing_up(database_url) as backup:
            migrated = aside.submit(migrate_to, database_url, ADDED)
            await until(lambda: _is_awaited(database_url))
            assert await session.append(user("The second one.")) == [2]
            assert len(await session.messages()) == 2
            assert not migrated.done()
            backup.rollback()
            await asyncio.to_thread(migrated.result)
        assert await session.append(user("The third one.")) == [3]


@pytest.mark.slow
async def test_a_migration_that_cannot_run_says_what_it_waits_for(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration that a long reader keeps from running ends, and names that reader's process; those before it have run."""
    monkeypatch.setattr(migrating, "WAIT_SECS", 3.0)
    await (await PostgresStore.open(database_url)).close()
    with _backing_up(database_url) as backup:
        pid = backup.info.backend_pid
        with pytest.raises(StoreUnavailableError, match=rf"9001_later.sql has waited .*\b{pid}\b"):
            migrate_to(database_url, FREE, ("9001_later.sql", ADDED[1]))
        assert backup.execute("SELECT to_regclass('moods') IS NOT NULL").fetchall() == [(True,)]


@contextmanager
def _backing_up(url: str) -> Iterator[psycopg.Connection]:
    """A transaction with the locks that pg_dump holds while it runs."""
    with psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute("LOCK TABLE messages, sessions IN ACCESS SHARE MODE")
        yield connection


def _is_awaited(url: str) -> bool:
    """Whether something waits for a table of a database."""
    with psycopg.connect(url) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'").fetchall())


async def test_an_open_store_goes_on_while_the_next_release_migrates(database_url: str) -> None:
    """A store that was open before appends and reads afterwards; what is no mere addition is refused at its opening."""
    opened = await PostgresStore.open(database_url)
    record = await open_session(opened, None, *talk(2))
    migrate_to(database_url, NEXT)
    await append_wires(opened, record.id, *talk(2, first=3))
    assert len(await opened.read_messages(record.id, range(1, 9))) == 8
    await opened.close()
    migrate_to(database_url, NEXT, AFTER)
    with pytest.raises(SchemaError, match="9001_after"):
        await PostgresStore.open(database_url)
