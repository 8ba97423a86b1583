"""`everfold show`: read a session's messages, or its window."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import choose_session, open_engine, run_async
from everfold.cli.opening.options import Agent, Db, Json, ProviderOption, SessionArgument, User, parse_range
from everfold.cli.tables.shown import show_messages, show_page, show_window
from everfold.errors import InvalidInputError
from everfold.session import Session

NAME = "show"
NEWEST_COUNT = 20
NEIGHBOURS_COUNT = 3


def run(  # noqa: PLR0913, PLR0917 - an option is an argument
    context: typer.Context,
    session: SessionArgument = None,
    seq: Annotated[str | None, typer.Option(metavar="N|N-M", help="These messages, by sequence number.")] = None,
    around: Annotated[int | None, typer.Option(metavar="N", help="A message with its neighbours.")] = None,
    page: Annotated[int | None, typer.Option(metavar="P", help="One page of the text of --seq N.")] = None,
    limit: Annotated[int | None, typer.Option(metavar="TOKENS", help="With --window: a lower context limit.")] = None,
    provider: ProviderOption = "openai",
    user: User = "default",
    agent: Agent = "default",
    db: Db = None,
    *,
    window: Annotated[bool, typer.Option("--window", help="Show the window: what the model would see next.")] = False,
    as_json: Json = False,
) -> None:
    """Read the newest messages of a session, messages by number, or the window. Nothing is changed.

    Examples:
    - `everfold show --db everfold.db`
    - `everfold show ses_01 --seq 12-20`
    - `everfold show ses_01 --seq 202 --page 2`
    - `everfold show ses_01 --around 143`
    - `everfold show ses_01 --window --limit 8000 --json`
    """
    numbers = parse_range(seq) if seq is not None else None
    if page is not None and numbers is None:
        raise InvalidInputError("--page shows a page of one message; name it with --seq N")

    async def act() -> None:
        async with open_engine(context, db) as engine:
            found = await choose_session(engine, session, user=user, agent=agent)
            if window:
                shown = await found.window(limit=limit, preview=True)
                show_window(shown, as_json=as_json, provider=provider)
            elif page is not None and numbers is not None:
                show_page(await found.read(numbers[0], page=page), as_json=as_json)
            else:
                first, last, mark = await _choose_range(found, numbers, around)
                messages = await found.messages(first, last) if last >= first else []
                show_messages(found.id, messages, as_json=as_json, mark=mark)

    run_async(act)


async def _choose_range(session: Session, numbers: tuple[int, int] | None, around: int | None) -> tuple[int, int, int]:
    """First and last sequence number, and the one that was asked for (0 when it is a range)."""
    if around is not None:
        await session.read(around)  # refuses a message that is not there
        return max(around - NEIGHBOURS_COUNT, 1), around + NEIGHBOURS_COUNT, around
    if numbers is not None:
        if numbers[0] == numbers[1]:
            await session.read(numbers[0])
        return *numbers, 0
    last = (await session.inspect.state()).last_seq
    return max(last - NEWEST_COUNT + 1, 1), last, 0
