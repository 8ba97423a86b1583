"""`everfold quarantine`: what a scan held back."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import ask_memory
from everfold.cli.opening.options import Db, ExpectedRevision, ItemArgument, Json, KnownBy, Owner
from everfold.cli.tables.item_rows import print_items, show_item, to_document
from everfold.cli.tables.output import print_json

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
    """List the items in quarantine and the findings of the scan. No model sees these items.

    `everfold quarantine release` makes an item active unchanged. `everfold memory edit` rewords it, and the item becomes
    active if the scan then finds nothing. `everfold memory forget` erases it.

    Examples:
    - `everfold quarantine --user ilse --db everfold.db`
    - `everfold quarantine --json`
    """
    if context.invoked_subcommand is not None:
        return
    items = ask_memory(context, db, user, lambda memory: memory.quarantine(limit=count), agent=agent)
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
    """Release an item from quarantine after you have read it. It becomes active, and the same words pass later scans.

    Examples:
    - `everfold quarantine release itm_1 --user ilse --db everfold.db`
    - `everfold quarantine release itm_1 --revision 2 --json`
    """
    show_item(
        ask_memory(context, db, user, lambda memory: memory.release(item, expected_revision=revision)), as_json=as_json
    )
