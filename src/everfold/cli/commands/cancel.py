"""`everfold cancel`: cancel pending compactions."""

import typer

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import CompactionArgument, Db, Json
from everfold.cli.tables.output import open_console, print_json

NAME = "cancel"


def run(context: typer.Context, compaction: CompactionArgument, db: Db = None, *, as_json: Json = False) -> None:
    """Cancel a pending compaction and those after it. No message was removed.

    A later window starts a new compaction if one is still due. Committed compactions stay.

    Examples:
    - `everfold cancel evt_01 --db everfold.db`
    - `everfold cancel evt_01 --json`
    """

    async def act() -> tuple[str, list[str]]:
        async with open_engine(context, db) as engine:
            session = await engine.session(id=(await engine.admin.get_compaction(compaction)).session_id)
            return session.id, [str(it) for it in await session.inspect.cancel(compaction)]

    session_id, cancelled = run_async(act)
    if as_json:
        print_json({"session": session_id, "cancelled": cancelled})
    else:
        open_console().print("\n".join(f"cancelled {it}" for it in cancelled))
