"""`everfold search`: find messages in history."""

from typing import Annotated

import typer
from rich.text import Text

from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import AnyAgent, Db, Json, Session, User
from everfold.cli.tables.output import open_console, plain, print_json
from everfold.cli.tables.shown import ROLE_STYLE
from everfold.services.sessions.search import SearchHit

NAME = "search"


def run(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words, or a question.")],
    session: Session = None,
    user: User = "default",
    agent: AnyAgent = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=200, help="How many, at most.")] = 10,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Find the messages that answer a question, best first, with the session and sequence number of each.

    Examples:
    - `everfold search "what is the launch date" --db everfold.db`
    - `everfold search OST-5590-L --session ses_01 -n 3 --json`
    """

    async def act() -> list[SearchHit]:
        async with open_engine(context, db) as engine:
            if session is not None:
                return await (await engine.session(id=session)).search(question, limit=count)
            return await engine.search(question, user=user, agent=agent, limit=count)

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
