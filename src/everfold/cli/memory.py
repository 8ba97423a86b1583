"""`everfold memory`: what is known of a user, where it is from, and how it is put right."""

from typing import Annotated, Literal, get_args

import typer

from everfold.cli.engine import open_memory, run_async
from everfold.cli.item_rows import (
    explain_document,
    print_because,
    print_items,
    print_revisions,
    show_item,
    to_document,
)
from everfold.cli.options import Db, ExpectedRevision, ItemArgument, Json, KnownBy, Owner, parse_moment
from everfold.cli.output import open_console, print_json
from everfold.core.items import Item, ItemKind, ItemStatus, Tier
from everfold.memory import Because

NAME = "memory"

app = typer.Typer(name=NAME, no_args_is_help=True)
Status = Literal["active", "superseded", "expired", "quarantined", "erased", "all"]
_ALL: tuple[ItemStatus, ...] = get_args(ItemStatus)
_Statement = Annotated[str, typer.Argument(metavar="TEXT", help="One or two sentences that can be understood alone.")]


@app.callback()
def run() -> None:
    """Read and change what is known of a user: single statements, each with the messages that it comes from.

    Examples:
    - `everfold memory list --user ilse --db everfold.db`
    - `everfold memory why itm_01 --user ilse --json`
    """


@app.command(name="list")
def list_items(
    context: typer.Context,
    user: Owner = "default",
    agent: KnownBy = None,
    status: Annotated[
        Status, typer.Option(metavar="STATUS", help=f"{', '.join(get_args(Status))}; active ones are shown to a model.")
    ] = "active",
    after: Annotated[str | None, typer.Option(metavar="ID", help="Go on after this item.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List what is known, in the order in which memory first had it.

    Examples:
    - `everfold memory list --db everfold.db`
    - `everfold memory list --user ilse --agent shop --status all --json`
    """
    statuses: tuple[ItemStatus, ...] = _ALL if status == "all" else (status,)

    async def act() -> list[Item]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.items(statuses=statuses, after=after, limit=count)

    items = run_async(act)
    print_json({"items": [to_document(item) for item in items]}) if as_json else print_items(items)


@app.command()
def show(
    context: typer.Context,
    item: ItemArgument,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Show every revision of an item, oldest first; the last is what it is now.

    Examples:
    - `everfold memory show itm_01 --db everfold.db`
    - `everfold memory show itm_01 --user ilse --json`
    """

    async def act() -> list[Item]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.item(item)

    found = run_async(act)
    print_json({"item": item, "revisions": [to_document(it) for it in found]}) if as_json else print_revisions(found)


@app.command()
def add(
    context: typer.Context,
    text: _Statement,
    tier: Annotated[
        Tier, typer.Option(metavar="user|agent", help="About the person, or a note of --agent's own about its work.")
    ] = "user",
    kind: Annotated[ItemKind, typer.Option(metavar="KIND", help=", ".join(get_args(ItemKind)) + ".")] = "fact",
    until: Annotated[str | None, typer.Option(metavar="DATE", help="When it ceases to be so: 2031-05-01.")] = None,
    user: Owner = "default",
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Whose note it is.")] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Enter something that is to be remembered, word for word. What says the same already is only seen again.

    Examples:
    - `everfold memory add "Deliveries come through the back door." --user ilse --db everfold.db`
    - `everfold memory add "Is away." --until 2031-05-01 --json`
    - `everfold memory add "The tests need the database to be up." --tier agent --agent shop --user ilse`
    """
    ends_at = parse_moment("--until", until)

    async def act() -> Item:
        async with open_memory(context, db, user, agent, must_exist=False) as memory:
            return await memory.add(text, tier=tier, kind=kind, valid_to=ends_at)

    show_item(run_async(act), as_json=as_json)


@app.command()
def edit(
    context: typer.Context,
    item: ItemArgument,
    text: _Statement,
    revision: ExpectedRevision = None,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Give an item another statement. What it said before stays as a revision, and its evidence stays.

    Examples:
    - `everfold memory edit itm_01 "The kiln is fired on Thursdays." --user ilse --db everfold.db`
    - `everfold memory edit itm_01 "Prefers tea." --revision 2 --json`
    """

    async def act() -> Item:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.edit(item, text, expected_revision=revision)

    show_item(run_async(act), as_json=as_json)


@app.command()
def forget(
    context: typer.Context,
    item: ItemArgument,
    revision: ExpectedRevision = None,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Erase an item with all its revisions; only its id stays. The messages that it comes from stay too.

    Examples:
    - `everfold memory forget itm_01 --user ilse --db everfold.db`
    - `everfold memory forget itm_01 --revision 1 --json`
    """

    async def act() -> Item:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.forget(item, expected_revision=revision)

    show_item(run_async(act), as_json=as_json)


@app.command()
def undo(
    context: typer.Context,
    item: ItemArgument,
    revision: ExpectedRevision = None,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Take back the last change of an item, and of those that changed with it; what it replaced holds again.

    Examples:
    - `everfold memory undo itm_02 --user ilse --db everfold.db`
    - `everfold memory undo itm_02 --json`
    """

    async def act() -> list[Item]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.undo(item, expected_revision=revision)

    items = run_async(act)
    print_json({"items": [to_document(it) for it in items]}) if as_json else print_items(items)


@app.command()
def why(
    context: typer.Context,
    item: ItemArgument,
    user: Owner = "default",
    agent: KnownBy = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Show the exact messages behind an item, oldest first, those of what it replaced too. The quote is marked.

    Examples:
    - `everfold memory why itm_02 --user ilse --db everfold.db`
    - `everfold memory why itm_02 --json`
    """

    async def act() -> list[Because]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.why(item)

    found = run_async(act)
    print_json({"item": item, "because": [explain_document(it) for it in found]}) if as_json else print_because(found)


@app.command()
def search(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words, or a question.")],
    user: Owner = "default",
    agent: KnownBy = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many, at most.")] = 10,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Find the active items that share words with a question, best first, archived ones too.

    Examples:
    - `everfold memory search "when is the kiln fired" --user ilse --db everfold.db`
    - `everfold memory search kiln -n 3 --json`
    """

    async def act() -> list[tuple[Item, float]]:
        async with open_memory(context, db, user, agent) as memory:
            return await memory.search(question, limit=count)

    hits = run_async(act)
    if as_json:
        print_json({"question": question, "hits": [{"score": score, "item": to_document(it)} for it, score in hits]})
    elif hits:
        print_items([it for it, _ in hits])
    else:
        open_console().print("nothing found")
