"""What the queries of vectors cost, by SQLite's own plan of them."""

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from everfold.adapters.sqlite.connection import Database, open_database
from everfold.adapters.sqlite.vector_store import load_extension

FILES = (("sql", "vectors.sql"), ("sqlite", "vectors.sql"))
NAMES = [
    name
    for dialect, file in FILES
    for name in re.findall(
        r"^-- name: (\w+)$", (files(f"everfold.adapters.{dialect}") / "sql" / file).read_text("utf-8"), re.MULTILINE
    )
]
WHOLE = ("SCAN candidate", "SCAN bare", "SCAN json_each VIRTUAL TABLE")
"""What is read from end to end: what an inner query gave, and the kinds that are asked for."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """An empty database, for which the plan is the one that a full one has: nothing is ever analysed."""
    opened = open_database(str(tmp_path_factory.mktemp("plans") / "log.db"))
    load_extension(opened)
    yield opened
    opened.close()


def plan_of(database: Database, name: str) -> list[str]:
    """The steps of a query's plan."""
    query = database.queries[name]
    values = dict.fromkeys(re.findall(r":(\w+)", query))
    return [str(row[3]) for row in database.connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("insert_")])
def test_no_query_of_vectors_scans_a_table(database: Database, name: str) -> None:
    """Every table is entered by a key or an index, so that a query costs what its user has, whatever others have."""
    steps = plan_of(database, name)
    assert [step for step in steps if step.startswith("SCAN") and not step.startswith(WHOLE)] == []
    assert any(step.startswith("SEARCH") for step in steps)


@pytest.mark.parametrize("name", ["find_near_vectors", "count_vectors"])
def test_codes_are_read_from_their_index(database: Database, name: str) -> None:
    """The first pass of a search reads the rows of one user and one space, and no floats."""
    [step] = [step for step in plan_of(database, name) if "vectors_code" in step]
    assert step.startswith("SEARCH vectors USING COVERING INDEX vectors_code (user_key=?")


@pytest.mark.parametrize("kind", ["item", "topic"])
def test_missing_ones_come_from_the_owners_index(database: Database, kind: str) -> None:
    """Whether an item or a topic has a vector is one look into an index."""
    steps = plan_of(database, f"list_bare_{kind}s")
    assert any(
        "vectors USING COVERING INDEX vectors_owner (user_key=? AND kind=? AND owner_key=? AND space_key=?)" in it
        for it in steps
    )
