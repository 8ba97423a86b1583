"""How PostgreSQL carries out searches, whatever it knows of the sizes of users."""

import re

import psycopg
import pytest

from everfold.adapters.postgres.connection import prepare_queries
from everfold.adapters.postgres.store import PostgresStore

SEARCHES = (
    "count_message_terms",
    "search_messages",
    "search_some_messages",
    "find_holding",
    "count_item_terms",
    "find_newest_items",
    "search_items",
)
LOOKED_UP = re.compile(r"(Filter|Cond): .*@@")
"""A condition on words."""

WEIGHED = re.compile(r" *->  CTE Scan on others.*\n *Filter: .*\n")
"""Terms that only weigh what others found: their own few rows are read, once for each message found."""


def explain(connection: psycopg.Connection, name: str) -> str:
    """The plan of a query that is prepared for any values, by a planner that scans no table whole."""
    numbers: dict[str, int] = {}
    text = re.sub(
        r"%\((\w+)\)s", lambda found: f"${numbers.setdefault(found[1], len(numbers) + 1)}", prepare_queries()[name]
    )
    connection.execute("SET enable_seqscan = off")
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN (GENERIC_PLAN) {text}".encode()))


@pytest.mark.parametrize("name", SEARCHES)
async def test_words_are_looked_up_in_their_index(store: PostgresStore, server_url: str, name: str) -> None:
    """No plan reads the rows of a user and looks for the word in each: one who has 100,000 would wait for seconds."""
    assert store
    with psycopg.connect(server_url, autocommit=True) as connection:
        plan = WEIGHED.sub("", explain(connection, name))
    looked_up = [line.strip() for line in plan.splitlines() if LOOKED_UP.search(line)]
    assert looked_up
    assert all(line.startswith(("Index Cond:", "Recheck Cond:")) for line in looked_up), plan
    assert "_words_words" in plan
