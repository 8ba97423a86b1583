"""Context sources: which there are, and what one says now."""

from datetime import timedelta
from typing import Annotated

from fastapi import Query

from everfold.agents.described_sources import ask_source, list_sources
from everfold.server.access import AsAdmin, Context
from everfold.server.queries import SourceText
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.sources import SourceListSchema, TriedSchema
from everfold.services.compaction.try_source import Tried

router = make_router("sources")


@router.get("/api/sources", response_model=SourceListSchema)
async def read_sources(_: AsAdmin, runtime: Context) -> Fields:
    """List the context sources of the settings, first those that a refresh asks. No source is asked now."""
    return {"sources": list(list_sources(runtime.settings))}


@router.post("/api/sources/{source}/test", response_model=TriedSchema)
async def try_one(
    _: AsAdmin,
    runtime: Context,
    source: SourceText,
    hours: Annotated[float, Query(gt=0, le=8_760, description="How far back it is asked.")] = 24.0,
) -> Tried:
    """Ask one source now, allowed or not, and show its answer as a model would see it. Nothing is stored.

    A source that fails gives status 502, or 503 when it could not be reached in time.
    """
    now = runtime.clock.now()
    return await ask_source(runtime.settings, source, from_at=now - timedelta(hours=hours), now=now)
