"""Context sources: which there are, and what one says now."""

from datetime import timedelta
from typing import Annotated

from fastapi import Query

from everfold.agents.described_sources import ask_source, list_sources
from everfold.server.access import AsAdmin, Context
from everfold.server.queries import SourceText
from everfold.server.routing import make_router
from everfold.server.shapes.sources import SourceList, TriedShape, show_source, show_tried

router = make_router("sources")


@router.get("/api/sources")
async def read_sources(_: AsAdmin, runtime: Context) -> SourceList:
    """The context sources of the settings, those first that a refresh asks. No source is asked now."""
    return SourceList(sources=[show_source(listed) for listed in list_sources(runtime.settings)])


@router.post("/api/sources/{source}/test")
async def try_one(
    _: AsAdmin,
    runtime: Context,
    source: SourceText,
    hours: Annotated[float, Query(gt=0, le=8_760, description="How far back it is asked.")] = 24.0,
) -> TriedShape:
    """Ask one source now, allowed or not, and show what a model would see of it. Nothing is stored.

    A source that has no answer to give is a problem of the status 502, or 503 where it could not be reached in time.
    """
    now = runtime.clock.now()
    return show_tried(await ask_source(runtime.settings, source, from_at=now - timedelta(hours=hours), now=now))
