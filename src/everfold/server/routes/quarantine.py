"""Quarantine: what a scan held back, until a person has looked at it."""

from functools import partial

from fastapi import Response

from everfold.core.memory.items import Item
from everfold.server.access import AnyKey, OfOwner
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.queries import ItemText
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routes.items import read_now
from everfold.server.routing import make_router
from everfold.server.schemas.items import ItemPageSchema, ItemSchema
from everfold.services.memory.list_items import ItemPage

router = make_router("quarantine")


@router.get("/api/users/{user}/quarantine", response_model=ItemPageSchema)
async def list_quarantine(memory: OfOwner, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ItemPage:
    """List the items in quarantine; they are never shown to a model."""
    return await memory.find_items(statuses=("quarantined",), after=cursor, limit=limit)


@router.post("/api/users/{user}/quarantine/{item}/release", response_model=ItemSchema, responses=TAGGED)
async def release_item(
    memory: OfOwner, caller: AnyKey, item: ItemText, expected: ExpectedRevision, response: Response
) -> Item:
    """Release an item from quarantine; the same words pass later scans."""
    async with told_race(expected, partial(read_now, memory, item)):
        released = await memory.release(item, expected_revision=expected, actor=caller.actor)
    tag(response, released.revision)
    return released


@router.delete("/api/users/{user}/quarantine/{item}", response_model=ItemSchema)
async def erase_quarantined(memory: OfOwner, caller: AnyKey, item: ItemText, expected: ExpectedRevision) -> Item:
    """Erase an item in quarantine with all its revisions."""
    async with told_race(expected, partial(read_now, memory, item)):
        return await memory.forget(item, expected_revision=expected, actor=caller.actor)
