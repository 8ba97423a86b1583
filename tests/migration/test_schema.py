"""The schema: what all migrations make, how an old file comes to it, and what is refused."""

import hashlib
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.forks import Forks

import everfold
from everfold.adapters.sql.queries import load_migrations
from everfold.adapters.sqlite import connection
from everfold.adapters.sqlite.connection import APPLICATION_ID, split_statements
from everfold.errors import SchemaError, StoreError
from everfold.testing.kit.builders import talk

GOLDEN = Path(__file__).with_name("schema.txt")

SESSION_ROWS = """
INSERT INTO users (key, id, epoch) VALUES (1, 'ada', 3);
INSERT INTO agents (key, id) VALUES (1, 'guide');
INSERT INTO sessions (key, id, user_key, agent_key, branch_seq, started_by, created_at, is_current, lineage, settings)
VALUES (1, 'ses_old', 1, 1, 0, 'open', 0, 1, '[]', '{}');
INSERT INTO session_states (session_key, revision, state) VALUES (1, 7, x'7b7d');
INSERT INTO messages (
    id, session_key, seq, kind, origin, source, format, role, said_at, tokens, raw_tokens, sum_tokens, turn_seq,
    turns_count, is_boundary, keep, content
) VALUES (1, 1, 1, 'user', 'user', 'said', 'openai', 'user', 0, 9, 9, 9, 1, 1, 1, 0, x'7b2261223a317d');
"""
OWNED_COUNT = 25
"""From this migration on a state has its owner."""
OWNED_ROWS = SESSION_ROWS.replace(
    "session_states (session_key, revision, state) VALUES (1,",
    "session_states (user_key, session_key, revision, state) VALUES (1, 1,",
)
TABLES = {
    "users": "key, epoch",
    "agents": "*",
    "sessions": "key, id, user_key, agent_key, parent_id, branch_seq, started_by, created_at, is_current, lineage, settings",
    "session_states": "session_key, revision, state",
    "messages": "id, session_key, seq, kind, origin, source, format, role, said_at, tokens, content",
}
"""The tables of the first migration with what no migration after it changes; see `test_users` for the ids of users."""

KILLED = """
import os, signal, sys
import apsw
from everfold.adapters.sqlite import connection

left = int(sys.argv[2])

class Dying(apsw.Connection):
    def execute(self, statement, *rest):
        global left
        result = super().execute(statement, *rest)
        if str(statement).lstrip().upper().startswith(("CREATE", "INSERT", "--")):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return result

connection.apsw.Connection = Dying
connection.open_database(sys.argv[1]).close()
"""


def squeeze(sql: str) -> str:
    """SQL without what does not matter: comments, and how white space is spread."""
    plain = re.sub(r"--[^\n]*", "", sql)
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", plain)).replace(",", ", ").strip()


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """A connection of the test's own."""
    database = apsw.Connection(str(path))
    try:
        yield database
    finally:
        database.close()


def list_schema(path: Path) -> list[str]:
    """All that our migrations define, one a line, in order of kind and name; SQLite's own tables behind FTS5 left out."""
    with opened(path) as database:
        rows = list(
            database.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
        )
    own = [(kind, name, str(sql)) for kind, name, sql in rows if not re.match(r"CREATE TABLE '", str(sql))]
    return [f"{kind} {name}: {squeeze(sql)}" for kind, name, sql in own]


def list_names(folder: Path) -> list[str]:
    """What a folder holds."""
    return sorted(entry.name for entry in folder.iterdir())


def read_rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the first migration's tables, as far as it stays."""
    with opened(path) as database:
        return {table: list(database.execute(f"SELECT {columns} FROM {table}")) for table, columns in TABLES.items()}


def make_old(path: Path, *, migrations_count: int) -> None:
    """A database as a release that knew only the first migrations left it, with rows in it."""
    with opened(path) as database:
        connection.add_functions(database)
        database.pragma("application_id", APPLICATION_ID)
        database.execute(connection.MIGRATIONS_TABLE)
        for name, text in load_migrations("sqlite")[:migrations_count]:
            for statement in split_statements(text):
                database.execute(statement)
            checksum = hashlib.sha256(text.encode()).hexdigest()
            database.execute("INSERT INTO migrations (name, checksum) VALUES (?, ?)", (name, checksum))
        for statement in split_statements(SESSION_ROWS if migrations_count < OWNED_COUNT else OWNED_ROWS):
            database.execute(statement)


def make_new(path: Path) -> None:
    """A database of this release."""
    connection.open_database(str(path)).close()


def test_the_schema_is_the_golden_one(tmp_path: Path) -> None:
    """All migrations together make exactly the schema that is written down; a change of it is made on purpose."""
    make_new(tmp_path / "new.db")
    assert list_schema(tmp_path / "new.db") == GOLDEN.read_text("utf-8").splitlines()


def test_migrations_are_numbered() -> None:
    """Migrations are numbered without a gap, each with a name of its own."""
    names = [name for name, _ in load_migrations("sqlite")]
    assert [name[:4] for name in names] == [f"{number:04}" for number in range(1, len(names) + 1)]
    assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", name) for name in names)


