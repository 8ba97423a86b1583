"""`everfold topics`: what dreams made of many items."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from everfold.cli.opening.engine import open_memory, run_async
from everfold.cli.opening.options import Db, Json, KnownBy, Owner
from everfold.cli.tables.output import open_console, plain, print_json, print_table
from everfold.core.memory.topics import Topic

NAME = "topics"


def run(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this topic in full. Default: list all topics.")
    ] = None,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the topics of a user's memory, or show every revision of one topic and its items.

    Examples:
    - `everfold topics --user ilse --db everfold.db`
    - `everfold topics kiln --user ilse --json`
    """

    async def act() -> list[Topic]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.topics() if name is None else await memory.topic_history(name)

    topics = run_async(act)
    if as_json:
        print_json({"topics" if name is None else "revisions": [_to_document(it) for it in topics]})
    elif name is None:
        print_table(
            ("topic", "tier", "in short", "updated", "until"),
            [(it.name, it.tier, it.summary, f"{it.updated_at:%Y-%m-%d}", _end(it)) for it in topics],
        )
    else:
        _print_whole(topics)


def _print_whole(topics: Sequence[Topic]) -> None:
    console = open_console()
    for topic in topics:
        facts = f"{topic.tier}, revision {topic.revision}, {topic.updated_at:%Y-%m-%d %H:%M}, {topic.status}"
        console.print(Text(topic.name, style="bold"), Text(facts, style="dim"))
        console.print(Text(plain(topic.summary)), soft_wrap=True)
        console.print(Text(plain(topic.content)), soft_wrap=True)
        console.print(Text(f"made from {len(topic.sources)} items", style="dim"))
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
        "status": topic.status,
        "dream": topic.dream_id,
    }
