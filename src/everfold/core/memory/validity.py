"""Validity: from when and until when a candidate is true, as its message states it, not as a model computes it.

Source: DESIGN section 4, "Item"; `held_dates` says which days follow from words.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from everfold.core.memory.items import Evidence
from everfold.core.text.ends import find_end
from everfold.core.text.held_dates import HeldDates, PartialDate

_NEAR_CHARS: Final = 4_000
"""How far from a quote its dates may stand."""
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:next|last|this|coming) (?:week|weekend|month|year|spring|summer|autumn|fall|winter"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|heute|morgen|gestern|demain|hier|aujourd'hui|mañana|ayer|hoy)\b",
    re.IGNORECASE,
)


def date_relative(statement: str, said_at: datetime) -> str:
    """The statement, with the day that it was said on behind it where it speaks of days by their distance."""
    return f"{statement} (said on {said_at:%Y-%m-%d})" if _RELATIVE.search(statement) else statement


def read_validity(entry: Mapping[str, object], evidence: Evidence, text: str) -> tuple[datetime, datetime | None]:
    """Since when a candidate holds, the moment of its message where nothing else follows from it, and until when.

    Where the entry gives no end, the words of the quote may.

    Args:
        entry: May have `valid_from` and `valid_to`, of any type.
        evidence: The candidate's quote.
        text: All of its message.
    """
    text = text[max(evidence.start - _NEAR_CHARS, 0) : evidence.start + _NEAR_CHARS]
    valid_from = _read_day(entry.get("valid_from"), text, evidence.said_at)
    valid_to = _read_day(entry.get("valid_to"), text, evidence.said_at, is_end=True)
    valid_to = valid_to or find_end(evidence.quote, evidence.said_at)
    begins_at = valid_from or evidence.said_at
    return begins_at, valid_to if valid_to is not None and valid_to > begins_at else None


def _read_day(value: object, text: str, said_at: datetime, *, is_end: bool = False) -> datetime | None:
    """A day as the model gives it, where the message writes it or it follows from its words; else None."""
    if not isinstance(value, str):
        return None
    try:
        given = datetime.fromisoformat(value.strip())
        moment = read_model_end(value) if is_end else _to_utc(given)
        return moment if _follows(given.date(), text, said_at.date()) else None
    except (ValueError, OverflowError):
        return None


def read_model_end(text: str) -> datetime:
    """A model's end as a moment in UTC: the last second of its day where it gives midnight or no time.

    Raises:
        ValueError: it is none.
        OverflowError: it is in no year of UTC.
    """
    end = datetime.fromisoformat(text.strip())
    return _to_utc(end if end.time() != time() else end.replace(hour=23, minute=59, second=59))


def _to_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _follows(day: date, text: str, said_on: date) -> bool:
    """Whether a text gives a day: written, by relative words, or as the first or last day of a month or year of it."""
    held = HeldDates()
    held.add(text.lower(), said_on)
    if held.holds(PartialDate(day.year, day.month, day.day, 0, 0)):
        return True
    if (day.month, day.day) in {(1, 1), (12, 31)} and re.search(rf"(?<!\d){day.year}(?!\d)", text):
        return True
    is_month_edge = day.day == 1 or (day + timedelta(days=1)).day == 1
    return is_month_edge and (day.year, day.month, 0) in held.written
