"""`everfold backup`: a copy of the database, also while it is in use."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.sqlite.backup import back_up
from everfold.cli.opening.database import require_file
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, say, show_progress

NAME = "backup"


def run(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The new file.")],
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Copy the database into a new file, even while a server uses it.

    The copy is the state at one moment; later writes are not in it. The file is checked before it gets its name. It contains
    everything, including hashes of API keys, and only its owner can read it. Back up a PostgreSQL store with `pg_dump`.

    Examples:
    - `everfold backup talk-2031-05-01.db`
    - `everfold backup /backups/talk.db --db talk.db --json`
    """
    source = require_file(context, db)
    with show_progress("backup", None) as advance:
        size = back_up(source, target, lambda done, total: advance(done, f"of {total:,} pages"))
    if as_json:
        print_json({"database": str(source), "backup": str(target), "bytes": size})
    else:
        say(f"{target}: {size:,} bytes; `everfold verify --db {shlex.quote(str(target))}` checks every session in it")
