"""The database file that a command works on, for commands that need a file."""

from pathlib import Path

import typer

from everfold.cli.opening.engine import find_file, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.core.threats.hiding import hide_in_addresses
from everfold.errors import InvalidInputError, NotFoundError


def require_place(context: typer.Context, db: Path | None) -> Path:
    """Where the database is, or would be.

    Raises:
        InvalidInputError: the store is in no file.
    """
    url = store_url(invocation_of(context), db)
    path = find_file(url)
    if path is None:
        raise InvalidInputError(
            f"The store {hide_in_addresses(url)} is not a file. Use `pg_dump` and `pg_restore` with PostgreSQL, or name a file "
            "with --db."
        )
    return path


def require_file(context: typer.Context, db: Path | None) -> Path:
    """The database, which exists.

    Raises:
        InvalidInputError: the store is in no file.
        NotFoundError: there is no such file.
    """
    path = require_place(context, db)
    if not path.is_file():
        raise NotFoundError(f"There is no database {path}; name one with --db FILE.", path=str(path))
    return path
