"""What commits leave behind: the write-ahead log and the segments of the search index."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from bench.material.logs import endless_log

import everfold
from everfold.adapters.sqlite.connection import PAGE_BYTES, Database, open_database
from everfold.adapters.sqlite.housekeeping import CHECKPOINT_PAGES, PILED_UP, Housekeeping


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A new database with every migration, of which nothing is in the log."""
    opened = open_database(str(tmp_path / "kept.db"))
    opened.empty_log()
    yield opened
    opened.close()


def commit_pages(database: Database, number: int, *, count: int = 6, words_count: int = 0) -> None:
    """One transaction of about twice so many pages, with a row of the search index of so many words of its own."""
    with database.transaction():
        database.connection.execute("INSERT INTO users (id) VALUES (?)", (f"{number}:" + "x" * count * PAGE_BYTES,))
        words = " ".join(["1_word", f"1_number{number}", *[f"1_{number}x{word}" for word in range(words_count)]])
        database.connection.execute(
            "INSERT INTO message_index (rowid, own, before, scope) VALUES (?, ?, '', '1__a1')", (number, words)
        )


def commit_until_due(database: Database, housekeeping: Housekeeping, number: int = 0) -> int:
    """Transactions until something is due; gives the number of the last."""
    while not housekeeping.is_due:
        number += 1
        commit_pages(database, number)
    return number


def do_all(housekeeping: Housekeeping) -> None:
    """Every step that is due."""
    while housekeeping.is_due:
        housekeeping.do_step()


def count_segments(connection: apsw.Connection) -> int:
    """How many segments the search index has that hold words."""
    return int(next(connection.execute("SELECT count(DISTINCT segid) FROM message_index_idx"))[0])


def measure_log(path: Path) -> int:
    """How many pages the write-ahead log has."""
    return path.with_name(f"{path.name}-wal").stat().st_size // PAGE_BYTES


def find_rows(database: Database, word: str) -> int:
    """How many rows of the search index hold a word."""
    found = database.connection.execute("SELECT count(*) FROM message_index WHERE message_index MATCH ?", (word,))
    return int(next(found)[0])


def test_the_log_is_written_back_behind_commits_and_never_by_one(database: Database) -> None:
    """Commits only make the log longer until it is due; then it is written into the database, and begins anew."""
    housekeeping = Housekeeping(database)
    file = Path(database.path)
    size_bytes = file.stat().st_size
    number = 0
    while measure_log(file) < 1.2 * CHECKPOINT_PAGES:
        number += 1
        commit_pages(database, number, count=100)
    assert housekeeping.is_due
    assert file.stat().st_size == size_bytes
    do_all(housekeeping)
    assert not housekeeping.is_due
    assert file.stat().st_size > 0.8 * CHECKPOINT_PAGES * PAGE_BYTES
    log_pages = measure_log(file)
    for more in range(5):
        commit_pages(database, number + 1 + more, count=100)
    assert measure_log(file) == log_pages


def test_the_index_is_merged_behind_commits_and_gives_the_same(database: Database) -> None:
    """Every commit adds a segment; merging when it is due leaves few of them, which hold every row."""
    housekeeping = Housekeeping(database)
    number = commit_until_due(database, housekeeping)
    assert count_segments(database.connection) == number
    assert 4 < number < 16  # of fewer none are merged, of more SQLite merges some itself
    do_all(housekeeping)
    assert count_segments(database.connection) == 1
    assert find_rows(database, "1_word") == number
    assert [find_rows(database, f"1_number{one}") for one in range(1, number + 1)] == [1] * number


def test_what_another_process_holds_up_is_done_later(database: Database) -> None:
    """While another one writes nothing is merged, nothing waits and nothing is raised; it comes due again."""
    housekeeping = Housekeeping(database)
    number = commit_until_due(database, housekeeping)
    other = apsw.Connection(database.path)
    other.execute("BEGIN IMMEDIATE")
    do_all(housekeeping)
    assert count_segments(database.connection) == number
    other.execute("ROLLBACK")
    other.close()
    number = commit_until_due(database, housekeeping, number)
    do_all(housekeeping)
    assert count_segments(database.connection) == 1
    assert find_rows(database, "1_word") == number


def test_nothing_that_the_driver_refuses_is_raised(database: Database) -> None:
    """Whatever the driver refuses is left undone: an error would end the thread that writes, and all calls would hang."""
    housekeeping = Housekeeping(database)
    commit_until_due(database, housekeeping)
    database.connection.close()
    do_all(housekeeping)
    assert not housekeeping.is_due


def test_a_log_that_a_reader_needs_is_counted_once(database: Database) -> None:
    """A log that cannot be written back makes no commit look long: a few small ones have nothing merged, as without it."""
    housekeeping = Housekeeping(database)
    number = commit_until_due(database, housekeeping)
    reader = apsw.Connection(database.path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM users").fetchall()
    while measure_log(Path(database.path)) < 1.2 * CHECKPOINT_PAGES:
        number += 1
        commit_pages(database, number, count=100)
    do_all(housekeeping)
    before_count = count_segments(database.connection)
    for more in range(1, 7):
        commit_pages(database, number + more)
        do_all(housekeeping)
    assert count_segments(database.connection) == before_count + 6
    reader.close()


def test_merging_keeps_up_with_commits_that_never_pause(database: Database) -> None:
    """One step behind each commit, where work has piled up, leaves few segments, though SQLite merges none itself."""
    database.connection.execute("INSERT INTO message_index (message_index, rank) VALUES ('crisismerge', 1999)")
    housekeeping = Housekeeping(database)
    most_count = 0
    for number in range(1, 601):
        commit_pages(database, number, words_count=2_000)
        if housekeeping.has_piled_up:
            housekeeping.do_step()
        most_count = max(most_count, count_segments(database.connection))
    assert most_count < 200
    assert find_rows(database, "1_word") == 600


async def test_the_log_stays_small_however_much_is_appended(tmp_path: Path) -> None:
    """Appended one by one without a pause, messages leave a log of bounded length."""
    path = tmp_path / "long.db"
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=100_000)
        for entry in endless_log(5, messages_count=600):
            await session.append(entry.wire, said_at=entry.said_at)
        log_pages = measure_log(path)
    assert log_pages < (PILED_UP + 1) * CHECKPOINT_PAGES  # without being written back it has 8,000


async def test_a_check_beside_merging_finds_no_damage(tmp_path: Path) -> None:
    """A store is found sound by a connection that has searched before others merged the index."""
    async with everfold.open(f"sqlite:///{tmp_path / 'busy.db'}") as engine:
        session = await engine.session(limit=100_000)
        for turn in range(10):
            for number in range(20):  # of 16 segments SQLite merges some itself
                await session.append({"role": "user", "content": f"The harbour at number {number} of {turn}."})
            assert await engine.admin.check_store() == []
            assert await session.search("harbour")
