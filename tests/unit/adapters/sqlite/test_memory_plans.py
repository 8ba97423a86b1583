"""What the queries of memory cost, by SQLite's own plan of them."""

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from everfold.adapters.sqlite.connection import Database, open_database

FILES = (("sql", "memory.sql"), ("sqlite", "memory.sql"), ("sqlite", "item_search.sql"))
NAMES = sorted(
    {
        name
        for dialect, file in FILES
        for name in re.findall(
            r"^-- name: (\w+)$", (files(f"everfold.adapters.{dialect}") / "sql" / file).read_text("utf-8"), re.MULTILINE
        )
    }
)

OWN_ROWS = {"SCAN hit", "SCAN unread", "SCAN CONSTANT ROW"}
"""Steps over what the query has found itself."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """An empty database, for which the plan is the one that a full one has: nothing is ever analysed."""
    opened = open_database(str(tmp_path_factory.mktemp("plans") / "log.db"))
    yield opened
    opened.close()


def plan_of(database: Database, name: str) -> list[str]:
    """The steps of a query's plan."""
    query = database.queries[name]
    values = dict.fromkeys(re.findall(r":(\w+)", query))
    return [str(row[3]) for row in database.connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("name", NAMES)
def test_no_query_of_memory_scans_a_table(database: Database, name: str) -> None:
    """Every table is entered by a key or an index, so that a query costs what it gives, whatever the others have."""
    for step in plan_of(database, name):
        is_index_of_words = "VIRTUAL TABLE INDEX" in step
        assert not step.startswith("SCAN") or is_index_of_words or step in OWN_ROWS, (name, step)


IN_ORDER = [name for name in NAMES if name.startswith("list_") and name != "list_dreamable"]
"""Those who have something to dream of are few, and are put in order by what they said last."""


@pytest.mark.parametrize("name", IN_ORDER)
def test_pages_are_read_in_order(database: Database, name: str) -> None:
    """A page is read in the order of its index and stops at its end; nothing is sorted first."""
    assert not [step for step in plan_of(database, name) if "TEMP B-TREE" in step]


@pytest.mark.parametrize("name", ["list_agent_extractions", "list_latest_agent_extractions"])
def test_extractions_of_an_agent_have_their_index(database: Database, name: str) -> None:
    """What was extracted for other agents of the same user is not walked past."""
    assert any("extractions_agent" in step for step in plan_of(database, name))


def test_the_dreamable_are_looked_at_once(database: Database) -> None:
    """When each of those who wait last said something is read once, however often the query compares it."""
    steps = plan_of(database, "list_dreamable")
    assert len([step for step in steps if "messages_seq" in step]) == 1
