"""`everfold search`: find messages in history."""

from collections.abc import Sequence
from typing import Annotated, cast, get_args

import typer
from rich.text import Text

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import AnyAgent, Db, Json, Session, User, parse_moment
from everfold.cli.tables.output import open_console, plain, print_json
from everfold.cli.tables.shown import ROLE_STYLE
from everfold.core.log.messages import Role
from everfold.services.sessions.search import SearchHit

NAME = "search"


def run(  # noqa: PLR0913, PLR0917 - an option is an argument
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words, or a question.")],
    session: Session = None,
    user: User = "default",
    agent: AnyAgent = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=200, help="How many, at most.")] = 10,
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role", metavar="ROLE", help=f"Only messages in this role: {', '.join(get_args(Role))}. May be repeated."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only messages said then or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Only messages said before then.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Find the messages that answer a question, best first, with the session and sequence number of each.

    Examples:
    - `everfold search "what is the launch date" --db everfold.db`
    - `everfold search OST-5590-L --session ses_01 -n 3 --json`
    - `everfold search "launch date" --role user --since 2031-05-01 --until 2031-06-01`
    """
    roles = cast("Sequence[Role]", role or ())  # what is no role is refused by the search
    moments = {"since": parse_moment("--since", since), "until": parse_moment("--until", until)}

    async def act() -> list[SearchHit]:
        async with open_engine(context, db) as engine:
            if session is not None:
                return await (await engine.session(id=session)).search(question, limit=count, roles=roles, **moments)
            return await engine.search(question, user=user, agent=agent, limit=count, roles=roles, **moments)

    hits = run_async(act)
    print_json({"question": question, "hits": hits}) if as_json else _print_hits(hits)


def _print_hits(hits: list[SearchHit]) -> None:
    console = open_console()
    for hit in hits:
        head = Text(f"{hit.seq} {hit.speaker or hit.role}", style=ROLE_STYLE[hit.role])
        console.print(head, Text(f"{hit.said_at:%Y-%m-%d %H:%M}  {hit.session}  score {hit.score:.2f}", style="dim"))
        console.print(_excerpt(hit), soft_wrap=True)
        console.print()
    if not hits:
        console.print("nothing found")


def _excerpt(hit: SearchHit) -> Text:
    text, position = Text(), 0
    for start, end in hit.matches:
        text.append(plain(hit.excerpt[position:start]))
        text.append(plain(hit.excerpt[start:end]), style="bold underline")
        position = end
    text.append(plain(hit.excerpt[position:]))
    return text
