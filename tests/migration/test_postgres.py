"""Migrations of PostgreSQL: a database of the first schema comes to the present one with every row."""

import gzip
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.sizes import every

import everfold
from everfold.adapters.sql.copy_store import copy_store
from everfold.adapters.sql.queries import load_migrations
from everfold.bootstrap import open_store

SETTINGS: dict[str, Any] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": False},
    "recall": {"enabled": False},
}
COLUMNS = """
SELECT table_name, string_agg(column_name, ', ')
FROM information_schema.columns
WHERE table_schema = 'public' AND table_name <> 'migrations'
GROUP BY table_name
"""
KEYED = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES'"


async def fill(project: Path, tmp_path: Path, url: str) -> None:
    """Copy the conversations of a former release's file into a database."""
    packed = project / "tests" / "data" / "databases" / "0014.db.gz"
    (tmp_path / "former.db").write_bytes(gzip.decompress(packed.read_bytes()))
    source, target = await open_store(f"sqlite:///{tmp_path / 'former.db'}"), await open_store(url)
    await copy_store(source, target, lambda *_: None)  # type: ignore[arg-type]  # both are SQL
    await source.close()
    await target.close()


def take_back(url: str, count: int) -> None:
    """Put the rows of a database into the schema that the first migrations make, as a release of then would have them."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SCHEMA public RENAME TO filled")
        connection.execute("CREATE SCHEMA public")
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL)")
        for _, text in load_migrations("postgres")[:count]:
            connection.execute(text)
        connection.execute(
            f"INSERT INTO migrations (name, checksum) SELECT name, checksum FROM filled.migrations ORDER BY name LIMIT {count}"
        )
        connection.execute(
            "SET session_replication_role = replica"
        )  # else each table would wait for those it refers to
        for table, columns in connection.execute(COLUMNS).fetchall():
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM filled.{table}")
        connection.execute("SET session_replication_role = DEFAULT")
        for table, column in connection.execute(KEYED).fetchall():
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 1)) FROM {table}"
            )
        connection.execute("DROP SCHEMA filled CASCADE")


async def read_windows(url: str) -> dict[str, str]:
    """What each session renders to for both providers, and whether it is sound."""
    seen = {}
    async with everfold.open(url, settings=SETTINGS) as engine:
        for record in await engine.list_sessions(user=None):
            session = await engine.session(id=record.id)
            window = await session.window(preview=True)
            assert (await session.verify()).is_sound
            seen[record.id] = json.dumps([window.render("openai"), window.render("anthropic")])
        assert await engine.admin.check_store() == []
    return seen


@pytest.mark.anyio
@pytest.mark.parametrize("count", every(11, range(1, len(load_migrations("postgres")))))
async def test_a_former_database_upgrades(project: Path, tmp_path: Path, database_url: str, count: int) -> None:
    """A database that stopped after any migration renders every session as before, byte for byte, and takes new messages."""
    await fill(project, tmp_path, database_url)
    before = await read_windows(database_url)
    take_back(database_url, count)
    assert len(before) > 5
    assert await read_windows(database_url) == before
    async with everfold.open(database_url, settings=SETTINGS) as engine:
        for record in await engine.list_sessions(user=None):
            session = await engine.session(id=record.id)
            await session.append({"role": "user", "content": "And what is next?"})
            assert "And what is next?" in str((await session.window()).render("openai")["messages"][-1])
