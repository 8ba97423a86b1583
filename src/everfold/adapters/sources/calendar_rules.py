"""Rules of recurrence, bounded: what would repeat without end or without a match never reaches the expansion.

The expansion walks a rule from its first day, one step of its frequency at a time, and does not stop while nothing
matches: `FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30` would keep a processor for minutes. So each rule gets an end shortly after
the window of time, a COUNT becomes the day at which it is reached, and a rule that takes too many steps to get there is
refused.

Source: RFC 5545, 3.3.10; the steps are those of dateutil's rrule.
"""

import math
from datetime import UTC, date, datetime, time
from typing import Any, Final

MOST_STEPS: Final = 200_000
"""How many steps one rule may take: 500 years of days, 22 of hours. Source: our measurement, about a second."""
MOST_ALL_STEPS: Final = 1_000_000
"""How many all rules of a calendar may take together. Source: our measurement, about four seconds."""

_STEP_SECS: Final = {
    "YEARLY": 31_557_600,
    "MONTHLY": 2_629_800,
    "WEEKLY": 604_800,
    "DAILY": 86_400,
    "HOURLY": 3_600,
    "MINUTELY": 60,
    "SECONDLY": 1,
}
_SET_DAYS: Final = {"YEARLY": 366, "MONTHLY": 31, "WEEKLY": 7}
"""How many days one step looks at."""
_TIMES: Final = ("BYHOUR", "BYMINUTE", "BYSECOND")


class Steps:
    """How many steps are left for the rules of one calendar."""

    def __init__(self) -> None:
        self._left = MOST_ALL_STEPS

    def take(self, wanted: float) -> bool:
        """Whether so many may be taken; they count from now on."""
        if not wanted <= min(MOST_STEPS, self._left):
            return False
        self._left -= math.ceil(wanted)
        return True


def bound_rules(event: Any, until: datetime, steps: Steps) -> bool:
    """Give each rule of an event an end; False when one is no rule that can be walked.

    Args:
        event: Changed in place.
        until: Shortly after the last day in question, aware.
        steps: What is left of them.
    """
    start = event["DTSTART"].dt
    try:
        return all(_bound_rule(rule, start, until, steps) for rule in _list_of(event.get("RRULE")))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        return False


def _list_of(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _bound_rule(rule: Any, start: date, until: datetime, steps: Steps) -> bool:
    if min((int(it) for it in rule.get("INTERVAL", [1])), default=1) < 1:
        return False
    end = min([until, *(_as_utc(it) for it in rule.get("UNTIL", []))])
    if not steps.take(_count_steps(rule, start, end)):
        return False
    if "COUNT" in rule:
        if not steps.take(_count_steps(rule, start, end)):
            return False
        reached = _find_count(rule, start, end)
        del rule["COUNT"]
        end = end if reached is None else reached
    rule["UNTIL"] = [_as_kind(end, start)]
    return True


def _count_steps(rule: Any, start: date, end: datetime) -> float:
    frequency = str(rule["FREQ"][0]).upper()
    secs = max((end - _as_utc(start)).total_seconds(), 0.0)
    times = math.prod(max(len(rule.get(name, [])), 1) for name in _TIMES)
    interval = max(int(rule.get("INTERVAL", [1])[0]), 1)
    looked_at = _SET_DAYS.get(frequency, 1) / 7  # days in a set cost less than steps do
    return secs / _STEP_SECS[frequency] / interval * times * max(looked_at, 1)


def _find_count(rule: Any, start: date, end: datetime) -> datetime | None:
    """When the rule's COUNT is reached, or None when it is not before the end."""
    from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # it says nothing of its types

    count = int(rule["COUNT"][0])
    probe = rule.copy()
    del probe["COUNT"]
    probe["UNTIL"] = [_as_kind(end, start)]
    first = start if isinstance(start, datetime) else datetime.combine(start, time())
    text = probe.to_ical().decode()
    for index, at in enumerate(rrulestr(text, dtstart=first, cache=False), start=1):
        if index == count:
            return _as_utc(at)
    return None


def _as_utc(at: date) -> datetime:
    """A time, or a day's beginning; one without a zone is taken for UTC, which is near enough for a bound."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time())
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _as_kind(at: datetime, start: date) -> date:
    """An end in the form that the rule's start asks for. Source: RFC 5545, 3.3.10, UNTIL."""
    if not isinstance(start, datetime):
        return at.date()
    return at.replace(tzinfo=None) if start.tzinfo is None else at
