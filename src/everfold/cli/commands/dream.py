"""`everfold dream`: consolidate now what was found, instead of when the user is away."""

import typer

from everfold.cli.opening.engine import open_memory, run_async
from everfold.cli.opening.options import Agent, Db, Json, Owner
from everfold.cli.tables.dream_rows import ShownDream, read_dream, show_dreams
from everfold.cli.tables.output import say

NAME = "dream"


def run(
    context: typer.Context, user: Owner = "default", agent: Agent = "default", db: Db = None, *, as_json: Json = False
) -> None:
    """Run a dream now: update topics with the items that are new since the last dream, and show the changes.

    With `memory.review`, the dream is only proposed; `everfold dreams approve` applies it. The agent must use structured
    memory.

    Examples:
    - `everfold dream --user ilse --agent shop --db everfold.db`
    - `everfold dream --user ilse --agent shop --json`
    """

    async def act() -> list[ShownDream]:
        async with open_memory(context, db, user, agent) as memory:
            dreamt = await memory.dream()
            return [] if dreamt is None else [await read_dream(memory, dreamt)]

    dreams = run_async(act)
    if not dreams:
        say("no dream: there are no new items, another dream waits for approval, or the agent has no structured memory")
    if dreams or as_json:
        show_dreams(dreams, as_json=as_json)
