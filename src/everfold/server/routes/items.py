"""Items: what memory keeps, one statement each, and how a person puts it right."""

from functools import partial
from typing import get_args

from fastapi import Response

from everfold.core.items import ItemStatus
from everfold.memory import Memory
from everfold.server.access import AnyKey, OfMemory
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.queries import AgentQuery, ItemText, KindQuery, StatusQuery, TextQuery, TierQuery
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routing import make_router
from everfold.server.shapes.items import (
    ItemChange,
    ItemHistory,
    ItemPageShape,
    Items,
    ItemShape,
    NewItem,
    Reasons,
    show_history,
    show_item,
    show_items,
    show_page,
    show_reasons,
)

router = make_router("items")


@router.get("/api/users/{user}/items")
async def list_items(
    memory: OfMemory,
    status: StatusQuery = "active",
    kind: KindQuery = None,
    tier: TierQuery = None,
    agent: AgentQuery = None,
    q: TextQuery = "",
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ItemPageShape:
    """List items, by default active ones in the order in which memory first had them."""
    statuses: tuple[ItemStatus, ...] = get_args(ItemStatus) if status == "all" else (status,)
    page = await memory.find_items(q, statuses=statuses, kind=kind, tier=tier, agent=agent, after=cursor, limit=limit)
    return show_page(page)


@router.post("/api/users/{user}/items", status_code=201)
async def add_item(memory: OfMemory, caller: AnyKey, new: NewItem, response: Response) -> ItemShape:
    """Have something remembered, word for word; what says the same already is only seen again."""
    item = await memory.add(
        new.statement, kind=new.kind, tier=new.tier, agent=new.agent, valid_to=new.valid_to, actor=caller.actor
    )
    response.headers["Location"] = f"/api/users/{memory.user_id}/items/{item.id}"
    tag(response, item.revision)
    return show_item(item)


@router.get("/api/users/{user}/items/{item}", responses=TAGGED)
async def read_item(memory: OfMemory, item: ItemText, response: Response) -> ItemHistory:
    """Read one item with all its revisions."""
    revisions = await memory.item(item)
    tag(response, revisions[-1].revision)
    return show_history(revisions)


@router.patch("/api/users/{user}/items/{item}", responses=TAGGED)
async def edit_item(
    memory: OfMemory,
    caller: AnyKey,
    item: ItemText,
    change: ItemChange,
    expected: ExpectedRevision,
    response: Response,
) -> ItemShape:
    """Give an item another statement; its evidence stays."""
    async with told_race(expected, partial(read_now, memory, item)):
        edited = await memory.edit(item, change.statement, expected_revision=expected, actor=caller.actor)
    tag(response, edited.revision)
    return show_item(edited)


@router.delete("/api/users/{user}/items/{item}")
async def erase_item(memory: OfMemory, caller: AnyKey, item: ItemText, expected: ExpectedRevision) -> ItemShape:
    """Erase an item with all its revisions, out of topics and dreams too; the messages that said it stay."""
    async with told_race(expected, partial(read_now, memory, item)):
        return show_item(await memory.forget(item, expected_revision=expected, actor=caller.actor))


@router.post("/api/users/{user}/items/{item}/undo", responses=TAGGED)
async def undo_item(
    memory: OfMemory, caller: AnyKey, item: ItemText, expected: ExpectedRevision, response: Response
) -> Items:
    """Take back the last change of an item, with what changed beside it; the item comes first."""
    async with told_race(expected, partial(read_now, memory, item)):
        undone = await memory.undo(item, expected_revision=expected, actor=caller.actor)
    tag(response, undone[0].revision)
    return show_items(undone)


@router.get("/api/users/{user}/items/{item}/why")
async def explain_item(memory: OfMemory, item: ItemText) -> Reasons:
    """Read the exact messages behind an item, oldest first; those of what it replaced too."""
    return show_reasons(await memory.why(item))


async def read_now(memory: Memory, item: str) -> tuple[int, ItemShape]:
    """An item as it is now, and its revision."""
    newest = (await memory.item(item))[-1]
    return newest.revision, show_item(newest)
