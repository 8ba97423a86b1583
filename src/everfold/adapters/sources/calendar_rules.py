"""Rules of recurrence, bounded: what would repeat without end or without a match never reaches the expansion.

The expansion walks a rule from its first day, one step of its frequency at a time, until an instance lies past the end;
while nothing matches it goes on to the year 9999: `FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30` takes seconds. So each rule gets
an end shortly after the window of time, a COUNT becomes the day at which it is reached, and a rule is refused that
takes too many steps to get there. One of which it is not plain that it goes on to match pays for the way to the year
9999, which the odd rules of a year can and those of a day cannot.

Source: RFC 5545, 3.3.10; the steps are those of dateutil's rrule.
"""

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

MOST_STEPS: Final = 500_000
"""How many steps one rule may take: 57 years of hours. Source: our measurement, half a second to two."""
MOST_ALL_STEPS: Final = 2_000_000
"""How many all rules of a calendar may take together. Source: our measurement, two to nine seconds."""

MOST_A_DAY: Final = 1_440
"""How often an event may happen in a day: each minute."""

_DAY_SECS: Final = 86_400
_STEP_SECS: Final = {
    "YEARLY": 31_557_600,
    "MONTHLY": 2_629_800,
    "WEEKLY": 604_800,
    "DAILY": 86_400,
    "HOURLY": 3_600,
    "MINUTELY": 60,
    "SECONDLY": 1,
}
_STEP_WEIGHTS: Final = {"YEARLY": 24, "MONTHLY": 2}
"""What a step costs that looks at many days, in steps of a day. Source: our measurement."""
_PERIOD_DAYS: Final = {"DAILY": 1, "WEEKLY": 7}
_RESERVE_DAYS: Final = 3
_TIMES: Final = ("BYHOUR", "BYMINUTE", "BYSECOND")
_FILTERS: Final = frozenset({"BYMONTH", "BYWEEKNO", "BYYEARDAY", "BYMONTHDAY", "BYDAY", "BYSETPOS", "BYEASTER"})
_LAST: Final = datetime(9999, 12, 31, tzinfo=UTC)
_MONTH_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_IN_EVERY_MONTH: Final = 28
_WEEKDAY_IN_EVERY_MONTH: Final = 4


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


def bound_rules(event: Any, *, since: datetime, until: datetime, steps: Steps) -> bool:
    """Give each rule of an event an end, and a plain one a later beginning; False when one cannot be walked.

    Args:
        event: Changed in place.
        since: Before the first day in question, aware.
        until: After the last one.
        steps: What is left of them.
    """
    start = event["DTSTART"].dt
    rules = _list_of(event.get("RRULE"))
    try:
        if len(rules) == 1:
            start = _move_on(event, rules[0], since)
        return all(_bound_rule(rule, start, until, steps) for rule in rules)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        return False


