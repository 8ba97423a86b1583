"""Rows: the segments of what a program put out, each with the words of an outcome."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from everfold.core.statements.classification import collect_cues, list_outcome_words
from everfold.core.statements.segments import Segment

_match_code: Final = re.compile(
    r"(?:\d+[:|] ?)?\s*(?:except\b|raise\b|catch\b|throw\b|return\b|def \w|class \w|import \w|from \w|if \W?\w.*[:{]$|else\b|elif\b|try\b|for .*[:{]$|#(?!\d)|//"
    r"|\) from|@\w|self\.|const |let |var |fn |func |public |private |[\w.]+ = \S+\($)|\d+[:|](?!\d)"
).match
"""A line of a program's text, which mentions errors without there being one."""
_ERRORS: Final = ("error", "exception")
"""Parts of the names of errors, which stand in no table of words."""


class Row(NamedTuple):
    """One segment of output, classified.

    Attributes:
        lowered: The segment in lower case, as long as it is.
        may_tell: Whether it has a word of an error or a state.
        cues: The rules and flags that its words leave possible, as bits; 0 for a row that may tell of no outcome.
        is_code: Whether it is a line of a program's text.
    """

    start: int
    text: str
    lowered: str
    may_tell: bool
    cues: int
    is_code: bool


def list_outcomes(lowered: str) -> list[str]:
    """The words and parts of words in a lower-cased output that may report an error or a state."""
    return [*list_outcome_words(lowered), *(word for word in _ERRORS if word in lowered)]


def may_tell(lowered: str, outcomes: Sequence[str]) -> bool:
    """Whether a lower-cased segment has one of the words that may report an error or a state."""
    for word in outcomes:  # noqa: SIM110 - without the generator, which costs more than the search
        if word in lowered:
            return True
    return False


def classify_rows(segments: Sequence[Segment], outcomes: Sequence[str]) -> list[Row]:
    """Segments of an output, each with what it may tell of what `list_outcomes` gives for all of it."""
    return [_classify(segment, outcomes) for segment in segments]


def _classify(segment: Segment, outcomes: Sequence[str]) -> Row:
    start, text, lowered = segment
    is_telling = may_tell(lowered, outcomes)
    cues = collect_cues(lowered, lowered.split()) if is_telling else 0
    return Row(start, text, lowered, is_telling, cues, _match_code(text) is not None)
