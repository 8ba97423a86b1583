"""`everfold sessions`: list sessions."""

from collections.abc import Mapping
from typing import Annotated

import typer

from everfold.admin import BrowsedSession
from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import AnyAgent, AnyUser, Db, Json, parse_moment
from everfold.cli.tables.output import print_json, print_table
from everfold.core.primitives.ids import UserId
from everfold.engine import Everfold

NAME = "sessions"
COLUMNS = (
    "session",
    "title",
    "user",
    "agent",
    "messages",
    "folds",
    "limit",
    "by",
    "created",
    "current",
    "session key",
)


def run(  # noqa: PLR0913 - an option is an argument
    context: typer.Context,
    user: AnyUser = None,
    agent: AnyAgent = None,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Continue after this session.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Only sessions with a stored title that contains this text."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only sessions created then or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Only sessions created before then.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List sessions in the order of their creation.

    Examples:
    - `everfold sessions --db everfold.db`
    - `everfold sessions --user ilse --json`
    - `everfold sessions --title berths --since 2031-05-01`
    """
    only = {"since": parse_moment("--since", since), "until": parse_moment("--until", until)}

    async def act() -> list[dict[str, object]]:
        async with open_engine(context, db) as engine:
            listed = await engine.admin.browse_sessions(
                user=user,
                agent=agent,
                after=after,
                limit=count,
                newest_first=False,
                words=True,
                title=title or "",
                **only,
            )
            names = await _name_users(engine, {one.record.user_id for one in listed})
            return [await _describe(engine, one, names) for one in listed]

    rows = run_async(act)
    if as_json:
        print_json({"sessions": rows})
    else:
        print_table(COLUMNS, [[_cell(value) for key, value in row.items() if key != "user_id"] for row in rows])


async def _name_users(engine: Everfold, user_ids: set[UserId]) -> dict[UserId, str]:
    """What a person reads for each user."""
    return {user_id: (await engine.get_user(user_id)).shown_name for user_id in user_ids}


async def _describe(engine: Everfold, listed: BrowsedSession, names: Mapping[UserId, str]) -> dict[str, object]:
    record = listed.record
    state = await (await engine.session(id=record.id)).inspect.state()
    return {
        "id": record.id,
        "title": listed.words.title if listed.words else record.title,
        "user": names[record.user_id],
        "user_id": record.user_id,
        "agent": record.agent_id,
        "messages_count": state.last_seq,
        "compactions_count": state.compactions_count,
        "limit_tokens": record.settings.limit_tokens,
        "started_by": record.started_by,
        "created_at": f"{record.created_at:%Y-%m-%d %H:%M}",
        "is_current": record.is_current,
        "session_key": record.session_key,
    }


def _cell(value: object) -> str | int:
    if isinstance(value, bool):
        return "yes" if value else ""
    return value if isinstance(value, int) else str(value)