@pytest.mark.parametrize("count", range(1, len(load_migrations("sqlite")) + 1))
def test_an_old_database_upgrades(tmp_path: Path, count: int) -> None:
    """A database that stopped after any of the migrations comes to the same schema and keeps every row."""
    path = tmp_path / "old.db"
    make_old(path, migrations_count=count)
    before = read_rows(path)
    make_new(path)
    assert list_schema(path) == GOLDEN.read_text("utf-8").splitlines()
    assert read_rows(path) == before
    assert len(before["messages"]) == 1
    with opened(path) as database:
        names = [name for (name,) in database.execute("SELECT name FROM migrations ORDER BY name")]
    assert names == [name for name, _ in load_migrations("sqlite")]


@pytest.mark.anyio
async def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    """A database of this release is opened as it is: schema, migrations and messages stay."""
    path = tmp_path / "log.db"
    for count in (10, 20):
        async with everfold.open(f"sqlite:///{path}") as engine:
            session = await engine.session(limit=4000)
            await session.append(talk(5))
            assert (await session.inspect.state()).last_seq == count
            assert (await session.verify()).is_sound
    assert list_schema(path) == GOLDEN.read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, ...]]:
    """The schema after each migration."""
    folder = tmp_path_factory.mktemp("steps")
    found = set()
    for count in range(1, len(load_migrations("sqlite")) + 1):
        make_old(path := folder / f"step{count}.db", migrations_count=count)
        found.add(tuple(list_schema(path)))
    return found


@pytest.mark.parametrize("left", [*range(0, 14, 2), *range(20, 48, 3)])
def test_a_killed_migration_leaves_the_former_schema(
    forks: Forks, tmp_path: Path, steps: set[tuple[str, ...]], left: int
) -> None:
    """A process killed within a migration leaves what was before that migration, and the next one finishes the work."""
    path = tmp_path / "old.db"
    make_old(path, migrations_count=1)
    rows = read_rows(path)
    done = forks.run(KILLED, str(path), str(left))
    assert done.returncode in {0, -signal.SIGKILL}
    assert (done.returncode == -signal.SIGKILL) or left >= 6
    assert tuple(list_schema(path)) in steps
    assert read_rows(path) == rows
    make_new(path)
    assert list_schema(path) == GOLDEN.read_text("utf-8").splitlines()
    assert read_rows(path) == rows


def test_a_broken_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration whose second statement fails takes its first one back, and the error is ours."""
    path = tmp_path / "log.db"
    make_new(path)
    before = list_schema(path)
    broken = ("0099_broken.sql", "CREATE TABLE halves (key INTEGER);\nINSERT INTO nowhere (key) VALUES (1);\n")
    monkeypatch.setattr(connection, "load_migrations", lambda _: (*load_migrations("sqlite"), broken))
    with pytest.raises(StoreError, match="nowhere"):
        connection.open_database(str(path))
    assert list_schema(path) == before


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO migrations (name, checksum) VALUES ('9999_later.sql', 'x')", "newer Everfold.*9999_later.sql"),
        ("UPDATE migrations SET checksum = 'x' WHERE name LIKE '0002%'", "0002_search.sql is not the one"),
    ],
    ids=["newer", "changed"],
)
@pytest.mark.anyio
async def test_a_schema_of_another_release_is_refused(tmp_path: Path, statement: str, words: str) -> None:
    """A newer schema and a migration that was changed after it ran are refused, and not a byte of the file changes."""
    path = tmp_path / "log.db"
    make_new(path)
    with opened(path) as database:
        database.execute(statement)
        database.pragma("wal_checkpoint", "truncate")
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=words) as caught:
        async with everfold.open(f"sqlite:///{path}"):
            pass
    assert caught.value.ids == {"path": str(path)}
    assert path.read_bytes() == before
    assert list_names(tmp_path) == ["log.db"]


def test_what_was_stored_before_is_counted(tmp_path: Path) -> None:
    """The figures of the days have the messages and the calls that an older release has stored, each on its day."""
    path = tmp_path / "old.db"
    make_old(path, migrations_count=24)
    day_micros = 24 * 60 * 60 * 1_000_000
    with opened(path) as database:
        for key, at in enumerate((day_micros, day_micros + 5, 3 * day_micros)):
            database.execute(
                "INSERT INTO model_calls (id, user_id, purpose, model, answered_by, attempt, started_at, duration_ms, outcome, "
                "input_tokens, cached_tokens, output_tokens, cost_usd, is_uncounted) "
                "VALUES (?, 'ada', 'chat', 'm', 'm', 1, ?, 5, 'complete', 100, 40, 7, ?, 0)",
                (f"call_{key}", at, 0.25 if key else None),
            )
    make_new(path)
    with opened(path) as database:
        rows = list(
            database.execute(
                "SELECT day, messages_count, calls_count, input_tokens, cached_tokens, output_tokens, cost_usd "
                "FROM activity_days ORDER BY day"
            )
        )
    assert rows == [(0, 1, 0, 0, 0, 0, 0.0), (1, 0, 2, 200, 80, 14, 0.25), (3, 0, 1, 100, 40, 7, 0.25)]
