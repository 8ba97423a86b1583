"""`everfold retry`: have the digest of a degraded compaction written again."""

import typer

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import CompactionArgument, Db, Json
from everfold.cli.tables.compaction_rows import CompactionCost, print_compactions, sum_calls, to_document
from everfold.cli.tables.output import print_json
from everfold.core.compaction.record import Compaction

NAME = "retry"


def run(context: typer.Context, compaction: CompactionArgument, db: Db = None, *, as_json: Json = False) -> None:
    """Write the digest of a degraded compaction again, with the model. It replaces the extractive digest.

    Exits with 1 if the retry fails. A model must be configured: `compaction.model` or `model.name`.

    Examples:
    - `everfold retry evt_01 --db everfold.db`
    - `EVERFOLD_COMPACTION__MODEL=openai:gpt-5 everfold retry evt_01 --json`
    """

    async def act() -> tuple[Compaction, CompactionCost]:
        async with open_engine(context, db) as engine:
            session = await engine.session(id=(await engine.admin.get_compaction(compaction)).session_id)
            tried = await session.inspect.retry(compaction)
            return tried, await sum_calls(session, tried)

    tried, cost = run_async(act)
    print_json(to_document(tried, cost)) if as_json else print_compactions([(tried, cost)])
    if tried.state != "done":
        raise typer.Exit(1)
