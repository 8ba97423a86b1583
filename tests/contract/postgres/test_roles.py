"""Rights: an owner makes the tables, and a role with nothing but the privileges that the documentation lists does the rest."""

import re
from pathlib import Path

import psycopg
import pytest

import everfold
from everfold.errors import InvalidInputError, StoreError

SETTINGS: dict[str, dict[str, object]] = {"memory": {"system": "structured"}, "compaction": {"synchronous": True}}


@pytest.fixture
async def clerk_url(project: Path, database_url: str, server_url: str) -> str:
    """The url of the same database for a role that has what the documents grant."""
    async with everfold.open(database_url):
        pass
    page = (project / "docs" / "reference" / "database.md").read_text("utf-8")
    [grants] = re.findall(r"```sql\n(GRANT .*?)```", page, re.DOTALL)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY clerk" if _has_clerk(connection) else "CREATE ROLE clerk LOGIN")
        connection.execute(grants)
    return server_url.replace("postgres:@", "clerk:@")


def _has_clerk(connection: psycopg.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'clerk'").fetchall())


async def test_a_role_without_the_right_to_create_serves(clerk_url: str) -> None:
    """It opens the database, talks, remembers, folds, searches, erases and wipes."""
    async with everfold.open(clerk_url, settings=SETTINGS) as engine:
        session = await engine.session(user="ada", limit=4000)
        for number in range(12):
            await session.append({"role": "user", "content": f"Remember: berth {number} is free. " + "So it is. " * 40})
            await session.append({"role": "assistant", "content": "Noted. " * 60})
            await session.window()
        assert (await session.inspect.state()).compactions_count > 0
        assert await session.search("berth 3")
        await session.erase(1)
        memory = await engine.memory(user="ada")
        assert await memory.items()
        assert (await engine.wipe("ada", transcripts=True)).counts


async def test_a_role_may_not_make_what_is_missing(clerk_url: str) -> None:
    """What needs the owner is refused with what to run: a table of vectors, or a migration."""
    with pytest.raises(InvalidInputError, match="CREATE EXTENSION vector"):
        async with everfold.open(clerk_url, settings={**SETTINGS, "embed": {"model": "hash:64"}}):
            pass
    with psycopg.connect(clerk_url.replace("clerk:@", "postgres:@"), autocommit=True) as connection:
        connection.execute("DELETE FROM migrations WHERE name LIKE '0003%'")
    with pytest.raises(StoreError, match="the privileges that the documentation lists"):
        async with everfold.open(clerk_url, settings=SETTINGS):
            pass
