"""`everfold quarantine`: what a scan held back."""

from typing import Annotated

import typer

from everfold.cli.engine import open_memory, run_async
from everfold.cli.item_rows import print_items, show_item, to_document
from everfold.cli.options import Db, ExpectedRevision, ItemArgument, Json, KnownBy, Owner
from everfold.cli.output import print_json
from everfold.core.items import Item

app = typer.Typer(name="quarantine")


@app.callback(invoke_without_command=True)
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

    `everfold quarantine release` lets one pass as it is; `everfold memory edit` gives one words that hold no threat, and it
    is active again; `everfold memory forget` erases it.

    Examples:
    - `everfold quarantine --user ilse --db everfold.db`
    - `everfold quarantine --json`
    """
    if context.invoked_subcommand is not None:
        return

    async def act() -> list[Item]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.quarantine(limit=count)

    items = run_async(act)
    print_json({"items": [to_document(item) for item in items]}) if as_json else print_items(items)


@app.command()
def release(
    context: typer.Context,
    item: ItemArgument,
    user: Owner = "default",
    revision: ExpectedRevision = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Let an item out of quarantine after you have read it: it is active, and these words are not held back again.

    Examples:
    - `everfold quarantine release itm_1 --user ilse --db everfold.db`
    - `everfold quarantine release itm_1 --revision 2 --json`
    """

    async def act() -> Item:
        async with open_memory(context, db, user) as memory:
            return await memory.release(item, expected_revision=revision)

    show_item(run_async(act), as_json=as_json)
