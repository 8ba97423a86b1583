"""Selection: which scored segments of a text become its lines, and what of each is quoted.

Source: DESIGN G3, 3.4.
"""

from collections.abc import Sequence
from typing import Final

from everfold.core.statements.extracts import QUOTE_CHARS
from everfold.core.statements.rows import may_tell
from everfold.core.statements.scoring import Scored
from everfold.core.statements.segments import Segment, Span
from everfold.core.statements.signals import Signal

_LINES: Final = 12
_MOST_LINES: Final = 24
_CHARS_PER_MORE_LINE: Final = 1_500
SURE_ROWS: Final = 8
_TABLE_ROWS: Final = 6
"""Output in whose first 8 rows 6 hold an identifier is a table."""
_ROW_SPACING: Final = 4
_LAST_ROWS: Final = 3
_WORTH: Final = 14
_WORD_CHARS: Final = 24


def _count_lines(length: int) -> int:
    """How many lines a text of so many characters gives at most."""
    return min(_MOST_LINES, _LINES + length // _CHARS_PER_MORE_LINE)


def thin_table(
    segments: Sequence[Segment], head: Sequence[Signal], outcomes: Sequence[str], length: int
) -> list[Segment]:
    """The segments of an output that are judged; of a table, whose rows all tell the same, not every one.

    Of the rows behind the first ones every fourth is taken, more of them where those would be fewer than the lines that
    are still to be kept, the last ones, and all that may tell of an error or a state. Which of many rows become lines
    depends on these numbers; how many do does not where the rows are alike.

    Args:
        segments: Those behind the first `SURE_ROWS`.
        head: What the first `SURE_ROWS` hold.
        outcomes: What `list_outcomes` gives for the output.
        length: The length of what is read of the output.

    Source: own measurement, bench/digest_quality.py, in which no figure tells them from 16, 12 and every third.
    """
    named_count = sum([signal.kind == "identifier" for signal in head])
    last = len(segments) - _LAST_ROWS
    if named_count < _TABLE_ROWS or last <= 0:
        return list(segments)
    spacing = max(1, min(_ROW_SPACING, len(segments) // (_count_lines(length) - named_count)))
    return [
        segment
        for at, segment in enumerate(segments, 1)
        if at % spacing == 0 or at > last or may_tell(segment.lowered, outcomes)
    ]


def fit_quotes(text: str, scored: Sequence[Scored]) -> list[Scored]:
    """The segments, those that are too long for a quote cut to what they are kept for."""
    return [one if one.end - one.start <= QUOTE_CHARS else _fit(text, one) for one in scored]


def _fit(text: str, one: Scored) -> Scored:
    start, end = _cut_around(text, one.start, one.end, one.start + one.at)
    return one._replace(start=start, end=end)


def _cut_around(text: str, start: int, end: int, at: int) -> Span:
    """A part of at most `QUOTE_CHARS` around `at`, cut between words where there are words."""
    low = max(start, min(at - QUOTE_CHARS // 4, end - QUOTE_CHARS))
    high = min(end, low + QUOTE_CHARS)
    if low > start and (space := text.find(" ", low, low + _WORD_CHARS)) >= 0:
        low = space + 1
    if high < end and (space := text.rfind(" ", high - _WORD_CHARS, high)) > low:
        high = space
    return low, high


def move_tail(scored: Sequence[Scored], first: int, by: int) -> list[Scored]:
    """The segments where they stand in a text of which a part before `first` was not read."""
    return [one if one.start < first else one._replace(start=one.start + by, end=one.end + by) for one in scored]


def select_best(scored: Sequence[Scored], length: int) -> list[Scored]:
    """The segments that become lines, in the order of the text; at least one where there are any."""
    worth = [one for one in scored if one.score >= _WORTH or one.lasting]
    if not worth:
        return [max(scored, key=lambda one: one.score)]  # of equals the first
    if len(worth) <= (most := _count_lines(length)):
        return worth
    best = sorted(worth, key=lambda one: one.score, reverse=True)[:most]  # of equals the earlier ones
    return sorted(best, key=lambda one: one.start)
