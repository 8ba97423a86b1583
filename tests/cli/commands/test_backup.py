"""Backups are made while the database is written, and put back."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.cli.conftest import Run

import everfold
from everfold.adapters.sqlite import backup as backing
from everfold.adapters.sqlite.backup import back_up, restore
from everfold.errors import ConflictError, CorruptStoreError, StoreUnavailableError
from everfold.testing.kit.builders import talk

if TYPE_CHECKING:
    from collections.abc import Iterator

TALK = '[{"role": "user", "content": "Where is the key?"}, {"role": "assistant", "content": "In the boathouse."}]'


def ignore(_done: int, _total: int) -> None:
    """Progress that is not shown."""


def test_a_backup_is_restored(run: Run, here: Path) -> None:
    """What was stored when the backup was made is there again after a restore, and what was replaced is kept beside it."""
    (here / "talk.json").write_text(TALK)
    run("import", "talk.json", "--db", "a.db")
    told = json.loads(run("backup", "b.db", "--db", "a.db", "--json").stdout)
    assert told["bytes"] == (here / "b.db").stat().st_size
    assert (here / "b.db").stat().st_mode & 0o077 == 0
    assert "name a new file" in run("backup", "b.db", "--db", "a.db", code=4).stderr
    run("import", "talk.json", "--db", "a.db", "--user", "late")
    told = json.loads(run("restore", "b.db", "--db", "a.db", "--json").stdout)
    assert told["replaced"] == "a.db.before-restore-1"
    assert len(json.loads(run("sessions", "--db", "a.db", "--json").stdout)["sessions"]) == 1
    assert len(json.loads(run("sessions", "--db", "a.db.before-restore-1", "--json").stdout)["sessions"]) == 2
    run("verify", "--db", "a.db")
    assert sorted(path.name for path in here.glob("b.db*")) == ["b.db"]


def test_a_backup_of_a_database_in_use_is_one_state(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a backup is copied page by page others write: it ends, verifies, and holds what was there when it began."""
    monkeypatch.setattr(backing, "_PAGES", 5)

    async def act() -> tuple[int, int]:
        async with everfold.open(here / "a.db") as engine:
            session = await engine.session()
            await session.append(talk(40))
            writer = apsw.Connection(str(here / "a.db"))
            writer.execute("CREATE TABLE others (number INTEGER, text TEXT)")

            def write(done: int, _total: int) -> None:
                writer.execute("INSERT INTO others VALUES (?, ?)", (done, "x" * 5000))

            await asyncio.to_thread(back_up, here / "a.db", here / "b.db", write)
            written = writer.execute("SELECT count(*) FROM others").get
            writer.close()
            await session.append(talk(2))
        async with everfold.open(here / "b.db") as copied:
            again = await copied.session()
            assert (await again.verify()).is_sound
            return int(str(written)), (await again.inspect.state()).last_seq

    written, last_seq = asyncio.run(act())
    assert written > 5
    assert last_seq == 80
    copy = apsw.Connection(str(here / "b.db"))
    assert copy.execute("SELECT count(*) FROM others").get == 0


def make_ours(path: Path) -> None:
    """A database with an index that is larger than a few pages."""
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("PRAGMA journal_mode = WAL").get  # noqa: B018 - as the store has it
        writer.execute(
            "CREATE TABLE migrations (name TEXT); CREATE TABLE numbers (key INTEGER PRIMARY KEY, value TEXT)"
        )
        writer.execute("CREATE INDEX by_value ON numbers (value)")
        writer.executemany("INSERT INTO numbers VALUES (?, ?)", ((key, f"{key:0100}") for key in range(2_000)))


def write_once(path: Path, writes: list[str]) -> backing.Advance:
    """Has another process open, write and close the database when some pages are copied."""

    def advance(_done: int, _total: int) -> None:
        if writes:
            with closing(apsw.Connection(str(path))) as writer:
                writer.execute("UPDATE numbers SET value = ? || substr(value, 2)", (writes.pop(),))

    return advance


