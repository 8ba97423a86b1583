"""What PostgreSQL is asked, without a server."""

import re

import psycopg
import pytest

from everfold.adapters.postgres.connection import prepare_queries, translated
from everfold.adapters.sql.queries import load_queries
from everfold.errors import ConflictError, EverfoldError, StoreUnavailableError

OF_SQLITE = re.compile(
    r"INDEXED BY|json_each|INSERT OR|\btotal\(|\bx'|\bunixepoch|\binstr\(|\bMATCH\b|\bGLOB\b|\browid\b"
)


@pytest.mark.parametrize("name", sorted(load_queries("postgres")))
def test_a_query_asks_for_the_same_values_in_the_drivers_form(name: str) -> None:
    """Every value of a query is a placeholder of the driver, nothing in a comment is, and no other percent sign is left."""
    text, prepared = load_queries("postgres")[name], prepare_queries()[name]
    plain = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    assert set(re.findall(r"%\((\w+)\)s", prepared)) == set(re.findall(r":(\w+)", plain))
    assert prepared.count("%s") == plain.count("?")
    assert not re.search(r"%(?!s|\(\w+\)s)", prepared.replace("%%", ""))
    assert not OF_SQLITE.search(prepared)


def test_every_query_that_sqlite_overrides_for_all_is_said_here() -> None:
    """What SQLite has of its own is said here too, apart from what serves its full-text tables."""
    own = set(load_queries("sqlite")) - set(load_queries("sql")) - set(load_queries("postgres"))
    assert own == {
        "count_indexed_nothing",
        "count_item_word",
        "count_item_word_entries",
        "count_search_word",
        "count_wiped_words",
        "insert_search_row",
        "merge_search",
        "optimize_item_index",
        "optimize_search",
        "set_secure_delete",
        "touch_item_index",
        "touch_message_index",
    }


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (psycopg.errors.UniqueViolation("taken"), ConflictError),
        (psycopg.errors.LockNotAvailable("locked"), StoreUnavailableError),
        (psycopg.errors.QueryCanceled("late"), StoreUnavailableError),
        (psycopg.errors.DiskFull("full"), StoreUnavailableError),
        (psycopg.OperationalError("gone"), StoreUnavailableError),
    ],
)
def test_an_error_of_the_driver_becomes_ours(raised: psycopg.Error, expected: type[EverfoldError]) -> None:
    """Each says which database it was, and keeps its cause."""
    with pytest.raises(expected, match="postgresql://host/shop") as caught, translated("postgresql://host/shop"):
        raise raised
    assert caught.value.__cause__ is raised
