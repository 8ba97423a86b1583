"""Activity: what happened on each day, over all users, in figures that add up. No figure says whose it is."""

from dataclasses import dataclass, fields
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What happened. Tokens are estimates, calibrated to the provider's where it has counted.

    Attributes:
        messages_count: Messages that were stored.
        requests_count: Windows that were taken for a request; a second one of the same log's end is the same request.
        sent_tokens: The tokens of these windows.
        sent_cached_tokens: Those of them that repeat the beginning of the request before.
        whole_tokens: What the same requests would have had with the whole conversation in each.
        whole_cached_tokens: Those of them that would have repeated the request before.
        compactions_count: Compactions that took effect.
        folded_count: Messages that they folded.
        items_count: Memory items that extractions found, new ones and ones that were seen again.
        calls_count: Calls of models, of every purpose.
        input_tokens: What they read, as providers counted it.
        cached_tokens: What of it came from a provider's cache.
        output_tokens: What they wrote.
        cost_usd: What those cost whose price is known.
    """

    messages_count: int = 0
    requests_count: int = 0
    sent_tokens: int = 0
    sent_cached_tokens: int = 0
    whole_tokens: int = 0
    whole_cached_tokens: int = 0
    compactions_count: int = 0
    folded_count: int = 0
    items_count: int = 0
    calls_count: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def plus(self, other: "Activity") -> "Activity":
        """Both together."""
        return Activity(**{name: getattr(self, name) + getattr(other, name) for name in FIGURES})


FIGURES = tuple(field.name for field in fields(Activity))
"""The names of the figures, in the order of their columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayActivity:
    """What happened on one day (UTC)."""

    day: date
    activity: Activity


@dataclass(frozen=True, slots=True)
class SentWindow:
    """The last window that a handle gave for a request, to compare the next one with.

    Attributes:
        last_seq: The newest message of the log then.
        stable_tokens: The window's tokens without its dynamic suffix, which no next request repeats.
        whole_tokens: What the whole conversation had then.
    """

    last_seq: int
    stable_tokens: int
    whole_tokens: int


def measure_request(before: SentWindow | None, now: SentWindow, *, window_tokens: int, resent_tokens: int) -> Activity:
    """The figures of one more request, given the one before it; None before the first that is known.

    `resent_tokens` is what the cache breaks since then have the provider read again.
    """
    repeated = 0 if before is None else min(before.stable_tokens, now.stable_tokens)
    return Activity(
        requests_count=1,
        sent_tokens=window_tokens,
        sent_cached_tokens=max(0, repeated - resent_tokens),
        whole_tokens=now.whole_tokens,
        whole_cached_tokens=0 if before is None else min(before.whole_tokens, now.whole_tokens),
    )
