"""`everfold sources`: which context sources there are, and what one of them says now."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from everfold.adapters.system.clock import SystemClock
from everfold.agents.described_sources import ask_source, list_sources
from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import AnyAgent, AnyUser, Db, Json, parse_moment
from everfold.cli.tables.output import print_json
from everfold.cli.tables.source_rows import list_document, print_sources, print_tried, tried_document
from everfold.config import load_settings
from everfold.services.compaction.try_source import Tried

NAME = "sources"
DAY_HOURS = 24.0

app = typer.Typer(name=NAME, no_args_is_help=True)


@app.callback()
def run() -> None:
    """List the context sources, and test one.

    Examples:
    - `everfold sources list`
    - `everfold sources test work --hours 48 --json`
    """


@app.command(name="list")
def list_all(
    context: typer.Context,
    user: AnyUser = None,
    agent: AnyAgent = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the context sources of the settings: first those that a refresh asks, in its order.

    With --user or --agent, the list shows where the next time span of each source begins in their current session. No
    source is asked.

    Examples:
    - `everfold sources list`
    - `everfold sources list --user ilse --agent shop --db everfold.db --json`
    """
    sources = list(list_sources(load_settings(invocation_of(context).config)))
    asked_from: dict[str, datetime] = {}
    if user is not None or agent is not None:

        async def act() -> dict[str, datetime]:
            async with open_engine(context, db, settings={"compaction": {"context_sources": ()}}) as engine:
                session = await choose_session(engine, None, user=user or "default", agent=agent or "default")
                return dict((await session.inspect.state()).answered)

        asked_from = run_async(act)
    if as_json:
        print_json({"sources": [list_document(it, asked_from) for it in sources]})
    else:
        print_sources(sources, asked_from)


@app.command(name="test")
def try_one(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The source's name in `[sources.NAME]`, allowed or not.")],
    begin: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="The start of the time span: 2031-05-01T09:30, in UTC.")
    ] = None,
    hours: Annotated[
        float, typer.Option("--hours", metavar="N", min=0, help="The time span in hours, instead of --from.")
    ] = DAY_HOURS,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", metavar="TOKENS", min=1, help="The most tokens of the answer. Default: the source's share."
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Ask one source now, and show its answer as a model would see it, with its tokens and its time.

    Nothing is stored, and no database is opened. The fence marks differ in each session.

    Examples:
    - `everfold sources test work`
    - `everfold sources test inbox --from 2031-05-01 --budget 400 --json`
    """
    settings = load_settings(invocation_of(context).config)
    now = SystemClock().now()
    from_at = parse_moment("--from", begin) or now - timedelta(hours=hours)

    async def act() -> Tried:
        return await ask_source(settings, name, from_at=from_at, now=now, budget_tokens=budget)

    tried = run_async(act)
    print_json(tried_document(tried)) if as_json else print_tried(tried)
