"""A clock and ids that a test holds in its hands."""

from collections import Counter
from datetime import UTC, datetime, timedelta

STARTED_AT = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)
"""When a fake clock starts: some Monday, far from any test's own day."""


class FakeClock:
    """A clock that stands still between two looks and moves one step with each.

    Args:
        now: What the first look gives; aware.
        step: How far each look moves the clock; nothing for one that moves only when it is told to.
    """

    def __init__(self, now: datetime = STARTED_AT, *, step: timedelta = timedelta(0)) -> None:
        self._next = _in_utc(now)
        self.step = step

    def now(self) -> datetime:
        """The present moment, in UTC; the clock then moves a step."""
        now = self._next
        self._next += self.step
        return now

    def set(self, now: datetime) -> None:
        """Set what the next look gives, later or earlier."""
        self._next = _in_utc(now)

    def advance(self, duration: timedelta) -> None:
        """Move the clock on."""
        self._next += duration


class CountingIds:
    """Ids that count: `ses_000001`, `ses_000002`, and `evt_000001` beside them."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def new_id(self, prefix: str) -> str:
        """The next id with this prefix."""
        self._counts[prefix] += 1
        return f"{prefix}{self._counts[prefix]:06}"


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"a clock tells aware times, got {moment!r}; give it a timezone, UTC for example")
    return moment.astimezone(UTC)