def read_first(path: Path) -> set[str]:
    """The first characters of all values, where the copy is whole."""
    with closing(apsw.Connection(str(path))) as copied:
        assert copied.execute("PRAGMA integrity_check").get == "ok"
        return {str(row[0]) for row in copied.execute("SELECT DISTINCT substr(value, 1, 1) FROM numbers")}


def test_a_backup_is_one_state_where_the_database_is_opened_meanwhile(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup that begins while no process has the database open holds the state before what is written meanwhile."""
    monkeypatch.setattr(backing, "_PAGES", 5)
    make_ours(here / "a.db")
    back_up(here / "a.db", here / "b.db", write_once(here / "a.db", ["x"]))
    assert read_first(here / "b.db") == {"0"}
    assert sorted(path.name for path in here.iterdir()) == ["a.db", "b.db"]


def test_a_file_that_cannot_be_locked_is_copied_again(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup of a database in a folder that it may not write to is copied anew after each write, and refused in the end."""
    monkeypatch.setattr(backing, "_PAGES", 5)
    monkeypatch.setattr(backing, "_can_be_locked", lambda _: False)
    make_ours(here / "a.db")
    back_up(here / "a.db", here / "b.db", write_once(here / "a.db", ["x"]))
    assert read_first(here / "b.db") == {"x"}
    with pytest.raises(StoreUnavailableError, match="stop its writers"):
        back_up(here / "a.db", here / "c.db", write_once(here / "a.db", ["y"] * 1_000))
    assert sorted(path.name for path in here.iterdir()) == ["a.db", "b.db"]


def test_a_backup_through_a_link_holds_what_is_only_in_the_log(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup of a link to a database in use holds all that is committed, also where the link's folder is read-only."""
    (here / "links").mkdir()
    (here / "links" / "a.db").symlink_to(here / "a.db")
    monkeypatch.setattr(backing, "_can_hold_logs", lambda folder: folder != here / "links")
    make_ours(here / "a.db")
    with closing(apsw.Connection(str(here / "a.db"))) as writer:
        writer.execute("UPDATE numbers SET value = 'x'")
        back_up(here / "links" / "a.db", here / "b.db", ignore)
    assert read_first(here / "b.db") == {"x"}


def test_a_restore_through_a_link_replaces_the_database(here: Path) -> None:
    """A restore to a link replaces the database that it leads to, and the link stays."""
    make_ours(here / "a.db")
    back_up(here / "a.db", here / "b.db", ignore)
    write_once(here / "a.db", ["x"])(0, 0)
    (here / "link.db").symlink_to("a.db")
    assert restore(here / "b.db", here / "link.db", ignore) == here / "a.db.before-restore-1"
    assert (here / "link.db").is_symlink()
    assert read_first(here / "a.db") == {"0"}
    assert read_first(here / "a.db.before-restore-1") == {"x"}


def test_a_backup_to_a_link_writes_the_file_that_it_names(here: Path) -> None:
    """A backup to a link that leads to no file writes that file; one to a link that leads to a file is refused."""
    make_ours(here / "a.db")
    (here / "link.db").symlink_to("b.db")
    back_up(here / "a.db", here / "link.db", ignore)
    assert (here / "link.db").is_symlink()
    assert read_first(here / "b.db") == {"0"}
    with pytest.raises(ConflictError, match="exists; name a new file"):
        back_up(here / "a.db", here / "link.db", ignore)


@pytest.mark.parametrize("folder", [".", "/", ".."])
def test_a_folder_is_not_written_as_a_file(run: Run, here: Path, folder: str) -> None:
    """A backup to a folder, and a restore in the place of one, are refused with what to name instead."""
    make_ours(here / "a.db")
    assert "is a folder; name a file" in run("backup", folder, "--db", "a.db", code=2).stderr.replace("\n", " ")
    assert "is a folder; name a file" in run("restore", "a.db", "--db", folder, code=2).stderr.replace("\n", " ")
    assert [path.name for path in here.iterdir()] == ["a.db"]


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "--db", "caf\udce9.db"),
        ("backup", "caf\udce9.db", "--db", "a.db"),
        ("backup", "b.db", "--db", "caf\udce9.db"),
        ("restore", "a.db", "--db", "caf\udce9.db"),
        ("restore", "caf\udce9.db", "--db", "b.db"),
    ],
)
def test_a_path_that_sqlite_cannot_take_is_refused(run: Run, here: Path, words: tuple[str, ...]) -> None:
    """The path of a database that is not UTF-8 is refused with an error that shows it, and no file is written."""
    make_ours(here / "a.db")
    (here / "caf\udce9.db").write_bytes((here / "a.db").read_bytes())
    before = sorted(here.iterdir())
    assert "caf\\udce9.db' is not UTF-8" in run(*words, code=2).stderr
    assert sorted(here.iterdir()) == before


