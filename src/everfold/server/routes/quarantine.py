"""Quarantine: what a scan held back, until a person has looked at it."""

from functools import partial

from fastapi import Response

from everfold.server.access import AnyKey, OfOwner
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.queries import ItemText
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routes.items import read_now
from everfold.server.routing import make_router
from everfold.server.shapes.items import ItemPageShape, ItemShape, show_item, show_page

router = make_router("quarantine")


@router.get("/api/users/{user}/quarantine")
async def list_quarantine(memory: OfOwner, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ItemPageShape:
    """List items that a scan held back: visible here, never shown to a model."""
    return show_page(await memory.find_items(statuses=("quarantined",), after=cursor, limit=limit))


@router.post("/api/users/{user}/quarantine/{item}/release", responses=TAGGED)
async def release_item(
    memory: OfOwner, caller: AnyKey, item: ItemText, expected: ExpectedRevision, response: Response
) -> ItemShape:
    """Let an item out of quarantine; the same words are not held back again."""
    async with told_race(expected, partial(read_now, memory, item)):
        released = await memory.release(item, expected_revision=expected, actor=caller.actor)
    tag(response, released.revision)
    return show_item(released)


@router.delete("/api/users/{user}/quarantine/{item}")
async def erase_quarantined(memory: OfOwner, caller: AnyKey, item: ItemText, expected: ExpectedRevision) -> ItemShape:
    """Erase an item that was held back, with all its revisions."""
    async with told_race(expected, partial(read_now, memory, item)):
        return show_item(await memory.forget(item, expected_revision=expected, actor=caller.actor))
