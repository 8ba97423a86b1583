"""`everfold retry`: have a degraded event's digest written again."""

import typer

from everfold.cli.engine import open_engine, run_async
from everfold.cli.event_rows import EventCost, print_events, sum_calls, to_document
from everfold.cli.options import Db, EventArgument, Json
from everfold.cli.output import print_json
from everfold.core.events import CompactionEvent

NAME = "retry"


def run(context: typer.Context, event: EventArgument, db: Db = None, *, as_json: Json = False) -> None:
    """Have a model write the digest of a degraded compaction again, now. It takes the place of the extractive one.

    Ends with 1 when that failed again. `compaction.model` says which model; without one there is nothing to retry with.

    Examples:
    - `everfold retry evt_01 --db everfold.db`
    - `EVERFOLD_COMPACTION__MODEL=openai:gpt-5 everfold retry evt_01 --json`
    """

    async def act() -> tuple[CompactionEvent, EventCost]:
        async with open_engine(context, db) as engine:
            session = await engine.get_session((await engine.get_event(event)).session_id)
            tried = await session.retry(event)
            return tried, await sum_calls(session, tried)

    tried, cost = run_async(act)
    print_json(to_document(tried, cost)) if as_json else print_events([(tried, cost)])
    if tried.state != "done":
        raise typer.Exit(1)
