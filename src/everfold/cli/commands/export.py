"""`everfold export`: take a user's memory along."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.cli.opening.engine import ask_engine, find_file, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json, Owner, require_apart
from everfold.cli.tables.output import print_json, say, write_json

NAME = "export"


def run(
    context: typer.Context,
    user: Owner = "default",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write. Default: standard output.")
    ] = None,
    db: Db = None,
    *,
    transcripts: Annotated[
        bool, typer.Option("--transcripts", help="Include the user's sessions and messages.")
    ] = False,
    as_json: Json = False,  # noqa: ARG001 - it is one already
) -> None:
    """Export all memory of a user as one JSON document; `everfold import` reads it.

    The export contains items and topics with all revisions and quotes, dreams, extractions and the audit. With
    --transcripts, it also contains the user's sessions, with each message as it was sent.

    Examples:
    - `everfold export --user ilse --out ilse.json --db everfold.db`
    - `everfold export --user ilse --transcripts --out ilse.json`
    - `everfold export --user ilse --json > ilse.json`
    """
    require_apart({"--out": out}, {"the database": find_file(store_url(invocation_of(context), db))})
    document = ask_engine(context, db, lambda engine: engine.export_user(user, transcripts=transcripts))
    if out is None:
        print_json(document)
    else:
        write_json(out, document)
        say(f"wrote {out}")
