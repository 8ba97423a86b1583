"""Named queries from the `.sql` files: one statement each, introduced by a line `-- name: what_it_does`.

The folder `sql` here has them in common SQL. A dialect has a folder of its own, with the same names where it says the same
otherwise, and with names of its own for what only it does.
"""

from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

Dialect: TypeAlias = Literal["sql", "sqlite", "postgres"]
"""`sql` is what all have in common."""


@cache
def load_queries(dialect: Dialect) -> dict[str, str]:
    """Every query of a dialect by its name. A name that stands twice in one folder is an error of the package."""
    return {**_read_folder("sql"), **_read_folder(dialect)}


@cache
def _read_folder(dialect: Dialect) -> dict[str, str]:
    queries: dict[str, str] = {}
    folder = files(f"everfold.adapters.{dialect}") / "sql"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        for block in file.read_text("utf-8").split("-- name: ")[1:]:
            name, _, statement = block.partition("\n")
            if name in queries:
                raise ValueError(f"query {name!r} stands twice; the second time in {file.name}")
            queries[name.strip()] = statement.strip().rstrip(";")
    return queries


@cache
def load_migrations(dialect: Dialect) -> tuple[tuple[str, str], ...]:
    """Name and text of every migration of a dialect, in order."""
    folder = files(f"everfold.adapters.{dialect}") / "migrations"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return tuple((entry.name, entry.read_text("utf-8")) for entry in sorted(found, key=lambda entry: entry.name))
