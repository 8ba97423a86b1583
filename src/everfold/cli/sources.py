"""`everfold sources`: which context sources there are, and what one of them says now."""

import difflib
from datetime import datetime, timedelta
from typing import Annotated

import typer

from everfold.adapters.system.clock import SystemClock
from everfold.bootstrap import open_source
from everfold.cli.engine import choose_session, invocation_of, open_engine, run_async
from everfold.cli.options import AnyAgent, AnyUser, Db, Json, parse_moment
from everfold.cli.output import print_json
from everfold.cli.source_rows import list_document, list_sources, print_sources, print_tried, tried_document
from everfold.config import Settings, load_settings
from everfold.core.calibration import Calibration
from everfold.core.refreshing import Question, find_cap, share_cap
from everfold.core.room import share_room
from everfold.errors import InvalidInputError
from everfold.services.try_source import Tried, try_source

NAME = "sources"
DAY_HOURS = 24.0

app = typer.Typer(name=NAME, no_args_is_help=True)


@app.callback()
def run() -> None:
    """See which context sources there are, and try one.

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

    With --user or --agent each comes with the moment from which it is asked next in their current session: up to when it has
    answered, or when it was to be asked first. No source is asked.

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
                return dict((await session.state()).answered)

        asked_from = run_async(act)
    if as_json:
        print_json({"sources": [list_document(it, asked_from) for it in sources]})
    else:
        print_sources(sources, asked_from)


@app.command(name="test")
def try_one(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in `[sources.NAME]`, allowed or not.")],
    begin: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="From when on: 2031-05-01T09:30, in UTC.")
    ] = None,
    hours: Annotated[float, typer.Option("--hours", metavar="N", min=0, help="How far back instead.")] = DAY_HOURS,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", min=1, help="How long it may be; its share when left out."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Ask one source now, and show what a model would see of it, what that costs and how long it took.

    Nothing is stored, and no database is opened. The marks of the fence are others in each session.

    Examples:
    - `everfold sources test work`
    - `everfold sources test inbox --from 2031-05-01 --budget 400 --json`
    """
    settings = load_settings(invocation_of(context).config)
    now = SystemClock().now()
    from_at = min(parse_moment("--from", begin) or now - timedelta(hours=hours), now)

    async def act() -> Tried:
        source = open_source(name, settings.sources[_find_name(settings, name)])
        question = Question(
            source=source.name,
            prompt=_find_prompt(settings, name),
            from_at=from_at,
            to_at=now,
            budget_tokens=budget or _find_share(settings, name),
        )
        return await try_source(source, question, at=now, timeout_secs=settings.compaction.source_timeout_secs)

    tried = run_async(act)
    print_json(tried_document(tried)) if as_json else print_tried(tried)


def _find_name(settings: Settings, name: str) -> str:
    """The name, where the settings have it.

    Raises:
        InvalidInputError: they do not; names the nearest that they have.
    """
    if name in settings.sources:
        return name
    if name in {entry.hand for entry in settings.compaction.context_sources}:
        raise InvalidInputError(f"{name!r} is a hand, not a [sources.NAME]; `everfold refresh` asks it with the others")
    near = difflib.get_close_matches(name, list(settings.sources), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`everfold sources list` lists those that there are"
    raise InvalidInputError(f"there is no source {name!r}; {hint}")


def _find_prompt(settings: Settings, name: str) -> str:
    return next((entry.prompt for entry in settings.compaction.context_sources if entry.source == name), "")


def _find_share(settings: Settings, name: str) -> int:
    """What one source may say in a new session, were it and all the allowed ones asked."""
    compaction, session = settings.compaction, settings.session_settings()
    room = share_room(session.limit_tokens, session.policy, calibration=Calibration())
    cap_tokens = find_cap(compaction.context_token_cap, room)
    asked = {entry.source or f"hand {entry.hand}" for entry in compaction.context_sources} | {name}
    return share_cap(cap_tokens, compaction.source_floor_tokens, len(asked))
