"""What a quote says, for comparing reports: its words, its values and its identifiers, and whether it says that all is done.

An identifier tells which thing is spoken of: reports that differ in one are about different things.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern

_WORD: Final = re.compile(r"[^\W_][\w'.:/#@-]*[^\W_]|[^\W_]")
_STOP: Final = list_word_set(
    "a about actually after all also always am an and any are as at be been before but by call can correction could dear did do does don't"
    " done for from get give go going got had has have he her here hi him his how i i'd i'll i'm i've if in instead into is it it's its just"
    " let let's lets like make made me mean meant more most must my mine need never no not now of off ok okay on one only or our out over"
    " please pls rather said say scratch set she should so some sorry still sure take than thank thanks that that's the their them then there"
    " these they this those to too typo up us use used very want was wasn't we we'll well were what when which who will with would wrong yes"
    " you your remember keep prefer decided decide change changed mind wait hmm no,"
)
_NEGATIVE: Final = r"\b(?:not|never|no|don't|dont|can't|cannot|stop|avoid|without|won't|isn't)\b"
_DONE: Final = r"\b(?:done|fixed|finished|completed?|resolved|closed|merged|deployed|delivered|cancell?ed|passed|passing|processed|booked|updated|works now)\b"
_DONE_PARTS: Final = (
    *("done", "fixed", "finished", "complete", "resolved", "closed", "merged", "deployed", "delivered", "cancel"),
    *("pass", "processed", "booked", "updated", "works now"),
)
"""Every text that `_DONE` finds holds one of these; looking for them takes a third of its time."""
_TEST_SUMMARY: Final = re.compile(r"\b\d+ (?:passed|failed|tests? ran)\b")
_SUMMARY_PARTS: Final = (" passed", " failed", " ran")
_STATUS: Final = re.compile(r"\bstatus\W{1,4}\w+", re.IGNORECASE)
_STATUS_PART: Final = "tatu"
"""What `_STATUS` holds in lower case whichever s it was written with."""
REMEMBERED_TEXTS = 4096
"""How many quotes stay read: the lines of a rollup come again at every roll-up."""
_REMEMBERED_WORDS: Final = 1024

_DIGIT: Final = re.compile(r"\d")
_PLAIN_VALUE: Final = re.compile(r"\d[\d.,:/'-]*(?:[^\W\d_]{1,3})?|\d[\d-]*t[\d:.+-]+z?|v\d[\d.]*")
"""A number, also with a unit; a date; a time; a version. Any other word with a digit is an identifier."""
_ASSIGNED: Final = re.compile(r"(?:\b(?:is|are)|[:=]) ([\w'.:/#@-]*\w)\W*$")
"""What a statement says of its subject at its end ("my badge is K-17"): a value, whatever its shape."""

NOTHING: Final[frozenset[str]] = frozenset()


class Reading(NamedTuple):
    """What a quote says, for the few lines that are compared with others."""

    lowered: str
    words: frozenset[str]
    values: frozenset[str]
    """The words with a digit, identifiers too."""
    identifiers: frozenset[str]
    """The values that tell the thing that it is about from others of its sort."""


@lru_cache(maxsize=_REMEMBERED_WORDS)
def list_words(text: str) -> frozenset[str]:
    """The words of a text that carry its subject: lower-cased, without stop words."""
    return frozenset(_WORD.findall(text.lower())) - _STOP


@lru_cache(maxsize=REMEMBERED_TEXTS)
def read_quote(quote: str) -> Reading:
    """What a quote says."""
    lowered = quote.lower()
    words = list_words(quote)
    values = frozenset(filter(_DIGIT.search, words)) if _DIGIT.search(lowered) else NOTHING
    assigned = _ASSIGNED.search(lowered)
    identifiers = {word for word in values if not _PLAIN_VALUE.fullmatch(word)} - {assigned[1] if assigned else ""}
    return Reading(lowered=lowered, words=words, values=values, identifiers=frozenset(identifiers))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_done(quote: str) -> bool:
    """Whether a quote reports that something is done."""
    lowered = quote.lower()
    return any(part in lowered for part in _DONE_PARTS) and bool(compile_pattern(_DONE).search(lowered))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_negative(quote: str) -> bool:
    """Whether a quote denies or forbids something."""
    return bool(compile_pattern(_NEGATIVE).search(quote.lower()))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def has_status(quote: str) -> bool:
    """Whether a quote names the status of something."""
    lowered = quote.lower()
    return _STATUS_PART in lowered and bool(_STATUS.search(lowered))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def sums_up(quote: str) -> bool:
    """Whether it sums up a run of tests."""
    lowered = quote.lower()
    return any(part in lowered for part in _SUMMARY_PARTS) and bool(_TEST_SUMMARY.search(lowered))
