"""Windows: what the model is shown next, what is in it and why, and what makes room in it."""

from typing import Annotated

from fastapi import Query

from everfold.server.access import OfSession, OfTurn
from everfold.server.answers import LargeAnswer
from everfold.server.routing import make_router
from everfold.server.shapes.windows import (
    AskedCompaction,
    AskedWindow,
    Folds,
    RefreshedShape,
    ReportShape,
    WindowShape,
    show_folds,
    show_refreshed,
    show_report,
    show_window,
)

router = make_router("windows")


@router.get("/api/sessions/{session}/window", response_model=WindowShape)
async def preview_window(opened: OfSession, asked: Annotated[AskedWindow, Query()]) -> LargeAnswer:
    """What the model would be shown next, exactly as it would be sent; nothing is written."""
    window = await opened.window(limit=asked.limit, volatile=asked.volatile, preview=True)
    return LargeAnswer(show_window(window, opened, asked))


@router.post("/api/sessions/{session}/window", response_model=WindowShape)
async def take_window(turn: OfTurn, asked: AskedWindow) -> LargeAnswer:
    """What the model is shown next, compacted first when that is due."""
    async with turn as session:
        window = await session.window(limit=asked.limit, volatile=asked.volatile)
        return LargeAnswer(show_window(window, session, asked))


@router.get("/api/sessions/{session}/report")
async def get_report(opened: OfSession) -> ReportShape:
    """What fills the window now, slice by slice, before anything that is due is folded."""
    standing = await opened.inspector.standing()
    return show_report(standing.report, standing.room, standing.calibration.factor)


@router.post("/api/sessions/{session}/compact")
async def compact_session(opened: OfSession, asked: AskedCompaction) -> Folds:
    """Compact now, whatever is due; waits for the digest, the extractive one after the time-out."""
    return show_folds(await opened.compact(keep_recent=asked.keep_recent, focus=asked.focus, dry_run=asked.dry_run))


@router.post("/api/sessions/{session}/refresh")
async def refresh_session(opened: OfSession) -> RefreshedShape:
    """Ask the context sources now, and store what they say."""
    return show_refreshed(await opened.refresh())
