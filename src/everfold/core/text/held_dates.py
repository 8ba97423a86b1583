"""Dates that a record gives, in any notation, and those that follow from what was said on a day.

A date of a digest counts as held when the record writes the same one in any notation, when a message was said on it, or
when it follows from relative words of a message: "yesterday", "next Friday", "two weeks ago". What is vague allows a
span, since the check is there to catch inventions, not to correct the reckoning of days.

Source: DESIGN 3.4, "dates that follow from them, count as held".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, NamedTuple

from everfold.core.text.date_words import BACK, COUNTS, MONTHS, RELATIVE_DAYS, UNIT_DAYS, WEEKDAYS
from everfold.core.text.patterns import compile_pattern

_MONTH: Final = f"(?P<month>{'|'.join(MONTHS)})"
_DATE: Final = (
    r"(?<![\w.])(?:(?P<y1>\d{4})[-/.年](?P<m1>\d{1,2})[-/.月](?P<d1>\d{1,2})日?(?:(?=t\d)|(?![\w]))"
    r"|(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y2>\d{4}|\d{2}(?=\b(?!\.)))(?![\w])"
    rf"|(?P<day1>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}\b\.?(?:,?\s(?P<y3>\d{{4}})\b)?"
    rf"|{_MONTH.replace('month', 'month2')}\b\.?\s(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)(?:,?\s(?P<y4>\d{{4}})\b)?"
    rf"|{_MONTH.replace('month', 'month3')}\b\.?,?\s(?:of\s)?(?P<y5>(?:19|20)\d\d)\b)"
)
_DIGIT: Final = re.compile(r"\d")
_SPAN: Final = (
    rf"\b(?P<count>\d{{1,3}}|{'|'.join(COUNTS)})\s(?:of\s)?(?P<unit>day|week|weekend|month|year)s?\b"
    r"|\b(?P<which>last|past|previous|next|coming|this|following)\s(?:few\s)?(?P<unit2>week|weekend|month|year|summer|winter|spring|autumn|fall)s?\b"
    rf"|\b(?P<weekday>{'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun)\b"
)
_MOST_COUNT: Final = 200


class PartialDate(NamedTuple):
    """A date as written; what is not written is 0. `other` is the same read with day and month exchanged."""

    year: int
    month: int
    day: int
    start: int
    end: int
    other: "PartialDate | None" = None


def find_dates(lowered: str) -> Iterator[PartialDate]:
    """The dates that a lower-cased text writes, with their places. Impossible ones are none."""
    if not _DIGIT.search(lowered):
        return
    for match in compile_pattern(_DATE).finditer(lowered):
        found = _read(match)
        if found is not None:
            yield found


def _read(match: re.Match[str]) -> PartialDate | None:
    start, end = match.span()
    got = match.groupdict()
    if got["y1"]:
        return _checked(int(got["y1"]), int(got["m1"]), int(got["d1"]), start, end)
    if got["y2"]:
        year = int(got["y2"]) + (2000 if len(got["y2"]) == 2 else 0)  # noqa: PLR2004  (two digits of this century)
        a, b = int(got["a"]), int(got["b"])
        first, second = _checked(year, b, a, start, end), _checked(year, a, b, start, end)
        return first._replace(other=second) if first else second
    month = _number_month(got["month"] or got["month2"] or got["month3"])
    year = int(got["y3"] or got["y4"] or got["y5"] or 0)
    return _checked(year, month, int(got["day1"] or got["day2"] or 0), start, end)


def _checked(year: int, month: int, day: int, start: int, end: int) -> PartialDate | None:
    """The date where the calendar has it; a leap year stands in for a missing one."""
    try:
        date(year or 2024, month, day or 1)
    except ValueError:
        return None
    return PartialDate(year, month, day, start, end)


def _number_month(name: str) -> int:
    return next(at for at, pattern in enumerate(MONTHS, 1) if pattern.startswith(name[:3]))


class _Span(NamedTuple):
    """Days that a relative word may mean; `weekday` is 0 to 6, or -1 for any."""

    first: date
    last: date
    weekday: int = -1


@dataclass(slots=True)
class HeldDates:
    """The dates of a record: written ones, days of messages, and what follows from relative words."""

    written: set[tuple[int, int, int]] = field(default_factory=set)
    spans: set[_Span] = field(default_factory=set)

    def add(self, lowered: str, said_on: date | None) -> None:
        """Add a message: the dates that it writes, and those that its relative words mean on its day."""
        for found in find_dates(lowered):
            for one in filter(None, (found, found.other)):
                years = [one.year] if one.year or said_on is None else [said_on.year + shift for shift in (-1, 0, 1)]
                self.written.update((year, one.month, one.day) for year in years)
        if said_on is not None:
            self.written.add((said_on.year, said_on.month, said_on.day))
            self._relate(lowered, said_on)

    def _relate(self, lowered: str, said_on: date) -> None:
        for row in RELATIVE_DAYS:
            if row.word in lowered:
                self._add_span(said_on, row.days, row.days)
        for match in compile_pattern(_SPAN).finditer(lowered):
            if match["weekday"]:
                day = next(at for at, name in enumerate(WEEKDAYS) if name.startswith(match["weekday"][:3]))
                self._add_span(said_on, -14, 14, day)
            elif match["unit2"]:
                days = 2 * UNIT_DAYS[match["unit2"]]
                back = match["which"] in BACK or match["which"] == "this"
                ahead = match["which"] not in BACK
                self._add_span(said_on, -days if back else 0, days if ahead else 0)
            else:
                count = COUNTS.get(match["count"]) or int(match["count"])
                days = min(count, _MOST_COUNT) * UNIT_DAYS[match["unit"]]
                slack = 0 if match["unit"] == "day" and count > 3 else days // 4 + 3  # noqa: PLR2004  (a few are vague)
                self._add_span(said_on, -days - slack, -days + slack)
                self._add_span(said_on, days - slack, days + slack)

    def _add_span(self, said_on: date, first: int, last: int, weekday: int = -1) -> None:
        try:
            self.spans.add(_Span(said_on + timedelta(days=first), said_on + timedelta(days=last), weekday))
        except OverflowError:
            return

    def holds(self, found: PartialDate) -> bool:
        """Whether the record gives the date, or the same read with day and month exchanged."""
        return self._holds(found) or (found.other is not None and self._holds(found.other))

    def _holds(self, found: PartialDate) -> bool:
        year, month, day = found.year, found.month, found.day
        for held_year, held_month, held_day in self.written:
            same_year = not year or not held_year or year == held_year
            if same_year and month == held_month and (not day or day == held_day):
                return True
        return any(_covers(span, year, month, day) for span in self.spans)

    def holds_year(self, year: int) -> bool:
        """Whether a year alone is one of a date that the record gives, or of a span that it speaks of."""
        return any(held == year for held, _, _ in self.written) or any(
            span.first.year <= year <= span.last.year for span in self.spans if span.weekday < 0
        )


def _covers(span: _Span, year: int, month: int, day: int) -> bool:
    for candidate in {year} if year else {span.first.year, span.last.year}:
        if not day:
            if (span.first.year, span.first.month) <= (candidate, month) <= (span.last.year, span.last.month):
                return True
            continue
        try:
            meant = date(candidate, month, day)
        except ValueError:
            continue
        if span.first <= meant <= span.last and span.weekday in {-1, meant.weekday()}:
            return True
    return False
