"""Context sources over HTTP."""

from everfold.agents.described_sources import ListedSource
from everfold.server.schemas.schema import many, project, wrap
from everfold.services.compaction.try_source import Tried

SourceSchema = project(
    "Source",
    ListedSource,
    "name kind source is_allowed prompt problem",
    words={"prompt": "What a refresh asks it for."},
)
SourceListSchema = wrap("SourceList", "First those that a refresh asks, in its order.", sources=many(SourceSchema))
TriedSchema = project(
    "Tried",
    Tried,
    "ok text=shown tokens budget_tokens=question.budget_tokens is_cut secs from_at=question.from_at to_at=question.to_at",
    words={"budget_tokens": "What it may say at most."},
    ok=(bool, lambda _: True, ""),
    secs=(float, lambda tried: round(tried.elapsed_secs, 3), "How long it took."),
)
