"""Items: what memory keeps, one statement each, and how a person puts it right."""

from functools import partial
from typing import get_args

from fastapi import Response

from everfold.core.memory.items import Item, ItemStatus
from everfold.memory import Memory
from everfold.server.access import AnyKey, OfMemory
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.queries import AgentQuery, ItemText, KindQuery, StatusQuery, TextQuery, TierQuery
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.items import (
    ItemChange,
    ItemHistorySchema,
    ItemPageSchema,
    ItemRevisions,
    ItemSchema,
    ItemsSchema,
    NewItem,
    ReasonsSchema,
)
from everfold.server.schemas.schema import Schema
from everfold.services.memory.list_items import ItemPage

router = make_router("items")


@router.get("/api/users/{user}/items", response_model=ItemPageSchema)
async def list_items(
    memory: OfMemory,
    status: StatusQuery = "active",
    kind: KindQuery = None,
    tier: TierQuery = None,
    agent: AgentQuery = None,
    q: TextQuery = "",
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ItemPage:
    """List items, the oldest first; by default the active ones."""
    statuses: tuple[ItemStatus, ...] = get_args(ItemStatus) if status == "all" else (status,)
    return await memory.find_items(q, statuses=statuses, kind=kind, tier=tier, agent=agent, after=cursor, limit=limit)


@router.post("/api/users/{user}/items", response_model=ItemSchema, status_code=201)
async def add_item(memory: OfMemory, caller: AnyKey, new: NewItem, response: Response) -> Item:
    """Add an item, word for word; if an equal item exists, its evidence grows instead."""
    item = await memory.add(
        new.statement, kind=new.kind, tier=new.tier, agent=new.agent, valid_to=new.valid_to, actor=caller.actor
    )
    response.headers["Location"] = f"/api/users/{memory.user_id}/items/{item.id}"
    tag(response, item.revision)
    return item


@router.get("/api/users/{user}/items/{item}", response_model=ItemHistorySchema, responses=TAGGED)
async def read_item(memory: OfMemory, item: ItemText, response: Response) -> ItemRevisions:
    """Read one item with all its revisions."""
    revisions = await memory.item(item)
    tag(response, revisions[-1].revision)
    return ItemRevisions(revisions[-1], revisions)


@router.patch("/api/users/{user}/items/{item}", response_model=ItemSchema, responses=TAGGED)
async def edit_item(
    memory: OfMemory,
    caller: AnyKey,
    item: ItemText,
    change: ItemChange,
    expected: ExpectedRevision,
    response: Response,
) -> Item:
    """Change the statement of an item; its evidence stays."""
    async with told_race(expected, partial(read_now, memory, item)):
        edited = await memory.edit(item, change.statement, expected_revision=expected, actor=caller.actor)
    tag(response, edited.revision)
    return edited


@router.delete("/api/users/{user}/items/{item}", response_model=ItemSchema)
async def erase_item(memory: OfMemory, caller: AnyKey, item: ItemText, expected: ExpectedRevision) -> Item:
    """Erase an item with all its revisions, also from topics and dreams; its source messages stay."""
    async with told_race(expected, partial(read_now, memory, item)):
        return await memory.forget(item, expected_revision=expected, actor=caller.actor)


@router.post("/api/users/{user}/items/{item}/undo", response_model=ItemsSchema, responses=TAGGED)
async def undo_item(
    memory: OfMemory, caller: AnyKey, item: ItemText, expected: ExpectedRevision, response: Response
) -> Fields:
    """Undo the last change of an item and of the items that changed with it; the item comes first."""
    async with told_race(expected, partial(read_now, memory, item)):
        undone = await memory.undo(item, expected_revision=expected, actor=caller.actor)
    tag(response, undone[0].revision)
    return {"items": undone}


@router.get("/api/users/{user}/items/{item}/why", response_model=ReasonsSchema)
async def explain_item(memory: OfMemory, item: ItemText) -> Fields:
    """Read the source messages of an item and of the items it replaced, oldest first."""
    return {"because": await memory.why(item)}


async def read_now(memory: Memory, item: str) -> tuple[int, Schema]:
    """An item as it is now, and its revision."""
    newest = (await memory.item(item))[-1]
    return newest.revision, ItemSchema.model_validate(newest)
