"""`everfold note`: the continuity note that a session's next turn shows."""

import typer

from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, SessionArgument, User
from everfold.cli.tables.output import open_console, plain, print_json

NAME = "note"


def run(
    context: typer.Context,
    session: SessionArgument = None,
    user: User = "default",
    agent: Agent = "default",
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Print the continuity note: it names the folded messages whose digest is still being written.

    Examples:
    - `everfold note --db everfold.db`
    - `everfold note ses_01 --json`
    """

    async def act() -> tuple[str, str]:
        async with open_engine(context, db) as engine:
            found = await choose_session(engine, session, user=user, agent=agent)
            return found.id, await found.inspect.note()

    session_id, text = run_async(act)
    if as_json:
        print_json({"session": session_id, "note": text})
    else:
        open_console().print(plain(text or "no note: no work is pending"), soft_wrap=True, markup=False)
