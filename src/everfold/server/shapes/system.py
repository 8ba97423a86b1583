"""The system as a whole, over HTTP."""

from pydantic import Field

from everfold.core.events import CompactionEvent
from everfold.core.overview import Spend
from everfold.server.shapes.shape import Shape, Time


class OpenEvent(Shape):
    """A compaction that waits or failed."""

    id: str = Field(examples=["evt_01"])
    session_id: str = Field(examples=["ses_01"])
    ordinal: int = Field(description="Its place among the session's compactions, from 1 on.", examples=[3])
    state: str = Field(examples=["pending"])
    trigger: str = Field(examples=["tokens"])
    first_seq: int = Field(examples=[256])
    last_seq: int = Field(examples=[279])
    begun_at: Time
    attempts: int = Field(description="How often it was tried.", examples=[1])
    problem: str = Field(description="What went wrong with the last attempt; empty when nothing did.")


class EventsOverview(Shape):
    """What waits, and what failed for good."""

    counts: dict[str, int] = Field(description="Events that have not ended, by state, and `degraded`, and `all`.")
    oldest_pending_secs: float = Field(description="For how long the oldest has waited; 0 where none waits.")
    waiting: list[OpenEvent] = Field(description="Oldest first.")
    failed: list[OpenEvent] = Field(description="Degraded ones, newest first; a person may retry them.")


class SweepOverview(Shape):
    """How work that was left behind is taken up again."""

    grace_secs: float = Field(description="How long a failed event waits for its next attempt.", examples=[600.0])
    lookback_secs: float = Field(description="Older events are left to a person.", examples=[604_800.0])
    attempts: int = Field(description="How often an event is tried.", examples=[3])
    every_secs: float = Field(description="How often to look.", examples=[120.0])


class ModelSpend(Shape):
    """What the calls of one model for one purpose came to today."""

    model: str = Field(examples=["openai:gpt-5-mini"])
    purpose: str = Field(examples=["digest"])
    calls_count: int = Field(examples=[12])
    input_tokens: int = Field(examples=[48_000])
    cached_tokens: int = Field(description="Of the input, what the provider read from its cache.", examples=[30_000])
    output_tokens: int = Field(examples=[9_000])
    cost_usd: float = Field(description="Of the calls whose price is known.")
    uncounted_count: int = Field(description="Calls of unknown price that a spend cap does not see.")


class SpendOverview(Shape):
    """What models cost since midnight UTC."""

    today_usd: float = Field(examples=[1.25])
    per_day_usd: float | None = Field(description="The cap; null for none.")
    per_event_usd: float | None = Field(description="The cap of one compaction; null for none.")
    by_model: list[ModelSpend]


class SettingLine(Shape):
    """One setting."""

    key: str = Field(examples=["compaction.trigger_ratio"])
    value: object = Field(description="As the settings file would have it.", examples=[0.8])
    place: str = Field(alias="from", description="argument, environment, file or default.", examples=["file"])


class SystemShape(Shape):
    """How the system is."""

    version: str = Field(description="Of the server.", examples=["0.1.0"])
    started_at: Time
    store: str = Field(description="What kind of store, and its file's name.", examples=["sqlite: everfold.db"])
    users_count: int = Field(examples=[3])
    sessions_count: int = Field(examples=[12])
    events: EventsOverview
    sweep: SweepOverview
    spend: SpendOverview
    settings: list[SettingLine]


def show_open_event(event: CompactionEvent) -> OpenEvent:
    """An event as an overview has it."""
    return OpenEvent(
        id=event.id,
        session_id=event.session_id,
        ordinal=event.ordinal,
        state=event.state,
        trigger=event.plan.trigger,
        first_seq=event.plan.first_seq,
        last_seq=event.plan.last_seq,
        begun_at=event.begun_at,
        attempts=event.attempts,
        problem=event.problem,
    )


def show_spend(spend: Spend) -> ModelSpend:
    """What a model's calls came to."""
    return ModelSpend.model_validate(spend)
