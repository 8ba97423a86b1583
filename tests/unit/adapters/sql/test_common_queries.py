"""The queries that every database is asked in the same words."""

import re
from importlib.resources import files

import pytest

from everfold.adapters.sql.queries import load_queries

NAMES = sorted(
    re.findall(
        r"^-- name: (\w+)$",
        "\n".join(
            file.read_text("utf-8")
            for file in (files("everfold.adapters.sql") / "sql").iterdir()
            if file.name.endswith(".sql")
        ),
        re.MULTILINE,
    )
)
OF_SQLITE = re.compile(
    r"INDEXED BY|\bjson_|->>|INSERT OR|\btotal\(|\bx'|\bunixepoch|\binstr\(|\bMATCH\b|\bGLOB\b|\browid\b"
    r"|\bIS (NOT )?:|(max|min)\([^()]*,|RETURNING"
)
"""What SQLite alone understands, or only it in this way; and `RETURNING`, which costs there what it does not elsewhere."""


@pytest.mark.parametrize("name", NAMES)
def test_a_common_query_says_nothing_that_one_database_alone_understands(name: str) -> None:
    """A query that only SQLite can run stands among the overrides of SQLite."""
    assert not OF_SQLITE.search(load_queries("sql")[name])
