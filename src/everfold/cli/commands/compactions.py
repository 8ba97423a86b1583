"""`everfold compactions`: what became of each compaction of a session."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, SessionArgument, User
from everfold.cli.tables.compaction_rows import CompactionCost, print_compactions, sum_calls, to_document
from everfold.cli.tables.output import print_json
from everfold.core.compaction.record import Compaction
from everfold.session import Session

NAME = "compactions"


def run(
    context: typer.Context,
    session: SessionArgument = None,
    after: Annotated[
        int | None,
        typer.Option(metavar="ORDINAL", min=0, help="Only compactions after this one. Default: the newest."),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 50,
    user: User = "default",
    agent: Agent = "default",
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the compactions of a session with the reason, result, state and cost of each.

    Pending compactions are marked as waiting.

    Examples:
    - `everfold compactions --db everfold.db`
    - `everfold compactions ses_01 --after 40 -n 10 --json`
    """

    async def act() -> tuple[str, list[tuple[Compaction, CompactionCost]]]:
        async with open_engine(context, db) as engine:
            found = await choose_session(engine, session, user=user, agent=agent)
            start = await _find_start(found, count) if after is None else after
            compactions = await found.inspect.compactions(after_ordinal=start, limit=count)
            return found.id, [(compaction, await sum_calls(found, compaction)) for compaction in compactions]

    session_id, rows = run_async(act)
    if as_json:
        print_json({"session": session_id, "compactions": [to_document(compaction, cost) for compaction, cost in rows]})
    else:
        print_compactions(rows)


async def _find_start(session: Session, count: int) -> int:
    """The ordinal before the newest so many compactions; held ones come after those that are in force."""
    state = await session.inspect.state()
    return max(state.compactions_count + len(state.pending_compactions) - count, 0)
