"""The system as a whole, over HTTP."""

from pydantic import Field

from everfold.core.events import CompactionEvent
from everfold.core.overview import Spend
from everfold.server.shapes.shape import Shape, Time


class OpenEvent(Shape):
    """A compaction that waits or failed."""

    id: str
    session_id: str
    ordinal: int
    state: str
    trigger: str
    first_seq: int
    last_seq: int
    begun_at: Time
    attempts: int
    problem: str = Field(description="What went wrong with the last attempt; empty when nothing did.")


class EventsOverview(Shape):
    """What waits, and what failed for good."""

    counts: dict[str, int] = Field(description="Events that have not ended, by state, and `degraded`, and `all`.")
    oldest_pending_secs: float = Field(description="For how long the oldest has waited; 0 where none waits.")
    waiting: list[OpenEvent] = Field(description="Oldest first.")
    failed: list[OpenEvent] = Field(description="Degraded ones, newest first; a person may retry them.")


class SweepOverview(Shape):
    """How work that was left behind is taken up again."""

    grace_secs: float
    lookback_secs: float
    attempts: int
    every_secs: float


class ModelSpend(Shape):
    """What the calls of one model for one purpose came to today."""

    model: str
    purpose: str
    calls_count: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float = Field(description="Of the calls whose price is known.")
    uncounted_count: int = Field(description="Calls of unknown price that a spend cap does not see.")


class SpendOverview(Shape):
    """What models cost since midnight UTC."""

    today_usd: float
    per_day_usd: float | None = Field(description="The cap; null for none.")
    per_event_usd: float | None
    by_model: list[ModelSpend]


class SettingLine(Shape):
    """One setting."""

    key: str = Field(examples=["compaction.trigger_ratio"])
    value: object
    place: str = Field(serialization_alias="from", description="argument, environment, file or default.")


class SystemShape(Shape):
    """How the system is."""

    version: str
    started_at: Time
    store: str = Field(description="What kind of store, and its file's name.", examples=["sqlite: everfold.db"])
    users_count: int
    sessions_count: int
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
