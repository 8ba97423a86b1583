"""Compactions of a session, what is shown of them now, and what became of every message."""

from typing import Annotated

from fastapi import Path, Query

from everfold.server.access import OfSession
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.compactions import (
    CancelledSchema,
    CompactionDetailSchema,
    CompactionPageSchema,
    CompactionSchema,
    DigestsSchema,
    NoteSchema,
    StripsSchema,
)
from everfold.server.schemas.sessions import Order
from everfold.services.inspection.inspect_session import CompactionDetail, CostedCompaction, LogStrips

router = make_router("compactions")

CompactionText = Annotated[str, Path(description="The compaction's id.", examples=["evt_01"])]


@router.get("/api/sessions/{session}/compactions", response_model=CompactionPageSchema)
async def list_compactions(
    opened: OfSession,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    order: Annotated[Order, Query(description="Which end comes first.")] = "oldest",
) -> Fields:
    """List the compactions of a session; a branch includes those that it inherited."""
    listed = await opened.inspect.list_costed_compactions(after=cursor, newest_first=order == "newest", limit=limit)
    return {"compactions": listed, "next_cursor": next_cursor(listed, limit, lambda last: last.compaction.id)}


@router.get("/api/sessions/{session}/compactions/{compaction}", response_model=CompactionDetailSchema)
async def get_compaction(opened: OfSession, compaction: CompactionText) -> CompactionDetail:
    """Read one compaction with its report, digests, calls and certificate."""
    return await opened.inspect.read_compaction(compaction)


@router.post("/api/sessions/{session}/compactions/{compaction}/retry", response_model=CompactionSchema)
async def retry_compaction(opened: OfSession, compaction: CompactionText) -> CostedCompaction:
    """Write the digest of a degraded compaction again, now, and return the compaction."""
    return await opened.inspect.show_cost(await opened.inspect.retry(compaction))


@router.post("/api/sessions/{session}/compactions/{compaction}/cancel", response_model=CancelledSchema)
async def cancel_compaction(opened: OfSession, compaction: CompactionText) -> Fields:
    """Cancel a pending compaction and those after it. No message was removed."""
    return {"cancelled": await opened.inspect.cancel(compaction)}


@router.get("/api/sessions/{session}/digests", response_model=DigestsSchema)
async def list_digests(opened: OfSession) -> Fields:
    """List the digests in the window now, by range."""
    return {"digests": await opened.inspect.list_digests()}


@router.get("/api/sessions/{session}/note", response_model=NoteSchema)
async def get_note(opened: OfSession) -> Fields:
    """Read the continuity note that the next turn shows."""
    return {"note": await opened.inspect.note()}


@router.get("/api/sessions/{session}/strips", response_model=StripsSchema)
async def list_strips(
    opened: OfSession,
    compaction: Annotated[str | None, Query(description="Only what this compaction left.", examples=[None])] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many of the newest compactions.")] = 20,
    preview: Annotated[
        int | None, Query(gt=0, description="Only how a lower context limit would fold the log.", examples=[None])
    ] = None,
) -> LogStrips:
    """Show what became of every message at the newest compactions, and where it is now.

    With `preview`, show how a context limit of that many tokens would fold the log; nothing is changed.
    """
    if preview is not None:
        return await opened.inspect.preview_strips(limit=preview)
    return await opened.inspect.list_strips(compaction=compaction, limit=limit)
