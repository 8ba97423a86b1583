"""`everfold memory`: what is known of a user, where it is from, and how it is put right."""

from typing import Annotated, Literal, get_args

import typer

from everfold.cli.opening.engine import ask_memory
from everfold.cli.opening.options import Db, ExpectedRevision, ItemArgument, Json, KnownBy, Owner, parse_moment
from everfold.cli.tables.item_rows import (
    explain_document,
    print_because,
    print_items,
    print_revisions,
    show_item,
    to_document,
)
from everfold.cli.tables.output import open_console, print_json
from everfold.core.memory.items import ItemKind, ItemStatus, Tier

NAME = "memory"

app = typer.Typer(name=NAME, no_args_is_help=True)
Status = Literal["active", "superseded", "expired", "quarantined", "erased", "all"]
_ALL: tuple[ItemStatus, ...] = get_args(ItemStatus)
_Statement = Annotated[
    str, typer.Argument(metavar="TEXT", help="One or two sentences that can be understood without context.")
]


@app.callback()
def run() -> None:
    """Read and change the memory items of a user. Each item is a statement with its source messages.

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
        Status, typer.Option(metavar="STATUS", help=f"{', '.join(get_args(Status))}; models see only active items.")
    ] = "active",
    after: Annotated[str | None, typer.Option(metavar="ID", help="Continue after this item.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List items, the oldest first.

    Examples:
    - `everfold memory list --db everfold.db`
    - `everfold memory list --user ilse --agent shop --status all --json`
    """
    statuses: tuple[ItemStatus, ...] = _ALL if status == "all" else (status,)
    items = ask_memory(
        context, db, user, lambda memory: memory.items(statuses=statuses, after=after, limit=count), agent=agent
    )
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
    """Show every revision of an item, oldest first. The last one is current.

    Examples:
    - `everfold memory show itm_01 --db everfold.db`
    - `everfold memory show itm_01 --user ilse --json`
    """
    found = ask_memory(context, db, user, lambda memory: memory.item(item), agent=agent)
    print_json({"item": item, "revisions": [to_document(it) for it in found]}) if as_json else print_revisions(found)


@app.command()
def add(
    context: typer.Context,
    text: _Statement,
    tier: Annotated[
        Tier, typer.Option(metavar="user|agent", help="About the person (user), or the agent's own note (agent).")
    ] = "user",
    kind: Annotated[ItemKind, typer.Option(metavar="KIND", help=", ".join(get_args(ItemKind)) + ".")] = "fact",
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The time until which it is valid: 2031-05-01.")
    ] = None,
    user: Owner = "default",
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent of the note.")] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Add an item, word for word. If an equal item exists, evidence is added to it instead.

    Examples:
    - `everfold memory add "Deliveries come through the back door." --user ilse --db everfold.db`
    - `everfold memory add "Is away." --until 2031-05-01 --json`
    - `everfold memory add "The tests need the database to be up." --tier agent --agent shop --user ilse`
    """
    ends_at = parse_moment("--until", until)
    item = ask_memory(
        context,
        db,
        user,
        lambda memory: memory.add(text, tier=tier, kind=kind, valid_to=ends_at),
        agent=agent,
        must_exist=False,
    )
    show_item(item, as_json=as_json)


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
    """Change the statement of an item. The former statement stays as a revision, and the evidence stays.

    Examples:
    - `everfold memory edit itm_01 "The kiln is fired on Thursdays." --user ilse --db everfold.db`
    - `everfold memory edit itm_01 "Prefers tea." --revision 2 --json`
    """
    show_item(
        ask_memory(context, db, user, lambda memory: memory.edit(item, text, expected_revision=revision), agent=agent),
        as_json=as_json,
    )


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
    """Erase an item with all its revisions. Its id and its source messages stay.

    Examples:
    - `everfold memory forget itm_01 --user ilse --db everfold.db`
    - `everfold memory forget itm_01 --revision 1 --json`
    """
    show_item(
        ask_memory(context, db, user, lambda memory: memory.forget(item, expected_revision=revision), agent=agent),
        as_json=as_json,
    )


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
    """Undo the last change of an item and of the items that changed with it.

    Examples:
    - `everfold memory undo itm_02 --user ilse --db everfold.db`
    - `everfold memory undo itm_02 --json`
    """
    items = ask_memory(context, db, user, lambda memory: memory.undo(item, expected_revision=revision), agent=agent)
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
    """Show the source messages of an item and of the items it replaced, oldest first. The quotes are marked.

    Examples:
    - `everfold memory why itm_02 --user ilse --db everfold.db`
    - `everfold memory why itm_02 --json`
    """
    found = ask_memory(context, db, user, lambda memory: memory.why(item), agent=agent)
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
    hits = ask_memory(context, db, user, lambda memory: memory.search(question, limit=count), agent=agent)
    if as_json:
        print_json(
            {"question": question, "hits": [{"score": hit.score, "item": to_document(hit.item)} for hit in hits]}
        )
    elif hits:
        print_items([hit.item for hit in hits])
    else:
        open_console().print("nothing found")
