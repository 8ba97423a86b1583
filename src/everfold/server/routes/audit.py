"""The audit of a memory, and the extractions that filled it."""

from typing import Annotated

from fastapi import Query

from everfold.server.access import OfOwner
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, next_cursor, read_ordinal, read_place
from everfold.server.queries import ActionQuery
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.audit import AuditPageSchema, ExtractionPageSchema
from everfold.server.schemas.schema import GivenTime
from everfold.services.memory.read_audit import AuditPage

router = make_router("audit")

EntriesSince = Annotated[GivenTime | None, Query(description="Only entries of then or later.")]
EntriesUntil = Annotated[GivenTime | None, Query(description="Only entries from before then.")]


@router.get("/api/users/{user}/memory/audit", response_model=AuditPageSchema)
async def list_audit(
    memory: OfOwner,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    action: ActionQuery = None,
    since: EntriesSince = None,
    until: EntriesUntil = None,
) -> AuditPage:
    """List the reads, writes and erasures of memory, newest first."""
    return await memory.audit_page(action=action, before=read_place(cursor), limit=limit, since=since, until=until)


@router.get("/api/users/{user}/extractions", response_model=ExtractionPageSchema)
async def list_extractions(memory: OfOwner, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Fields:
    """List every extraction and its results, newest first; they stay when their session is erased."""
    found = await memory.latest_extractions(before=read_ordinal(cursor), limit=limit)
    return {"entries": found, "next_cursor": next_cursor(found, limit, lambda last: str(last.ordinal))}
