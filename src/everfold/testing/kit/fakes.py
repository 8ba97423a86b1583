"""A clock, ids, secrets and a context source that a test holds in its hands."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from everfold.core.access.api_keys import SECRET_CHARS, SECRET_PREFIX

STARTED_AT = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)
"""When a fake clock starts: some Monday, far from any test's own day."""


@dataclass(slots=True, kw_only=True)
class FakeSource:
    """A context source that says what it is told to, after so many seconds, and keeps what it was asked.

    Attributes:
        text: What it says; a function of the stretch of time that it is asked about, or always the same.
        error: What it raises instead.
        asked: The beginning and the end of each stretch, in the order of asking.
    """

    name: str = "call://desk"
    text: str | Callable[[datetime, datetime], str] = "Two parcels came."
    secs: float = 0.0
    error: BaseException | None = None
    asked: list[tuple[datetime, datetime]] = field(default_factory=list)
    budgets: list[int] = field(default_factory=list)
    is_closed: bool = False

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:
        """See the port; the prompt is not looked at."""
        del prompt
        self.asked.append((from_at, to_at))
        self.budgets.append(budget_tokens)
        await asyncio.sleep(self.secs)
        if self.error is not None:
            raise self.error
        return self.text if isinstance(self.text, str) else self.text(from_at, to_at)

    async def close(self) -> None:
        """See the port."""
        self.is_closed = True


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


class CountingSecrets:
    """Secrets that count, in the form of real ones; everybody can guess them."""

    def __init__(self) -> None:
        self._count = 0

    def new_secret(self) -> str:
        """The next secret."""
        self._count += 1
        return f"{SECRET_PREFIX}{self._count:0{SECRET_CHARS}}"


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"a clock tells aware times, got {moment!r}; give it a timezone, UTC for example")
    return moment.astimezone(UTC)
