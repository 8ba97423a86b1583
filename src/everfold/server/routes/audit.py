"""The audit of a memory, and the extractions that filled it."""

from everfold.server.access import OfOwner
from everfold.server.paging import DEFAULT_LIMIT, Cursor, Limit, read_ordinal, read_place
from everfold.server.queries import ActionQuery
from everfold.server.routing import make_router
from everfold.server.shapes.audit import AuditPageShape, ExtractionPage, show_audit, show_extractions

router = make_router("audit")


@router.get("/api/users/{user}/memory/audit")
async def list_audit(
    memory: OfOwner, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None, action: ActionQuery = None
) -> AuditPageShape:
    """List what was read, written and erased, and by whom, newest first."""
    return show_audit(await memory.audit_page(action=action, before=read_place(cursor), limit=limit))


@router.get("/api/users/{user}/extractions")
async def list_extractions(memory: OfOwner, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ExtractionPage:
    """List every pass over messages and what it found, newest first; they stay when their session is gone."""
    found = await memory.latest_extractions(before=read_ordinal(cursor), limit=limit)
    return show_extractions(found, limit)
