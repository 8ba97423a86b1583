"""Overviews: what a store holds and what is pending in it, in figures, for operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from everfold.core.observation.usage import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCounts:
    """How much there is, over all users.

    Attributes:
        waiting: Events that have not ended, by state; a state that none has is left out.
        degraded_count: Events whose digest failed for good: a person may retry them.
        oldest_at: When the oldest event that has not ended was begun; None where all have.
    """

    users_count: int
    sessions_count: int
    compactions_count: int
    waiting: tuple[tuple[str, int], ...] = ()
    degraded_count: int = 0
    oldest_at: datetime | None = None

    def oldest_secs(self, now: datetime) -> float:
        """For how long the oldest event has waited; 0 where none waits."""
        return 0.0 if self.oldest_at is None else max(0.0, (now - self.oldest_at).total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What the calls of one model for one purpose came to.

    Attributes:
        input_tokens: Cached ones included.
        cost_usd: Of the calls whose price is known.
        uncounted_count: Calls of unknown price that a spend cap does not see.
    """

    model: str
    purpose: Purpose
    calls_count: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float
    uncounted_count: int


def sum_usd(spends: Sequence[Spend]) -> float:
    """What all of them cost together."""
    return sum(spend.cost_usd for spend in spends)
