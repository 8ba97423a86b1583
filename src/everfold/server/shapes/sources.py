"""Context sources over HTTP."""

from pydantic import Field

from everfold.agents.described_sources import ListedSource
from everfold.server.shapes.shape import Shape, Time
from everfold.services.try_source import Tried


class SourceShape(Shape):
    """A context source of the settings."""

    name: str = Field(examples=["work"])
    kind: str = Field(description="One of the kinds of `[sources.NAME]`, or `hand`.", examples=["calendar"])
    source: str = Field(description="What its fence says; empty where its settings do not fit.")
    is_allowed: bool = Field(description="A refresh asks it.")
    prompt: str = Field(description="What a refresh asks it for.", examples=["what is new"])
    problem: str = Field(description="What does not fit; empty for nothing.")


class SourceList(Shape):
    """First those that a refresh asks, in its order."""

    sources: list[SourceShape]


class TriedShape(Shape):
    """What a source said when it was tried. Nothing was stored."""

    ok: bool
    text: str = Field(description="What a model would see, fence included; empty where nothing was said.")
    tokens: int = Field(description="What its answer costs, before it is cut.")
    budget_tokens: int = Field(description="What it may say at most.", examples=[2_000])
    is_cut: bool
    secs: float = Field(description="How long it took.", examples=[0.4])
    from_at: Time
    to_at: Time


def show_source(listed: ListedSource) -> SourceShape:
    """A source as the API gives it."""
    return SourceShape.model_validate(listed)


def show_tried(tried: Tried) -> TriedShape:
    """What a source said."""
    question = tried.question
    return TriedShape(
        ok=True,
        text=tried.shown,
        tokens=tried.tokens,
        budget_tokens=question.budget_tokens,
        is_cut=tried.is_cut,
        secs=round(tried.elapsed_secs, 3),
        from_at=question.from_at,
        to_at=question.to_at,
    )