def _list_of(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _move_on(event: Any, rule: Any, since: datetime) -> date:
    """Begin a series of days or weeks shortly before the days in question, a whole number of its intervals later.

    Its instances from there on are the same, and years of them need not be walked. An instance that its own first day
    adds, which need not match the rule, is before these days.
    """
    start: date = event["DTSTART"].dt
    period_days = _PERIOD_DAYS.get(_frequency(rule), 0) * int(rule.get("INTERVAL", [1])[0])
    if period_days < 1 or not _goes_on(rule) or {"COUNT", "BYSETPOS"} & set(rule):
        return start
    end: date = (
        event["DTEND"].dt if "DTEND" in event else start + event["DURATION"].dt if "DURATION" in event else start
    )
    ahead_days = (since - _as_utc(start)).days - abs((_as_utc(end) - _as_utc(start)).days) - _RESERVE_DAYS
    if ahead_days < period_days:
        return start
    by = timedelta(days=ahead_days // period_days * period_days)
    event["DTSTART"].dt = start + by
    if "DTEND" in event:
        event["DTEND"].dt = end + by
    return start + by


def _bound_rule(rule: Any, start: date, until: datetime, steps: Steps) -> bool:
    if min((int(it) for it in rule.get("INTERVAL", [1])), default=1) < 1 or _count_a_day(rule) > MOST_A_DAY:
        return False
    end = min([until, *(_read_until(it, start) for it in rule.get("UNTIL", []))])
    walks = 2 if "COUNT" in rule else 1
    if not steps.take(walks * _count_steps(rule, start, end if _goes_on(rule) else _LAST)):
        return False
    if "COUNT" in rule:
        reached = _find_count(rule, start, end)
        del rule["COUNT"]
        end = end if reached is None else reached
    rule["UNTIL"] = [_as_kind(end, start)]
    return True


def _read_until(until: date, start: date) -> datetime:
    """The last moment of a series by its UNTIL, which is meant in the zone of its start and, as a day, holds all of it.

    Source: RFC 5545, 3.3.10.
    """
    if not isinstance(start, datetime):
        return _as_utc(until)
    last = until if isinstance(until, datetime) else datetime.combine(until, time.max)
    try:
        return _as_utc(last if last.tzinfo is not None else last.replace(tzinfo=start.tzinfo))
    except OverflowError:  # the year 9999 ends later in that zone
        return _LAST


def _count_steps(rule: Any, start: date, end: datetime) -> float:
    frequency = _frequency(rule)
    days = max((end - _as_utc(start)).total_seconds(), 0.0) / _DAY_SECS
    return days * _count_a_day(rule) * _STEP_WEIGHTS.get(frequency, 1)


def _count_a_day(rule: Any) -> float:
    """How often a rule matches at most, in a day."""
    times = math.prod(max(len(rule.get(name, [])), 1) for name in _TIMES)
    return _DAY_SECS / _STEP_SECS[_frequency(rule)] / int(rule.get("INTERVAL", [1])[0]) * times


def _frequency(rule: Any) -> str:
    return str(rule["FREQ"][0]).upper()


def _goes_on(rule: Any) -> bool:
    """Whether it is plain that the rule matches again and again, so that its walk ends soon after its end."""
    filters = {name: [str(it) for it in rule[name]] for name in _FILTERS & set(rule)}
    names, frequency = set(filters), _frequency(rule)
    is_each = int(rule.get("INTERVAL", [1])[0]) == 1
    if not names:
        return True
    if frequency == "WEEKLY":
        return names == {"BYDAY"}
    if frequency == "MONTHLY":
        return _meets(filters, most_days=max(_MONTH_DAYS) if is_each else _IN_EVERY_MONTH)
    if frequency == "YEARLY":
        months = [int(it) for it in filters.pop("BYMONTH", [])]
        longest = max((_MONTH_DAYS[it - 1] for it in months if 0 < it <= len(_MONTH_DAYS)), default=0)
        return longest > 0 and (not filters or _meets(filters, most_days=longest if is_each else _IN_EVERY_MONTH))
    return is_each and (names <= {"BYDAY", "BYMONTH"} or names == {"BYMONTHDAY"})


def _meets(filters: dict[str, list[str]], *, most_days: int) -> bool:
    """Whether the rule of a month goes on to match in months that have so many days."""
    if set(filters) == {"BYMONTHDAY"}:
        return any(0 < abs(int(it)) <= most_days for it in filters["BYMONTHDAY"])
    if not {"BYDAY"} <= set(filters) <= {"BYDAY", "BYSETPOS"}:
        return False
    ordinals = [it[:-2] for it in filters["BYDAY"]]
    if "BYSETPOS" in filters and any(ordinals):
        return False
    places = [*(it for it in ordinals if it), *filters.get("BYSETPOS", [])]
    return not places or any(abs(int(it)) <= _WEEKDAY_IN_EVERY_MONTH for it in places)


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
