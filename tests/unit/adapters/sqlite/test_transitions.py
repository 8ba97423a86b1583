"""The queries that move a compaction, held against the table of transitions."""

import re
from collections.abc import Iterator
from typing import Final

import pytest

from everfold.adapters.sql.queries import load_queries
from everfold.adapters.sqlite.connection import Database, SqlValue, open_database
from everfold.core.compaction.transitions import (
    COMPACTION,
    DIGEST,
    EXTRACTION,
    LAYOUT,
    OPEN_STATES,
    Cause,
    WorkState,
)
from everfold.testing.contract.transitions import PATHS, Position, find_next_position

MOVES: Final[dict[Cause, str]] = {
    "claim": "claim_compaction",
    "renew": "renew_compaction",
    "release": "release_compaction",
    "keep draft": "keep_draft",
    "commit": "commit_compaction",
    "digest": "settle_digest",
    "erase": "drop_drafts",
    "done": "end_compaction",
    "degraded": "end_compaction",
    "cancelled": "end_compaction",
    "reopen": "reopen_compaction",
}
"""The query that each cause runs."""

BEGINS: Final[dict[Cause, str]] = {"begin": "insert_compaction", "revise": "insert_revision"}
BESIDE: Final = {"move_up_held", "replace_record"}
"""These write events and move none."""

COMPACTION_QUERIES = {
    name: text for name, text in load_queries("sqlite").items() if re.search(r"\bcompactions\b", text)
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database in which rows need no parents."""
    opened = open_database(str(tmp_path_factory.mktemp("transitions") / "log.db"))
    opened.connection.execute("PRAGMA foreign_keys = OFF")
    yield opened
    opened.close()


@pytest.fixture
def database(opened: Database) -> Database:
    """The same without an event."""
    opened.connection.execute("DELETE FROM compactions")
    return opened


def insert(database: Database, position: Position, *, digest: WorkState, extraction: WorkState = "off") -> None:
    """The only event, in a position."""
    certificate = "{}" if position.layout == "committed" else None
    database.connection.execute(
        "INSERT INTO compactions (id, user_key, session_key, ordinal, state, begun_at, plan, certificate, digest, "
        "extraction, attempts) VALUES ('evt', 1, 1, 1, ?, 0, x'', ?, ?, ?, 1)",
        (position.state, certificate, digest, extraction),
    )


def read(database: Database) -> tuple[Position, WorkState, WorkState]:
    """Where the only event is, and how far its jobs are."""
    query = "SELECT state, certificate IS NOT NULL, digest, extraction FROM compactions"
    ((state, is_committed, digest, extraction),) = database.connection.execute(query)
    return Position(state, "committed" if is_committed else "held"), digest, extraction


def run(database: Database, name: str, cause: Cause | None = None) -> int:
    """Run a query for the only event, with values that stand in no query's way; gives how many rows it changed."""
    values: dict[str, SqlValue] = dict.fromkeys(re.findall(r":(\w+)", database.queries[name]))
    usual: dict[str, SqlValue] = {
        "id": "evt",
        "compaction_id": "evt",
        "user_key": 1,
        "session_key": 1,
        "ordinal": 1,
        "begun_at": 0,
        "plan": b"",
        "certificate": "{}",
        "layout": b"",
        "attempt": 1,
        "now": 1,
        "problem": "",
        "digest": "off",
        "extraction": "off",
        "state": cause,
    }
    return database.run(name, **{key: usual.get(key) for key in values})


@pytest.mark.parametrize("position", PATHS, ids="-".join)
@pytest.mark.parametrize("cause", MOVES)
def test_a_query_moves_an_event_as_the_table_lists(database: Database, cause: Cause, position: Position) -> None:
    """Its WHERE clause finds exactly the positions that the table lists, and its SET clause writes the listed ones."""
    insert(database, position, digest="pending")
    changed_count = run(database, MOVES[cause], cause)
    expected = find_next_position(position, cause)
    assert read(database)[0] == (expected or position)
    assert changed_count == (expected is not None)


@pytest.mark.parametrize("cause", BEGINS)
def test_an_event_is_inserted_as_the_table_lists(database: Database, cause: Cause) -> None:
    """A new event stands where the table has it begin, a revision where the table has it be stored."""
    run(database, BEGINS[cause])
    assert read(database)[0] == (COMPACTION[cause][None], LAYOUT[cause][None])


@pytest.mark.parametrize("name", sorted(BESIDE))
@pytest.mark.parametrize("position", PATHS, ids="-".join)
def test_no_other_query_moves_an_event(database: Database, name: str, position: Position) -> None:
    """What corrects ordinals or what an erase makes again leaves the state of the work as it was."""
    insert(database, position, digest="pending")
    run(database, name)
    assert read(database)[0].state == position.state


def test_every_query_that_writes_events_is_held_against_the_table() -> None:
    """A new query that inserts or updates events has to be named here with its cause."""
    written = {
        name for name, text in COMPACTION_QUERIES.items() if re.match(r"(INSERT INTO|UPDATE) compactions\b", text)
    }
    assert written == {*MOVES.values(), *BEGINS.values()} | BESIDE
    assert {*MOVES, *BEGINS} == set(COMPACTION)


@pytest.mark.parametrize("state", ["off", "pending", "done", "failed"])
def test_a_models_digest_is_shown_once(database: Database, state: WorkState) -> None:
    """The query for a model's digest finds a digest that is pending, and says what the table says of success."""
    insert(database, Position("ready", "committed"), digest=state)
    run(database, "settle_digest")
    assert read(database)[1] == DIGEST["succeed"].get(state, state)


@pytest.mark.parametrize("state", ["off", "pending", "done", "failed"])
def test_a_retry_reopens_the_jobs_as_the_table_lists(database: Database, state: WorkState) -> None:
    """Whatever state each job of a degraded event is in, a retry gives it the state that the table lists."""
    insert(database, Position("degraded", "committed"), digest=state, extraction=state)
    run(database, "reopen_compaction")
    assert read(database)[1:] == (DIGEST["reopen"][state], EXTRACTION["reopen"][state])


@pytest.mark.parametrize("name", [name for name, text in COMPACTION_QUERIES.items() if "state IN (" in text])
def test_a_list_of_states_is_that_of_the_open_ones(name: str) -> None:
    """Where a query names several states they are the open ones; a claim names those that the table lists for it."""
    allowed = {OPEN_STATES, frozenset(COMPACTION["claim"])}
    for listed in re.findall(r"state IN \(([^)]*)\)", COMPACTION_QUERIES[name]):
        assert frozenset(re.findall(r"'(\w+)'", listed)) in allowed
