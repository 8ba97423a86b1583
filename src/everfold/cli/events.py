"""`everfold events`: what became of each compaction of a session."""

from typing import Annotated

import typer

from everfold.cli.engine import choose_session, open_engine, run_async
from everfold.cli.event_rows import EventCost, print_events, sum_calls, to_document
from everfold.cli.options import Agent, Db, Json, SessionArgument, User
from everfold.cli.output import print_json
from everfold.core.events import CompactionEvent
from everfold.session import Session

NAME = "events"


def run(
    context: typer.Context,
    session: SessionArgument = None,
    after: Annotated[
        int | None, typer.Option(metavar="ORDINAL", min=0, help="Those after this one; the newest when left out.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 50,
    user: User = "default",
    agent: Agent = "default",
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the compactions of a session: why each was begun, what it did, how far it is, and what it cost.

    Those that something is still to come for are marked as waiting.

    Examples:
    - `everfold events --db everfold.db`
    - `everfold events ses_01 --after 40 -n 10 --json`
    """

    async def act() -> tuple[str, list[tuple[CompactionEvent, EventCost]]]:
        async with open_engine(context, db) as engine:
            found = await choose_session(engine, session, user=user, agent=agent)
            start = await _find_start(found, count) if after is None else after
            events = await found.events(after_ordinal=start, limit=count)
            return found.id, [(event, await sum_calls(found, event)) for event in events]

    session_id, rows = run_async(act)
    if as_json:
        print_json({"session": session_id, "events": [to_document(event, cost) for event, cost in rows]})
    else:
        print_events(rows)


async def _find_start(session: Session, count: int) -> int:
    """The ordinal before the newest so many events; held ones come after those that are in force."""
    state = await session.state()
    return max(state.events_count + len(state.held_events) - count, 0)
