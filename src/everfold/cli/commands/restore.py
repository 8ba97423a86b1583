"""`everfold restore`: a backup in the place of the database."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from everfold.adapters.sqlite.backup import restore
from everfold.cli.opening.database import require_place
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, say, show_progress

NAME = "restore"


def run(
    context: typer.Context,
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Replace the database with a copy of a backup. The replaced database is kept beside it.

    Refused while another process has the database open: stop that process, or restore into a new file with --db and start
    the server with that file. The backup still contains what was erased after it was made: erase that again.

    Examples:
    - `everfold restore talk-2031-05-01.db`
    - `everfold restore talk-2031-05-01.db --db talk-again.db --json`
    """
    target = require_place(context, db)
    with show_progress("restore", None) as advance:
        replaced = restore(backup, target, lambda done, total: advance(done, f"of {total:,} pages"))
    if as_json:
        print_json(
            {"database": str(target), "backup": str(backup), "replaced": None if replaced is None else str(replaced)}
        )
        return
    say(f"{target} was restored; `everfold verify --db {shlex.quote(str(target))}` checks it")
    if replaced is not None:
        say(f"the replaced database is {replaced}")
