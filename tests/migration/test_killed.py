"""A process that is killed within an upgrade leaves each migration whole or undone, and the next one goes on."""

import gzip
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from tests.forks import Forks

import everfold
from everfold.adapters.sql.queries import load_migrations
from everfold.adapters.sqlite import connection
from everfold.adapters.sqlite.connection import APPLICATION_ID, split_statements

KILLED: Final = """
import os, signal, sys
import apsw
from everfold.adapters.sqlite import connection

left = int(sys.argv[2])

class Dying(apsw.Connection):
    def execute(self, statement, *rest):
        step()
        result = super().execute(statement, *rest)
        step()
        return result

def step():
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

connection.apsw.Connection = Dying
connection.open_database(sys.argv[1]).close()
print(int(sys.argv[2]) - left)
"""
"""Opens a database, and dies before or after the statement with this number."""

MOST_STEPS: Final = 1_000
NEAR: Final = 8


def make_first(path: Path) -> None:
    """A database with the first migration alone, and a user in it."""
    (name, text), *_ = load_migrations("sqlite")
    with closing(apsw.Connection(str(path))) as database:
        database.pragma("application_id", APPLICATION_ID)
        database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL) WITHOUT ROWID")
        for statement in split_statements(text):
            database.execute(statement)
        database.execute("INSERT INTO migrations VALUES (?, ?)", (name, connection._checksum(text)))
        database.execute("INSERT INTO users (key, id, epoch) VALUES (1, 'ada', 3)")


def read(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The migrations that are recorded, and the schema."""
    with closing(apsw.Connection(str(path))) as database:
        assert list(database.execute("PRAGMA integrity_check")) == [("ok",)]
        done = tuple(str(name) for (name,) in database.execute("SELECT name FROM migrations ORDER BY name"))
        rows = database.execute("SELECT name || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name, sql")
        return done, tuple(str(text) for (text,) in rows)


def list_states(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The schema after each migration, one more each time, as an undisturbed upgrade of a file makes it."""
    states = dict([read(path)])
    everything = load_migrations("sqlite")
    done = len(next(iter(states)))
    for count in range(done + 1, len(everything) + 1):
        monkeypatch.setattr(connection, "load_migrations", lambda _, count=count: everything[:count])
        connection.open_database(str(path)).close()
        states.update([read(path)])
    monkeypatch.undo()
    return states


def list_places(steps_count: int, most_count: int) -> Iterator[int]:
    """So many of the steps, spread over all of them."""
    yield from range(0, steps_count, max(1, steps_count // most_count))


@pytest.fixture(params=["first", "former"])
def old(request: pytest.FixtureRequest, project: Path, tmp_path: Path) -> bytes:
    """A database of the first release's schema, or a real one of the release before."""
    path = tmp_path / "old.db"
    if request.param == "first":
        make_first(path)
        return path.read_bytes()
    return gzip.decompress((project / "tests" / "data" / "databases" / "0014.db.gz").read_bytes())


def check_kills(forks: Forks, tmp_path: Path, old: bytes, monkeypatch: pytest.MonkeyPatch, most_count: int) -> None:
    """Kill an upgrade at so many of its steps, and look at what is there then and after the next start."""
    whole = tmp_path / "whole.db"
    whole.write_bytes(old)
    states = list_states(whole, monkeypatch)
    counted = tmp_path / "counted.db"
    counted.write_bytes(old)
    steps_count = int(forks.run(KILLED, str(counted), str(MOST_STEPS)).stdout)
    assert 10 < steps_count < MOST_STEPS
    seen = set()
    for left in list_places(steps_count, most_count):
        path = tmp_path / f"killed{left}.db"
        path.write_bytes(old)
        done = forks.run(KILLED, str(path), str(left))
        assert done.returncode == -signal.SIGKILL, done.stderr
        migrations, schema = read(path)
        assert schema == states[migrations], left
        seen.add(migrations)
        connection.open_database(str(path)).close()
        assert read(path) == list(states.items())[-1], left
        for file in tmp_path.glob(f"{path.name}*"):
            file.unlink()
    assert len(seen) > 1 or most_count == NEAR


def test_a_killed_upgrade_goes_on(forks: Forks, tmp_path: Path, old: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at any of some statements, each migration is done with its record or not at all; then the rest is done."""
    check_kills(forks, tmp_path, old, monkeypatch, NEAR)


@pytest.mark.slow
def test_an_upgrade_goes_on_from_every_kill(
    forks: Forks, tmp_path: Path, old: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same before and after every single statement of the upgrade."""
    check_kills(forks, tmp_path, old, monkeypatch, MOST_STEPS)


@pytest.mark.anyio
async def test_what_a_killed_upgrade_left_is_served(forks: Forks, project: Path, tmp_path: Path) -> None:
    """A real database whose upgrade was killed in its middle opens, and every session of it verifies."""
    packed = project / "tests" / "data" / "databases" / "0014.db.gz"
    path = tmp_path / "former.db"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    assert forks.run(KILLED, str(path), "24").returncode == -signal.SIGKILL
    settings: dict[str, dict[str, Any]] = {"memory": {"system": "structured"}}
    async with everfold.open(f"sqlite:///{path}", settings=settings) as engine:
        assert await engine.admin.check_store() == []
        records = await engine.list_sessions()
        assert records
        for record in records:
            assert (await (await engine.session(id=record.id)).verify()).is_sound
