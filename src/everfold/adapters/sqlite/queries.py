"""Named queries from the `.sql` files: one statement each, introduced by a line `-- name: what_it_does`."""

from functools import cache
from importlib.resources import files


@cache
def load_queries() -> dict[str, str]:
    """Every query by its name. A name that stands twice is an error of the package."""
    queries: dict[str, str] = {}
    folder = files("everfold.adapters.sqlite") / "sql"
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        for block in file.read_text("utf-8").split("-- name: ")[1:]:
            name, _, statement = block.partition("\n")
            if name in queries:
                raise ValueError(f"query {name!r} stands twice; the second time in {file.name}")
            queries[name.strip()] = statement.strip().rstrip(";")
    return queries


@cache
def load_migrations() -> tuple[tuple[str, str], ...]:
    """Name and text of every migration, in order."""
    folder = files("everfold.adapters.sqlite") / "migrations"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return tuple((entry.name, entry.read_text("utf-8")) for entry in sorted(found, key=lambda entry: entry.name))
