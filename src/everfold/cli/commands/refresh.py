"""`everfold refresh`: ask the context sources now, instead of at the next occasion."""

import typer

from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, Session, User
from everfold.cli.tables.output import print_json
from everfold.cli.tables.source_rows import list_outcomes, print_refreshed, refreshed_document
from everfold.services.compaction.refresh import Refreshed

NAME = "refresh"


def run(
    context: typer.Context,
    user: User = "default",
    agent: Agent = "default",
    session: Session = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Ask every allowed context source what happened since its last answer, and store the answers as one message.

    Exits with 1 if a source failed and nothing was stored.

    Examples:
    - `everfold refresh --user ilse --agent shop --db everfold.db`
    - `everfold refresh --session ses_01 --json`
    """

    async def act() -> tuple[str, Refreshed]:
        async with open_engine(context, db) as engine:
            chosen = await choose_session(engine, session, user=user, agent=agent)
            return chosen.id, await chosen.refresh()

    session_id, refreshed = run_async(act)
    if as_json:
        print_json(refreshed_document(session_id, refreshed))
    else:
        print_refreshed(session_id, refreshed)
    if refreshed.seq is None and {it.outcome for it in list_outcomes(refreshed)} & {"failed", "timed_out"}:
        raise typer.Exit(1)
