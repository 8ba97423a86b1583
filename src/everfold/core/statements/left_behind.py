"""Whether an older clause says what a newer statement gives up, so that nothing else of it is lost.

Source: own rules, tuned on `own.jsonl`, `fresh.jsonl` and `styles.jsonl` of `tests/data/supersession` only.
"""

import re
from typing import Final

from everfold.core.statements.changes import FIRST_PERSON
from everfold.core.statements.frames import (
    GENERIC,
    LIGHT,
    TIMES,
    Frame,
    make_plain,
)
from everfold.core.statements.given_up import GivenUp
from everfold.core.statements.moved_values import is_told_of_us
from everfold.core.statements.other_things import covers_subject
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.slots import (
    HABITUAL,
    WEEKDAYS,
)
from everfold.core.text.stems import stem

_DAYS: Final = frozenset(map(stem, WEEKDAYS | HABITUAL))


def is_given_up(given_up: GivenUp, told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the older clause says what is given up, and the rest of it is told again."""
    content, said = make_plain(frame.clause.content), frame.clause
    if frame.is_past and said.tokens[said.verb_at] not in ("can", "could") and not _is_undone(told, frame):
        return False
    old = given_up.words & content
    if not old or not given_up.words <= content | GENERIC:
        return False
    predicate = make_plain(said.predicate) - LIGHT
    if said.is_joined and not old >= (predicate if old & _DAYS else predicate - _DAYS):
        return False
    if content - LIGHT - GENERIC <= old and not given_up.is_clause:
        return True
    rest = content - old - LIGHT - GENERIC
    if said.is_first:
        return _is_own_given_up(given_up, old, rest, told, words, frame)
    if not frame.subject:
        return bool(rest) and rest <= words
    if given_up.is_clause and old & (predicate - frame.subject):
        return covers_subject(frame.subject, said, words | old)
    if old & frame.subject and frame.subject - GENERIC <= old:
        left = predicate - GENERIC - old
        return not given_up.is_clause and bool(left & words) and len(left - words) <= len(left & words)
    if old <= frame.subject:
        return False
    return (
        _is_own_role_given_up(old, told, frame)
        or covers_subject(frame.subject, said, words)
        or is_told_of_us(told, frame)
    )


def _is_undone(told: str, frame: Frame) -> bool:
    """Whether what was ordered is cancelled."""
    return frame.verb in _ORDERED and _UNDONE.search(told.lower()) is not None


_ORDERED: Final = frozenset(map(stem, "book order reserve schedule plan sign arrange invite subscribe".split()))
_UNDONE: Final = re.compile(r"\b(?:cancell?ed|called off|undid|reversed|withdrew|sent back|returned)\b")


_OBJECTS: Final = frozenset(("him", "her", "it", "them"))


def points_to_given_up(given_up: GivenUp, words: frozenset[str], frame: Frame) -> bool:
    """Whether all that the older clause says of somebody is denied of "her" or "it"."""
    predicate = make_plain(frame.clause.predicate) - LIGHT
    if given_up.is_clause and given_up.is_first and frame.clause.is_first and given_up.words & _OBJECTS:
        return given_up.words - _OBJECTS == {frame.verb} and predicate - TIMES <= words
    return given_up.is_pointing and len(predicate) > 1 and given_up.words == predicate


def _is_own_given_up(
    given_up: GivenUp, old: frozenset[str], rest: frozenset[str], told: str, words: frozenset[str], frame: Frame
) -> bool:
    """Whether what the speaker told of themselves is given up: all of it, or the phrase that matters."""
    predicate = make_plain(frame.clause.predicate) - LIGHT
    if given_up.is_clause and not given_up.is_first:
        return rest <= words and len(old) > 1 and bool(old & predicate)
    values = NOTHING.union(*(phrase.words for phrase in frame.phrases))
    if (
        given_up.is_gone
        and len(old) > 1
        and old == NOTHING.union(*(one.words for one in frame.phrases if one.words & old))
    ):
        return True
    if not FIRST_PERSON.search(told):
        return bool(rest) and rest <= words
    if given_up.is_clause:
        return bool(old & predicate) and (values - LIGHT - GENERIC <= old or rest <= words)
    if rest - TIMES <= words:
        return True
    holding = [phrase for phrase in frame.phrases if old <= phrase.words]
    if not holding:
        return False
    others = NOTHING.union(*(phrase.words for phrase in frame.phrases if phrase not in holding))
    left = holding[0].words - old - GENERIC - TIMES - words
    is_told = frame.verb in words | LIGHT | {"be", "have"} or holding[0].words - TIMES - GENERIC <= old
    return others - LIGHT - GENERIC - TIMES <= words and len(left) <= 1 and is_told


_QUITS: Final = re.compile(r"(?:\w+ )?(?:i|we|the \w+ took me)\b")


def _is_own_role_given_up(old: frozenset[str], told: str, frame: Frame) -> bool:
    """Whether the speaker has left what "my gym is" names."""
    clause = frame.clause
    if not frame.is_copula or clause.tokens[0] not in ("my", "our") or not frame.phrases or frame.phrases[0].join:
        return False
    return _QUITS.match(told.lower()) is not None and old >= frame.phrases[0].words - GENERIC
