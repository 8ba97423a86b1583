"""Windows: what the model is shown next, what is in it and why, and what makes room in it."""

from typing import Annotated

from fastapi import Query

from everfold.core.windows.window import Window
from everfold.server.access import OfSession, OfTurn
from everfold.server.answers import LargeAnswer
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.schema import Schema
from everfold.server.schemas.windows import (
    AskedCompaction,
    AskedWindow,
    FoldsSchema,
    RefreshedSchema,
    ReportSchema,
    ShownWindow,
    WindowSchema,
)
from everfold.services.compaction.refresh import Refreshed
from everfold.services.inspection.inspect_session import Standing
from everfold.session import Session

router = make_router("windows")


@router.get("/api/sessions/{session}/window", response_model=WindowSchema)
async def preview_window(opened: OfSession, asked: Annotated[AskedWindow, Query()]) -> LargeAnswer:
    """Preview the next request exactly as it would be sent; nothing is written."""
    window = await opened.window(
        limit=asked.limit, suffix=asked.suffix, preview=True, require_complete=asked.require_complete
    )
    return LargeAnswer(_show(window, opened, asked))


@router.post("/api/sessions/{session}/window", response_model=WindowSchema)
async def take_window(turn: OfTurn, asked: AskedWindow) -> LargeAnswer:
    """Get the next request, compacted first when a compaction is due."""
    async with turn as session:
        window = await session.window(limit=asked.limit, suffix=asked.suffix, require_complete=asked.require_complete)
        return LargeAnswer(_show(window, session, asked))


@router.get("/api/sessions/{session}/report", response_model=ReportSchema)
async def get_report(opened: OfSession) -> Standing:
    """Read the report of the window now, slice by slice, before a due compaction."""
    return await opened.inspect.standing()


@router.post("/api/sessions/{session}/compact", response_model=FoldsSchema)
async def compact_session(opened: OfSession, asked: AskedCompaction) -> Fields:
    """Compact now, due or not; waits for the digest, and uses the extractive one after the timeout."""
    return {"folds": await opened.compact(keep_recent=asked.keep_recent, focus=asked.focus, dry_run=asked.dry_run)}


@router.post("/api/sessions/{session}/refresh", response_model=RefreshedSchema)
async def refresh_session(opened: OfSession) -> Refreshed:
    """Ask the context sources now, and store their answers."""
    return await opened.refresh()


def _show(window: Window, session: Session, asked: AskedWindow) -> Schema:
    standing = Standing(
        figures=session.inspect.figures,
        report=window.report,
        budget=session.inspect.budget(window.report.limit_tokens),
        calibration=session.inspect.calibration,
    )
    return WindowSchema.model_validate(ShownWindow(window, standing, asked))
