"""Scores: how much a careful person would want to keep a segment, from what it states and what it holds.

Source: DESIGN G3, 3.4.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from everfold.core.statements.classification import Statement
from everfold.core.statements.extracts import LineKind
from everfold.core.statements.rows import Row
from everfold.core.statements.sentences import Sentence
from everfold.core.statements.signals import Signal

_BASE: Final[dict[LineKind, int]] = {
    "remember": 92,
    "constraint": 90,
    "correction": 88,
    "decision": 84,
    "identity": 80,
    "preference": 76,
    "error": 66,
    "state": 60,
    "commitment": 50,
    "task": 66,
    "identifier": 54,
    "path": 46,
    "number": 44,
    "date": 24,
    "name": 10,
    "answer": 40,
    "question": 10,
    "lead": 4,
}
REMEMBERED: Final = _BASE["remember"]
_MACHINE_BASE: Final[dict[LineKind, int]] = {
    **_BASE,
    "remember": 56,
    "constraint": 56,
    "correction": 60,
    "decision": 60,
    "identity": 30,
    "preference": 30,
    "commitment": 24,
    "task": 48,
}
_OUTPUT_BASE: Final[dict[LineKind, int]] = {**_BASE, "date": 42, "name": 34}
_SOFT: Final[frozenset[LineKind]] = frozenset(("lead", "name", "date"))
"""Kinds that say little of a sentence: it counts by its words as well."""
_FULL: Final = 100
_MOST_FOR_FACTS: Final = 8
_MOST_FOR_ROW_FACTS: Final = 12
_MOST_PLAIN: Final = 16
"""What a row of output that tells nothing hard scores at most, however long it is."""
_LAST_BONUSES: Final = (9, 6, 3)
"""What the last row of an output counts more, the one before it, and the one before that."""
_has_letter: Final = re.compile(r"[^\W\d_]").search


class Scored(NamedTuple):
    """A segment with its score, from 0 to 100.

    Attributes:
        at: Where in it shows what it is kept for.
        standing: Whether it binds beyond its moment.
        lasting: Whether it outlasts its moment.
        is_foreign: Whether its words are not the speaker's.
    """

    score: int
    start: int
    end: int
    at: int
    kind: LineKind
    standing: bool = False
    lasting: bool = False
    is_foreign: bool = False


def score_sentences(sentences: Sequence[Sentence], signals: Sequence[Signal], *, from_user: bool) -> list[Scored]:
    """Sentences scored; what a machine states counts less than what a person does."""
    bases = _BASE if from_user else _MACHINE_BASE
    return [_score_sentence(one, signal, bases) for one, signal in zip(sentences, signals, strict=True)]


def _score_sentence(sentence: Sentence, signal: Signal, bases: Mapping[LineKind, int]) -> Scored:
    start, text, _, _, statement, weight = sentence
    end = start + len(text)
    bonus = min(2 * signal.facts_count, _MOST_FOR_FACTS)
    if statement is None:
        score = _BASE[signal.kind] + bonus + (weight if signal.kind in _SOFT else 0)
        return Scored(min(score, _FULL), start, end, signal.at, signal.kind)
    kind, base, at = _prefer(statement, signal, bases)
    score = base + bonus + (weight // 2 if kind == "question" else 0)
    return Scored(min(score, _FULL), start, end, at, kind, statement.standing, statement.lasting)


def _prefer(statement: Statement, signal: Signal, bases: Mapping[LineKind, int]) -> tuple[LineKind, int, int]:
    """What a sentence counts as, of what it states and what it holds: the kind, its base, and where that shows."""
    said, held = statement.kind, signal.kind
    if statement.standing or bases[said] >= _BASE[held] or (said == "question" and held in _SOFT):
        return said, bases[said], statement.at
    return (said, _BASE[held], statement.at) if statement.lasting else (held, _BASE[held], signal.at)


def score_rows(rows: Sequence[Row], signals: Sequence[Signal]) -> list[Scored]:
    """Rows of a program's output scored; the last three count more, since what a command says last is its outcome."""
    scored = [_score_row(row, signal) for row, signal in zip(rows, signals, strict=True)]
    last = scored[-len(_LAST_BONUSES) :]
    for at, (one, more) in enumerate(zip(reversed(last), _LAST_BONUSES, strict=False), 1):
        scored[-at] = one._replace(score=min(one.score + more, _FULL))
    return scored


def _score_row(row: Row, signal: Signal) -> Scored:
    kind, at, count = signal
    if row.is_code or kind == "lead" or (kind == "number" and _has_letter(row.text) is None):
        score = min(_BASE["lead"] + len(row.text) // 16, _MOST_PLAIN)
    else:
        score = _OUTPUT_BASE[kind] + min(2 * count, _MOST_FOR_ROW_FACTS)
    return Scored(score, row.start, row.start + len(row.text), at, kind)
