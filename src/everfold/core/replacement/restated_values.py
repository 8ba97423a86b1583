"""Whether a clause beside a mark tells an older clause again, with another value of one phrase.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from everfold.core.changes.given_up import split_clauses
from everfold.core.changes.words import DENIALS, LEADS, SOFT_MARKS
from everfold.core.clauses.assertions import POINTERS, REMEMBERED_READINGS, read_assertion
from everfold.core.clauses.frames import (
    GENERIC,
    LIGHT,
    TIMES,
    Frame,
    Phrase,
    make_plain,
    read_frame,
    turn_around,
    turn_to_thing,
)
from everfold.core.clauses.slots import STATES
from everfold.core.replacement.moved_values import are_comparable
from everfold.core.replacement.other_things import covers_subject
from everfold.core.replacement.single_values import (
    MANY_VERBS,
    PLACES,
    differs_in_one,
    has_one_name,
    has_same_subject,
    is_of_adjective,
)
from everfold.core.statements.rules import list_word_set
from everfold.core.text.stems import stem


def is_restated(told: str, frame: Frame, words: frozenset[str], gone: frozenset[str]) -> bool:
    """Whether a clause of a marked statement is the older one with another value.

    Args:
        told: The newer statement, prepared.
        frame: The older clause.
        words: Those of all clauses of the newer one.
        gone: Those of what it gives up.
    """
    return any(_tells_again(one, other, words, gone) for one, other in _pair_frames(told, frame))


def _pair_frames(told: str, said: Frame) -> Iterator[tuple[Frame, Frame]]:
    """Each clause of the newer statement that denies nothing beside the older one, both also turned around."""
    others = tuple(_list_turned(said))
    for clause in dict.fromkeys((told, *_list_whole_clauses(told, said))):
        for one in _read_affirmed(clause):
            for other in others:
                yield one, other


@lru_cache(maxsize=REMEMBERED_READINGS)
def _read_affirmed(clause: str) -> tuple[Frame, ...]:
    """A clause of the newer statement as frames, also turned around; empty for one that denies something."""
    plain = " ".join(SOFT_MARKS.sub(" ", LEADS.sub("", clause)).split()).strip(" ,.")
    frame = None if DENIALS.search(plain) else read_frame(plain)
    return () if frame is None else tuple(_list_turned(frame))


def _list_turned(frame: Frame) -> Iterator[Frame]:
    """A frame, and what it gives turned around and turned to its thing."""
    for one in (frame, turn_around(frame), turn_to_thing(frame)):
        if one is not None:
            yield one


def _list_whole_clauses(told: str, said: Frame) -> Iterator[str]:
    """The clauses of a statement; one that begins with the older one's verb has the subject of the clause before it."""
    verb, subject = said.clause.tokens[said.clause.verb_at], ""
    for part in split_clauses(told):
        clause = read_assertion(part)
        if subject and stem(clause.tokens[0] if clause.tokens else "") == stem(verb):
            yield f"{subject} {part}"
        else:
            subject = " ".join(clause.raw[: clause.verb_at]) if clause.verb_at > 0 else subject
            yield part


def _tells_again(newer: Frame, older: Frame, words: frozenset[str], gone: frozenset[str]) -> bool:
    """Whether one clause is the older one with another value."""
    if older.is_past or newer.verb != older.verb:
        return False
    if differs_in_one(newer, older, is_marked=True):
        return True
    if not has_same_subject(newer, older) and not _points_to_it(newer, older, words):
        return False
    if _is_other_than_given_up(newer, older, gone):
        return True
    here = make_plain(newer.clause.content) - gone
    missing = [phrase for phrase in older.phrases if not phrase.words <= here]
    new = [one for one in newer.phrases if not any(one.words <= phrase.words for phrase in older.phrases)]
    known = make_plain(older.clause.content) | TIMES | GENERIC | LIGHT
    return any(
        _tells_instead(left, new, known, older)
        and all(
            other is left or other.words <= words - gone or _may_be_left_out(other, new, older) for other in missing
        )
        for left in missing
    )


def _is_other_than_given_up(newer: Frame, older: Frame, gone: frozenset[str]) -> bool:
    """Whether a thing is told to be something else than what it was told to be, which is given up."""
    if not (newer.is_copula and older.is_copula and newer.phrases and older.phrases) or older.clause.is_first:
        return False
    one, other = older.phrases[0], newer.phrases[0]
    return not one.join and not other.join and one.words <= gone and one.words.isdisjoint(other.words)


def _may_be_left_out(phrase: Phrase, new: Sequence[Phrase], older: Frame) -> bool:
    """Whether a phrase is a detail that need not be told again: no other phrase of its sort is told, and it names nothing."""
    is_detail = bool(phrase.join) and phrase is not older.phrases[0] and phrase.sort != "name"
    return is_detail and not any(one.join == phrase.join for one in new)


def _tells_instead(left: Phrase, new: Sequence[Phrase], known: frozenset[str], older: Frame) -> bool:
    """Whether new phrases give another value for one that the older clause has, and nothing else that is new."""
    if older.verb in MANY_VERBS and left.sort in ("word", "name", "code") and left.join not in _BOUND:
        return False
    taking = [phrase for phrase in new if not left.words <= phrase.words and _takes_place(phrase, left, older)]
    return bool(taking) and all(phrase in taking or phrase.words <= known for phrase in new)


_STATE_STEMS: Final = tuple(frozenset(map(stem, states)) for states in STATES)
_BOUND: Final = list_word_set("under with by from")
"""Beside these one does even such a thing with one person or means at a time."""


def _points_to_it(newer: Frame, older: Frame, words: frozenset[str]) -> bool:
    """Whether a clause speaks of the older one's subject as "it", or by a part of its words."""
    if newer.clause.is_first or older.clause.is_first or not covers_subject(older.subject, older.clause, words):
        return False
    return (not newer.subject - POINTERS and newer.verb == "be") or (
        bool(newer.subject) and newer.subject < older.subject
    )


def _takes_place(new: Phrase, old: Phrase, older: Frame) -> bool:
    if new.sort == old.sort == "name" and old.join != new.join and "with" in (old.join, new.join):
        return False
    if new.sort == old.sort and old.sort in ("when", "name", "code"):
        return not (older.clause.is_first and older.verb == "be" and not old.join)
    if old.sort == new.sort == "state":
        return any((old.words | new.words) <= states for states in _STATE_STEMS)
    if old.sort in ("number", "when", "code") and are_comparable(new, old):
        return True
    if (
        {old.join, new.join} <= PLACES
        and old.join != new.join
        and old.sort == new.sort == "word"
        and not is_of_adjective(old, older)
    ):
        return old.is_definite and new.is_definite
    is_of_one_sort = old.sort == "word" and new.sort in ("word", "name") and bool(old.join) and old.join == new.join
    if is_of_one_sort and not is_of_adjective(old, older):
        return old.is_definite == new.is_definite
    return not old.join and older.is_copula and has_one_name(older) and old.sort == new.sort == "number"
