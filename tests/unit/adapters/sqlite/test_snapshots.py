"""Reads are bounded in time, and a log that grew behind a reader is cut again."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from everfold.adapters.sqlite import connection
from everfold.adapters.sqlite.connection import Database, open_database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.errors import StoreUnavailableError

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def _read_endlessly(database: Database) -> None:
    database.connection.execute(ENDLESS).fetchall()


@pytest.mark.parametrize("kind", ["_read", "_read_at_once", "_seek"])
async def test_a_read_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A read without an end is ended with an error that may be tried again, lets go of its snapshot, and the next one works."""
    monkeypatch.setattr(connection, "READ_SECS", 0.05)
    store = await SqliteStore.open(str(tmp_path / "everfold.db"))
    with pytest.raises(StoreUnavailableError, match="too long") as caught:
        await getattr(store, kind)(_read_endlessly)
    assert caught.value.retryable
    assert not store._reader.database.connection.in_transaction
    monkeypatch.setattr(connection, "READ_SECS", 30.0)
    assert await store.list_users(after=None, limit_count=9) is not None
    assert await store.finish_erasing()
    await store.close()


async def test_a_write_is_not_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short reads are to be, what writes is never ended half-way."""
    monkeypatch.setattr(connection, "READ_SECS", 0.0)
    store = await SqliteStore.open(str(tmp_path / "everfold.db"))
    long = ENDLESS.replace("FROM n)", "FROM n LIMIT 200000)")
    assert await store._write(lambda database: database.connection.execute(long).fetchall()) == [(200_000,)]
    await store.close()


def test_a_log_that_grew_behind_a_reader_is_cut_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a reader has let go, the log is written back, and its file is no longer than the bound."""
    monkeypatch.setattr(connection, "MOST_LOG_BYTES", 200_000)
    path, log = tmp_path / "everfold.db", tmp_path / "everfold.db-wal"
    database = open_database(str(path))
    with closing(apsw.Connection(str(path))) as reader:
        reader.execute("BEGIN; SELECT count(*) FROM users").fetchall()
        database.connection.execute("CREATE TABLE filling (content)")
        for _ in range(20):
            database.connection.execute("INSERT INTO filling VALUES (zeroblob(100000))")
        assert log.stat().st_size > 2_000_000
        reader.execute("COMMIT")
    database.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    database.connection.execute("INSERT INTO filling VALUES (1)")
    assert log.stat().st_size <= 200_000
    database.close()
