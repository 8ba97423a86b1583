"""Which extract lines still hold: a newer statement replaces an older one about the same subject.

General rules, by overlap of subject words, deterministic and on the careful side: what is not clearly replaced stays.
A number, an amount, a date or a time is a value, which a newer statement can change. An identifier or a proper name
tells which thing is spoken of: statements that differ in one are about different things.

Source: docs/adr/0006-extract-lines.md on what a digest selects from.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from everfold.core.extracts import ExtractLine, LineKind
from everfold.core.statement_rules import DATE_WORDS, list_word_set

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
_PLAIN_VALUE: Final = re.compile(r"\d[\d.,:/'-]*(?:[^\W\d_]{1,3})?|\d[\d-]*t[\d:.+-]+z?|v\d[\d.]*")
"""A number, also with a unit; a date; a time; a version. Any other word with a digit is an identifier."""
_ASSIGNED: Final = re.compile(r"(?:\b(?:is|are)|[:=]) ([\w'.:/#@-]*\w)\W*$")
"""What a statement says of its subject at its end ("my badge is K-17"): a value, whatever its shape."""
_PROPER: Final = re.compile(r"(?<=[\w,;] )(?!I\b)[A-Z][\w'-]*\w")
_DATES: Final = list_word_set(f"{DATE_WORDS} may march")


@dataclass(frozen=True, slots=True)
class _Reading:
    line: ExtractLine
    lowered: str
    subject: frozenset[str]
    values: frozenset[str]
    """The words with a digit, identifiers too."""
    names: frozenset[str]
    """The identifiers and proper names, which tell the thing that it is about from others of its sort."""


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
def _read_quote(quote: str) -> tuple[str, frozenset[str], frozenset[str], frozenset[str]]:
    """A quote in lower case, its subject words, its values and its names."""
    lowered = quote.lower()
    words = list_words(quote)
    values = frozenset(word for word in words if _DIGIT.search(word))
    identifiers = {word for word in values if not _PLAIN_VALUE.fullmatch(word)}
    assigned = _ASSIGNED.search(lowered)
    names = {name.lower() for name in _PROPER.findall(quote)}.union(identifiers)
    return lowered, words - values, values, (words & names) - _DATES - {assigned[1] if assigned else ""}


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
        if newer.line.kind != "correction" and _is_about_another(older, newer):
            continue
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
    if not older.subject or not newer.subject or _is_about_another(older, newer):
        return False
    shared = len(older.subject & newer.subject)
    smaller, larger = sorted((len(older.subject), len(newer.subject)))
    changed, fresh = older.values - older.names, newer.values - newer.names
    if changed and fresh and not changed & fresh:
        return shared == smaller and (smaller >= _FIRM or smaller == larger) and _unit(older) == _unit(newer)
    opposite = bool(_NEGATIVE.search(older.lowered)) != bool(_NEGATIVE.search(newer.lowered))
    return opposite and shared == larger and older.values == newer.values


def _is_about_another(older: _Reading, newer: _Reading) -> bool:
    """Whether one of them names a thing that the other does not speak of."""
    return not (older.names <= newer.subject | newer.values and newer.names <= older.subject | older.values)


def _unit(reading: _Reading) -> bool:
    return any(sign in reading.lowered for sign in "$€£%")


def _is_earlier_state(older: _Reading, newer: _Reading) -> bool:
    if older.line.kind not in ("task", "state", "commitment") or _are_rivals(older, newer):
        return False
    if older.line.kind == "state" and _STATUS.search(older.lowered) and _STATUS.search(newer.lowered):
        return bool(older.values & newer.values) and older.lowered != newer.lowered
    shared = len(older.subject & newer.subject) + len(older.values & newer.values)
    smaller = min(len(older.subject) + len(older.values), len(newer.subject) + len(newer.values))
    return bool(_DONE.search(newer.lowered)) and shared >= _FIRM and shared * 5 >= smaller * 3


def _are_rivals(older: _Reading, newer: _Reading) -> bool:
    """Whether both name their thing by an identifier, and not by the same: a report need not repeat it."""
    told, said = older.names & older.values, newer.names & newer.values
    return bool(told) and bool(said) and not told & said
