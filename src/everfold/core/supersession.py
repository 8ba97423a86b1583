"""Which extract lines still hold: a newer statement replaces an older one about the same subject.

General rules, by overlap of subject words, deterministic and on the careful side: what is not clearly replaced stays.

Source: docs/adr/0003 on what an extractive digest holds (corrections, last state of each task).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from everfold.core.extracts import ExtractLine, LineKind
from everfold.core.statement_rules import list_word_set

_WORD: Final = re.compile(r"[^\W_][\w'.:/#@-]*[^\W_]|[^\W_]")
_STOP: Final = list_word_set(
    "a about actually after all also always am an and any are as at be been before but by call can correction could dear did do does don't"
    " done for from get give go going got had has have he her here hi him his how i i'd i'll i'm i've if in instead into is it it's its just"
    " let let's lets like make made me mean meant more most must my mine need never no not now of off ok okay on one only or our out over"
    " please pls rather said say scratch set she should so some sorry still sure take than thank thanks that that's the their them then there"
    " these they this those to too typo up us use used very want was wasn't we we'll well were what when which who will with would wrong yes"
    " you your remember keep prefer decided decide change changed mind wait hmm no,"
)
_REJECTED: Final = re.compile(
    r"(?:\bnot|\binstead of|\brather than|\bno longer|\bwas wrong[,:]?|\bi said|\bisn't|\bwasn't|\bdon't use|\bstop using) "
    r"(?:the |a |an |on |at |in |it's |to )?([\w$€£.:#@/-]+(?: [\w$€£.:#@/-]+)?)"
)
_REPLACES: Final = re.compile(
    r"\b(?:actually|instead|correction|changed my mind|scratch that|i meant|no longer|rather than|from now on|not anymore|make (?:it|that))\b"
)
_NEGATIVE: Final = re.compile(r"\b(?:not|never|no|don't|dont|can't|cannot|stop|avoid|without|won't|isn't)\b")
_DONE: Final = re.compile(
    r"\b(?:done|fixed|finished|completed?|resolved|closed|merged|deployed|delivered|cancell?ed|passed|passing|processed|booked|updated|works now)\b"
)
_TEST_SUMMARY: Final = re.compile(r"\b\d+ (?:passed|failed|tests? ran)\b")
_STATUS: Final = re.compile(r"\bstatus\W{1,4}\w+", re.IGNORECASE)

_FIRM: Final = 2
"""How many shared subject words make two statements speak of one subject."""
_REACH: Final = 40
"""How many messages back a bare correction ("no, make it 12") can reach without sharing a subject word."""
_VALUED: Final[frozenset[LineKind]] = frozenset(
    (
        "constraint",
        "preference",
        "decision",
        "correction",
        "identity",
        "remember",
        "number",
        "date",
        "task",
        "identifier",
        "answer",
    )
)


REMEMBERED_TEXTS = 4096
"""How many quotes stay read: the lines of a coarse digest come again at every roll-up."""

_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Reading:
    line: ExtractLine
    lowered: str
    subject: frozenset[str]
    values: frozenset[str]


def list_current(lines: Iterable[ExtractLine]) -> tuple[ExtractLine, ...]:
    """The lines without those that a newer one supersedes, in their order.

    O(n) plus the pairs that share a subject word or value.
    """
    given = tuple(lines)
    readings = sorted((_read(line) for line in given), key=lambda one: (one.line.seq, one.line.start))
    index: dict[str, list[int]] = {}
    gone: set[tuple[int, int]] = set()
    last_summary: _Reading | None = None
    for at, newer in enumerate(readings):
        _retire(newer, readings, index, gone)
        if newer.line.kind in ("state", "error") and _TEST_SUMMARY.search(newer.lowered):
            if last_summary is not None:
                gone.add(_key(last_summary.line))
            last_summary = newer
        if newer.line.kind in _VALUED or newer.line.kind in ("state", "error", "commitment"):
            for word in newer.subject | newer.values:
                index.setdefault(word, []).append(at)
    return tuple(line for line in given if _key(line) not in gone)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_words(text: str) -> frozenset[str]:
    """The words of a text that carry its subject: lower-cased, without stop words."""
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in _STOP)


def _key(line: ExtractLine) -> tuple[int, int]:
    return line.seq, line.start


def _read(line: ExtractLine) -> _Reading:
    return _Reading(line, *_read_quote(line.quote))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _read_quote(quote: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """A quote in lower case, its subject words and its values."""
    words = list_words(quote)
    values = frozenset(word for word in words if _DIGIT.search(word))
    return quote.lower(), words - values, values


def _retire(
    newer: _Reading, readings: Sequence[_Reading], index: dict[str, list[int]], gone: set[tuple[int, int]]
) -> None:
    kind = newer.line.kind
    if kind == "correction" or (newer.line.standing and _REPLACES.search(newer.lowered)):
        _retire_corrected(newer, readings, index, gone)
    if newer.line.standing:
        for older in _list_near(newer, readings, index):
            if older.line.standing and _is_same_subject(older, newer):
                gone.add(_key(older.line))
    elif kind in ("task", "state") and newer.line.origin != "external":
        for older in _list_near(newer, readings, index):
            if _is_earlier_state(older, newer):
                gone.add(_key(older.line))


def _list_near(newer: _Reading, readings: Sequence[_Reading], index: dict[str, list[int]]) -> list[_Reading]:
    """Older readings that share a word, newest first, at most 24 for each word."""
    places = {place for word in newer.subject | newer.values for place in index.get(word, [])[-24:]}
    return [readings[place] for place in sorted(places, reverse=True) if readings[place].line.seq < newer.line.seq]


def _retire_corrected(
    newer: _Reading, readings: Sequence[_Reading], index: dict[str, list[int]], gone: set[tuple[int, int]]
) -> None:
    """What a correction rejects by its value, else the nearest older statement of the same subject."""
    rejected = [list_words(found) for found in _REJECTED.findall(newer.lowered)]
    rejected = [words for words in rejected if words]
    near = _list_near(newer, readings, index)
    hit = False
    for older in near:
        if older.line.origin == "external" or older.line.kind not in _VALUED:
            continue
        held = older.subject | older.values
        close = newer.line.seq - older.line.seq <= _REACH
        shares = bool((newer.subject & older.subject) - frozenset().union(*rejected))
        if (
            any(words <= held for words in rejected)
            and (close or shares)
            and not _holds_new_value(older, newer, rejected)
        ):
            gone.add(_key(older.line))
            hit = True
    if hit or rejected:
        return
    for older in near:
        shared = newer.subject & older.subject
        smaller = min(len(newer.subject), len(older.subject))
        if older.line.kind in _VALUED and older.line.standing and shared and len(shared) * 2 >= smaller:
            gone.add(_key(older.line))
            return


def _holds_new_value(older: _Reading, newer: _Reading, rejected: Sequence[frozenset[str]]) -> bool:
    """Whether the older statement already says the new value, so that it stays true."""
    fresh = newer.values - frozenset().union(*rejected)
    return bool(fresh) and fresh <= older.values


def _is_same_subject(older: _Reading, newer: _Reading) -> bool:
    """Same frame with another number, or the same words with the opposite sign."""
    if not older.subject or not newer.subject:
        return False
    shared = len(older.subject & newer.subject)
    smaller, larger = sorted((len(older.subject), len(newer.subject)))
    if older.values and newer.values and not older.values & newer.values:
        return shared == smaller and (smaller >= _FIRM or larger <= _FIRM) and _unit(older) == _unit(newer)
    opposite = bool(_NEGATIVE.search(older.lowered)) != bool(_NEGATIVE.search(newer.lowered))
    return opposite and shared == larger and older.values == newer.values


def _unit(reading: _Reading) -> bool:
    return any(sign in reading.lowered for sign in "$€£%")


def _is_earlier_state(older: _Reading, newer: _Reading) -> bool:
    if older.line.kind not in ("task", "state", "commitment"):
        return False
    if older.line.kind == "state" and _STATUS.search(older.lowered) and _STATUS.search(newer.lowered):
        return bool(older.values & newer.values) and older.lowered != newer.lowered
    shared = len(older.subject & newer.subject) + len(older.values & newer.values)
    smaller = min(len(older.subject) + len(older.values), len(newer.subject) + len(newer.values))
    return bool(_DONE.search(newer.lowered)) and shared >= _FIRM and shared * 5 >= smaller * 3
