"""Compactions of a session: events, what is shown of them now, and what became of every message."""

from typing import Annotated

from fastapi import Path, Query

from everfold.server.access import OfSession
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit
from everfold.server.routing import make_router
from everfold.server.shapes.events import (
    Cancelled,
    Digests,
    EventDetailShape,
    EventPage,
    EventShape,
    NoteShape,
    Strips,
    show_cancelled,
    show_digests,
    show_event,
    show_event_detail,
    show_events,
    show_strips,
)
from everfold.server.shapes.sessions import Order

router = make_router("events")

EventText = Annotated[str, Path(description="The event's id.", examples=["evt_01"])]


@router.get("/api/sessions/{session}/events")
async def list_events(
    opened: OfSession,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    order: Annotated[Order, Query(description="Which end comes first.")] = "oldest",
) -> EventPage:
    """The compactions of a session; a branch has those that it inherited too."""
    listed = await opened.inspector.list_events(after=cursor, newest_first=order == "newest", limit=limit)
    return show_events(listed, limit)


@router.get("/api/sessions/{session}/events/{event}")
async def get_event(opened: OfSession, event: EventText) -> EventDetailShape:
    """One compaction with its report, digests, calls and certificate."""
    return show_event_detail(await opened.inspector.read_event(event))


@router.post("/api/sessions/{session}/events/{event}/retry")
async def retry_event(opened: OfSession, event: EventText) -> EventShape:
    """Have a degraded event's digest written again, now, and give what became of the event."""
    return show_event(await opened.inspector.show_cost(await opened.retry(event)))


@router.post("/api/sessions/{session}/events/{event}/cancel")
async def cancel_event(opened: OfSession, event: EventText) -> Cancelled:
    """Give up a held event and every later held one; nothing has left the window for them."""
    return show_cancelled(await opened.cancel(event))


@router.get("/api/sessions/{session}/digests")
async def list_digests(opened: OfSession) -> Digests:
    """The digests that the window shows now, by range."""
    return show_digests(await opened.inspector.list_digests())


@router.get("/api/sessions/{session}/note")
async def get_note(opened: OfSession) -> NoteShape:
    """The continuity notes that the window shows now, oldest first."""
    return NoteShape(note=await opened.note())


@router.get("/api/sessions/{session}/strips")
async def list_strips(
    opened: OfSession,
    event: Annotated[str | None, Query(description="Only what this compaction left.", examples=[None])] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many of the newest compactions.")] = 20,
) -> Strips:
    """The log as the newest compactions left it, and as it is now: a fate for every message."""
    return show_strips(await opened.inspector.list_strips(event=event, limit=limit))