@pytest.fixture
def unshared() -> "Iterator[None]":
    """SQLite without memory that processes share, as on a share between machines."""
    apsw.set_default_vfs("unix-none")
    yield
    apsw.set_default_vfs("unix")


@pytest.mark.usefixtures("unshared")
def test_a_place_without_shared_memory_takes_a_backup_and_gives_it_back(here: Path) -> None:
    """Where processes share no memory, a backup is written, checked and restored, and no log stays beside it."""
    make_ours(here / "a.db")
    content = bytearray((here / "a.db").read_bytes())
    content[18:20] = b"\2\2"  # as a database that has logs elsewhere
    (here / "a.db").write_bytes(content)
    back_up(here / "a.db", here / "b.db", ignore)
    restore(here / "b.db", here / "c.db", ignore)
    assert sorted(path.name for path in here.iterdir()) == ["a.db", "b.db", "c.db"]
    apsw.set_default_vfs("unix")
    assert read_first(here / "c.db") == {"0"}


def test_a_draft_that_cannot_be_read_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copy cannot be opened for its check, the error names the copy and not what was copied."""
    make_ours(here / "a.db")
    monkeypatch.setattr(backing, "_copy_pages", lambda _source, draft, _advance: draft.unlink() is None)
    with pytest.raises(StoreUnavailableError, match=r"\.b\.db\.new cannot be read"):
        back_up(here / "a.db", here / "b.db", ignore)


def test_a_backup_with_a_damaged_index_is_refused(here: Path) -> None:
    """An index that does not agree with its table is found in a copy, though each page of it is well formed."""
    make_ours(here / "a.db")
    with closing(apsw.Connection(str(here / "a.db"))) as writer:
        index = writer.execute("SELECT * FROM sqlite_schema WHERE name = 'by_value'").fetchall()[0]
        writer.execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'by_value'")
    with closing(apsw.Connection(str(here / "a.db"))) as writer:
        writer.execute("UPDATE numbers SET value = 'lost' WHERE key = 7; PRAGMA writable_schema = ON")
        writer.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", index)
    with pytest.raises(CorruptStoreError, match="damaged"):
        back_up(here / "a.db", here / "b.db", ignore)
    assert not (here / "b.db").exists()


def test_a_database_in_use_is_not_replaced(here: Path) -> None:
    """A restore over a database that is open is refused, and changes nothing; one into a new file is not."""

    async def act() -> None:
        async with everfold.open(here / "a.db") as engine:
            session = await engine.session()
            await session.append(talk(4))
            back_up(here / "a.db", here / "b.db", ignore)
            with pytest.raises(ConflictError, match="open in another process"):
                await asyncio.to_thread(restore, here / "b.db", here / "a.db", ignore)
            await session.append(talk(2))
            assert restore(here / "b.db", here / "c.db", ignore) is None

    asyncio.run(act())
    assert not list(here.glob("*.before-restore-*"))
    assert not list(here.glob(".*.new*"))


@pytest.mark.parametrize(("start", "end"), [(0, 100), (8192, 40000), (50000, None)])
def test_a_damaged_database_is_replaced(run: Run, here: Path, start: int, end: int | None) -> None:
    """A restore replaces a database of which the header, pages or the end are lost, and keeps it beside."""
    (here / "talk.json").write_text(TALK)
    run("import", "talk.json", "--db", "a.db")
    run("backup", "b.db", "--db", "a.db")
    data = (here / "a.db").read_bytes()
    (here / "a.db").write_bytes(data[:start] + (b"" if end is None else b"\xff" * (end - start) + data[end:]))
    damaged = (here / "a.db").read_bytes()
    told = json.loads(run("restore", "b.db", "--db", "a.db", "--json").stdout)
    assert (here / told["replaced"]).read_bytes() == damaged
    run("verify", "--db", "a.db")


def leave_log(path: Path) -> None:
    """Put beside a database the log that a killed process leaves there."""
    log = path.with_name(f"{path.name}-wal")
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("CREATE TABLE later (text TEXT)")
        writer.executemany("INSERT INTO later VALUES (?)", [("x" * 5000,)] * 50)
        content = log.read_bytes()
    log.write_bytes(content)


def test_a_log_of_a_moved_database_is_not_played_into_a_restored_one(run: Run, here: Path) -> None:
    """Where a database was moved away without its log, a restore moves the log out of the way, and a backup is refused."""
    (here / "talk.json").write_text(TALK)
    run("import", "talk.json", "--db", "a.db")
    run("backup", "b.db", "--db", "a.db")
    leave_log(here / "a.db")
    (here / "a.db").rename(here / "moved.db")
    with pytest.raises(ConflictError, match=r"a\.db-wal exists; name a new file"):
        back_up(here / "b.db", here / "a.db", ignore)
    log = (here / "a.db-wal").read_bytes()
    assert restore(here / "b.db", here / "a.db", ignore) is None
    assert (here / "a.db.before-restore-1-wal").read_bytes() == log
    with closing(apsw.Connection(str(here / "a.db"))) as restored:
        assert restored.execute("PRAGMA integrity_check").get == "ok"
        assert not restored.execute("SELECT 1 FROM sqlite_schema WHERE name = 'later'").get
    run("verify", "--db", "a.db")


def test_what_is_no_backup_is_refused(run: Run, here: Path) -> None:
    """A missing file, another database, a damaged backup and a store without a file are refused, and nothing is replaced."""
    (here / "talk.json").write_text(TALK)
    run("import", "talk.json", "--db", "a.db")
    before = (here / "a.db").read_bytes()
    other = apsw.Connection(str(here / "other.db"))
    other.execute("CREATE TABLE shop (id INTEGER)")
    other.close()
    assert "not an Everfold database" in run("restore", "other.db", "--db", "a.db", code=7).stderr.replace("\n", " ")
    run("restore", "nowhere.db", "--db", "a.db", code=3)
    run("backup", "b.db", "--db", "a.db")
    data = bytearray((here / "b.db").read_bytes())
    data[8192:40000] = b"\xff" * (40000 - 8192)
    (here / "b.db").write_bytes(data)
    with pytest.raises(CorruptStoreError):
        restore(here / "b.db", here / "a.db", ignore)
    assert (here / "a.db").read_bytes() == before


def test_commands_in_hints_can_be_run(run: Run, here: Path) -> None:
    """A command that a hint names has a path with spaces in quotes, so that a shell takes it as one word."""
    (here / "talk.json").write_text(TALK)
    run("import", "talk.json", "--db", "a.db")
    assert "everfold verify --db 'b c.db'" in run("backup", "b c.db", "--db", "a.db").stderr.replace("\n", " ")
    assert "everfold verify --db 'd e.db'" in run("restore", "b c.db", "--db", "d e.db").stderr.replace("\n", " ")
    told = run("store", "copy", "sqlite:///a.db", "sqlite:///f g.db").stderr.replace("\n", " ")
    assert "EVERFOLD_STORE__URL='sqlite:///f g.db' everfold verify" in told


def test_a_store_without_a_file_is_not_backed_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With PostgreSQL the error names the database's own tools, and hides its password."""
    monkeypatch.setenv("EVERFOLD_STORE__URL", "postgresql://ada:secret@db.example/everfold")
    told = run("backup", "c.db", code=2).stderr.replace("\n", " ")
    assert "pg_dump" in told
    assert "secret" not in told
