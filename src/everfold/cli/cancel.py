"""`everfold cancel`: give up compactions that are held."""

import typer

from everfold.cli.engine import open_engine, run_async
from everfold.cli.options import Db, EventArgument, Json
from everfold.cli.output import open_console, print_json

NAME = "cancel"


def run(context: typer.Context, event: EventArgument, db: Db = None, *, as_json: Json = False) -> None:
    """Give up a held compaction and every later held one of its session. Nothing has left the window for them.

    A later window begins what is still due anew. Compactions whose digest is shown already stay.

    Examples:
    - `everfold cancel evt_01 --db everfold.db`
    - `everfold cancel evt_01 --json`
    """

    async def act() -> tuple[str, list[str]]:
        async with open_engine(context, db) as engine:
            session = await engine.get_session((await engine.get_event(event)).session_id)
            return session.id, [str(it) for it in await session.cancel(event)]

    session_id, cancelled = run_async(act)
    if as_json:
        print_json({"session": session_id, "cancelled": cancelled})
    else:
        open_console().print("\n".join(f"cancelled {it}" for it in cancelled))
