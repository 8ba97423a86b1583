"""`everfold topics`: what dreams made of many items."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from everfold.cli.engine import open_memory, run_async
from everfold.cli.options import Db, Json, KnownBy, Owner
from everfold.cli.output import open_console, plain, print_json, print_table
from everfold.core.topics import Topic
from everfold.errors import NotFoundError

NAME = "topics"


def run(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this topic whole; all in short when left out.")
    ] = None,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the topics of a user's memory, or show one whole with the items that it was made of.

    Examples:
    - `everfold topics --user ilse --db everfold.db`
    - `everfold topics kiln --user ilse --json`
    """

    async def act() -> list[Topic]:
        async with open_memory(context, db, user, agent) as memory:
            return _choose(await memory.topics(), name)

    topics = run_async(act)
    if as_json:
        print_json({"topics": [_to_document(it) for it in topics]})
    elif name is None:
        print_table(
            ("topic", "tier", "in short", "updated", "until"),
            [(it.name, it.tier, it.summary, f"{it.updated_at:%Y-%m-%d}", _end(it)) for it in topics],
        )
    else:
        _print_whole(topics)


def _choose(topics: list[Topic], name: str | None) -> list[Topic]:
    """All topics, or those with a name: one of each tier and agent."""
    found = [it for it in topics if name is None or it.name == name]
    if not found and name is not None:
        known = ", ".join(dict.fromkeys(it.name for it in topics)) or "none yet; dreams make them"
        raise NotFoundError(f"there is no topic {name!r}; there are: {known}", topic=name)
    return found


def _print_whole(topics: Sequence[Topic]) -> None:
    console = open_console()
    for topic in topics:
        facts = f"{topic.tier}, revision {topic.revision}, {topic.updated_at:%Y-%m-%d %H:%M}"
        console.print(Text(topic.name, style="bold"), Text(facts, style="dim"))
        console.print(Text(plain(topic.summary)), soft_wrap=True)
        console.print(Text(plain(topic.content)), soft_wrap=True)
        console.print(Text(f"made of {', '.join(topic.sources) or 'no items'}", style="dim"), soft_wrap=True)
        console.print()


def _end(topic: Topic) -> str:
    return "" if topic.expires_at is None else f"{topic.expires_at:%Y-%m-%d}"


def _to_document(topic: Topic) -> dict[str, object]:
    return {
        "id": topic.id,
        "name": topic.name,
        "tier": topic.tier,
        "agent": topic.agent_id,
        "summary": topic.summary,
        "content": topic.content,
        "sources": topic.sources,
        "origin": topic.origin,
        "updated_at": topic.updated_at,
        "expires_at": topic.expires_at,
        "revision": topic.revision,
        "dream": topic.dream_id,
    }
