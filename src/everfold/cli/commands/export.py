"""`everfold export`: take a user's memory along."""

from pathlib import Path
from typing import Annotated

import typer

from everfold.cli.opening.engine import find_file, open_engine, run_async, store_url
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Db, Json, Owner, require_apart
from everfold.cli.tables.output import print_json, say, write_json
from everfold.core.primitives.json_values import JsonObject

NAME = "export"


def run(
    context: typer.Context,
    user: Owner = "default",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; standard output when left out.")
    ] = None,
    db: Db = None,
    *,
    transcripts: Annotated[
        bool, typer.Option("--transcripts", help="Include the user's sessions and messages.")
    ] = False,
    as_json: Json = False,  # noqa: ARG001 - it is one already
) -> None:
    """Export all memory of a user as one JSON document; `everfold import` reads it.

    The export holds items and topics with all revisions and quotes, dreams, extractions and the audit. With
    --transcripts it also holds the user's sessions, each message as it was sent.

    Examples:
    - `everfold export --user ilse --out ilse.json --db everfold.db`
    - `everfold export --user ilse --transcripts --out ilse.json`
    - `everfold export --user ilse --json > ilse.json`
    """
    require_apart({"--out": out}, {"the database": find_file(store_url(invocation_of(context), db))})

    async def act() -> JsonObject:
        async with open_engine(context, db) as engine:
            return await engine.export_user(user, transcripts=transcripts)

    document = run_async(act)
    if out is None:
        print_json(document)
    else:
        write_json(out, document)
        say(f"wrote {out}")
