"""The raw text of an iCalendar file before it is parsed: bounded, mended where programs write it oddly, and thinned.

The parser is thorough and slow, about half a megabyte a second, and calendars keep the events of decades. A single
event that lies outside the days in question by its own dates can be left out before; one that repeats, belongs to a
series, is there twice or says its times in another way stays.
"""

import re
from collections import Counter
from datetime import date
from functools import lru_cache
from typing import Final
from zoneinfo import available_timezones

from everfold.errors import SourceError

MOST_COMPACTIONS: Final = 20_000
"""How many events are parsed at most, after thinning."""
MOST_LINE_BYTES: Final = 1_000_000

_EVENT: Final = re.compile(
    rb"^BEGIN:VEVENT[ \t]*\r?\n((?:(?!BEGIN:VEVENT|END:VEVENT)[^\n]*\n)*+)END:VEVENT[ \t]*\r?\n?",
    re.MULTILINE | re.IGNORECASE,
)
"""An event that holds no other, so that one without an end costs no search to the end of the file."""
_FOLD: Final = re.compile(rb"\r?\n[ \t]")
"""Source: RFC 5545, 3.1, folded lines."""
_OF_A_SERIES: Final = re.compile(rb"^(?:RRULE|RDATE|EXRULE|RECURRENCE-ID|DURATION)[;:]", re.MULTILINE | re.IGNORECASE)
_UID: Final = re.compile(rb"^UID[^\r\n:]*:([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_START: Final = re.compile(
    rb"^DTSTART[^\r\n:]*:([0-9]{4})([0-9]{2})([0-9]{2})(?=[T\r\n])", re.MULTILINE | re.IGNORECASE
)
_END: Final = re.compile(rb"^DTEND[^\r\n:]*:([0-9]{4})([0-9]{2})([0-9]{2})(?=[T\r\n])", re.MULTILINE | re.IGNORECASE)
_VENDOR_ZONE: Final = re.compile(rb'(\bTZID[=:]"?)/([^\r\n:;"]*)')
"""A zone with the path of the program that wrote it before its name. Source: RFC 5545, 3.2.19, globally unique TZID."""
_MOST_STEPS: Final = 3
"""Of how many parts the name of a zone is, as `America/Argentina/Salta`. Source: the tz database."""


def prepare_calendar(raw: bytes, *, first: date, last: date, source: str) -> tuple[bytes, int]:
    """The text to parse, with the single events between two days only, and how many were left out; O(n).

    Raises:
        SourceError: it is no calendar, was cut off, or holds too many events.
    """
    text = _FOLD.sub(b"", raw.removeprefix(b"\xef\xbb\xbf").strip()) + b"\r\n"
    _check_whole(text, source=source)
    text = _VENDOR_ZONE.sub(_name_zone, text)
    uses = Counter(found[1] for found in _UID.finditer(text))
    kept_count = left_count = 0

    def thin(event: re.Match[bytes]) -> bytes:
        nonlocal kept_count, left_count
        if _is_outside(event[1], uses, first, last):
            left_count += 1
            return b""
        kept_count += 1
        return event[0]

    thinned = _EVENT.sub(thin, text)
    if kept_count > MOST_COMPACTIONS:
        raise SourceError(
            f"the calendar of {source} holds {kept_count:,} events in the time span, more than {MOST_COMPACTIONS:,}; give a "
            "smaller one",
            source=source,
        )
    return thinned, left_count


def _name_zone(found: re.Match[bytes]) -> bytes:
    """A zone by its name alone; as it came where its last parts are no name."""
    steps = found[2].rstrip(b"/").split(b"/")[-_MOST_STEPS:]
    names = (b"/".join(steps[at:]) for at in range(len(steps)))
    name = next((name for name in names if name in _list_zones()), None)
    return found[0] if name is None else found[1] + name


@lru_cache(maxsize=1)
def _list_zones() -> frozenset[bytes]:
    """The names of all zones; they are read from a folder of files."""
    return frozenset(name.encode() for name in available_timezones())


def _check_whole(text: bytes, *, source: str) -> None:
    if text[:15].upper() != b"BEGIN:VCALENDAR":
        seen = (
            "a web page" if b"<html" in text[:2000].lower() or b"<!doctype" in text[:200].lower() else "something else"
        )
        raise SourceError(
            f"the calendar of {source} does not begin with BEGIN:VCALENDAR; it is {seen}: check that it is an iCalendar "
            "file that needs no login",
            source=source,
        )
    if not text.rstrip().upper().endswith(b"END:VCALENDAR"):
        raise SourceError(
            f"the calendar of {source} ends before END:VCALENDAR: it is incomplete; fetch it again", source=source
        )
    if len(max(text.split(b"\n"), key=len)) > MOST_LINE_BYTES:
        raise SourceError(
            f"the calendar of {source} has a line of more than {MOST_LINE_BYTES:,} bytes; leave attachments out of it",
            source=source,
        )


def _is_outside(event: bytes, uses: Counter[bytes], first: date, last: date) -> bool:
    """Whether it is single and lies, by its own dates, before or after these days by more than zones can move it."""
    uid, start = _UID.search(event), _START.search(event)
    if uid is None or start is None or uses[uid[1]] != 1 or _OF_A_SERIES.search(event):
        return False
    end = _END.search(event) or start
    return _number(end) < _as_number(first) or _number(start) > _as_number(last)


def _number(found: re.Match[bytes]) -> int:
    return int(found[1] + found[2] + found[3])


def _as_number(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day
