"""`everfold wipe`: forget a user."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import ask_engine
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import print_json, print_table, say
from everfold.errors import InvalidInputError

NAME = "wipe"


def run(
    context: typer.Context,
    user: Annotated[str, typer.Argument(metavar="USER", help="A name, an id, or `default`.")],
    db: Db = None,
    *,
    transcripts: Annotated[
        bool, typer.Option("--transcripts", help="Also erase the user's sessions and messages.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm: a wipe cannot be undone.")] = False,
    as_json: Json = False,
) -> None:
    """Erase all memory of a user in one step, and print counts. The user and the audit stay.

    To keep a copy, run `everfold export` first.

    Examples:
    - `everfold wipe ilse --yes --db everfold.db`
    - `everfold wipe "Ilse Fennel" --transcripts --yes --json`
    """
    if not yes:
        what = "memory and all sessions" if transcripts else "memory"
        raise InvalidInputError(f"this permanently erases the {what} of {user!r}; confirm with --yes", user=user)
    wiped = ask_engine(context, db, lambda engine: engine.wipe(user, transcripts=transcripts))
    print_json(wiped) if as_json else print_table(("what", "erased"), wiped.counts.items())
    if wiped.is_pending:
        say("the files are pending: another reader is using them; the next recovery or erase clears them")
