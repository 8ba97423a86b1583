"""The usage of model calls: one record for each call, so that spending can be summed and capped."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from everfold.core.primitives.ids import CompactionId, SessionId, UserId

Purpose = Literal["digest", "extraction", "dream", "hand", "chat", "embed"]
"""What a model call is for; its cost is recorded under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call of a model, whatever became of it. Nothing that was asked or answered is in it.

    Attributes:
        model: Its setting, such as `openai:gpt-5-mini`.
        answered_by: The model that answered, as the provider names it; empty when none did.
        session_id: None for what concerns a user as a whole.
        compaction_id: The compaction that it was made for.
        call_number: From 1 on; a retry is the next one.
        outcome: How the reply ended (`complete`, `length`, `refusal`, `tool_call`), the code of the error that came
            instead, or `cancelled`.
        input_tokens: Everything that was read, cached tokens included.
        cost_usd: None where no price is known.
        is_uncounted: A reply came whose price is not known, while a spend cap was set: the cap does not see this call.
    """

    id: str
    user_id: UserId
    session_id: SessionId | None
    compaction_id: CompactionId | None
    purpose: Purpose
    model: str
    answered_by: str
    call_number: int
    started_at: datetime
    duration_ms: int
    outcome: str
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_uncounted: bool = False


def start_of_day(moment: datetime) -> datetime:
    """The midnight, in UTC, that a day's spending is counted from."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
