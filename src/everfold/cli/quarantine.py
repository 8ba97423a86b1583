"""`everfold quarantine`: what a scan held back."""

from typing import Annotated

import typer

from everfold.cli.engine import open_memory, run_async
from everfold.cli.item_rows import print_items, to_document
from everfold.cli.options import Db, Json, KnownBy, Owner
from everfold.cli.output import print_json
from everfold.core.items import Item

NAME = "quarantine"


def run(
    context: typer.Context,
    user: Owner = "default",
    agent: KnownBy = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List the items that a scan held back, with what it found. No model is ever shown them.

    `everfold memory edit` gives one words that hold no threat, and it is active again; `everfold memory forget` erases it.

    Examples:
    - `everfold quarantine --user ilse --db everfold.db`
    - `everfold quarantine --json`
    """

    async def act() -> list[Item]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.quarantine(limit=count)

    items = run_async(act)
    print_json({"items": [to_document(item) for item in items]}) if as_json else print_items(items)
