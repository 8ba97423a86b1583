"""Whether a newer statement tells another value of what an older one tells, compared phrase by phrase.

Theory of operation. The newer one has to speak of the older one's subject, with no other owner, number or word beside it
(`other_things`). With a mark it takes the older one's place where

- what it says is given up is what the older one says, and the rest of the older one is told again;
- it says that this thing was moved, raised or renamed to another value;
- it tells another value of the one sort that the older one tells, with all its other words;
- it says that the state which the older one tells has ended ("is back", "has reopened").

Without a mark both have to be the same clause but for one phrase, of which such a thing has one at a time.

Source: own rules, tuned on `tests/data/supersession/own.jsonl` and `fresh.jsonl` only.
"""

from collections.abc import Iterator
from typing import Final

from everfold.core.statements.assertions import (
    POINTERS,
    Assertion,
    list_stems,
    read_assertion,
)
from everfold.core.statements.changes import (
    CHANGE,
    DENIALS,
    FIRST_PERSON,
    LEADS,
    SOFT_MARKS,
    WHEN_CHANGED,
    prepare_statement,
    says_change,
)
from everfold.core.statements.clause_values import counts_same, list_left
from everfold.core.statements.frames import (
    GENERIC,
    LIGHT,
    TIMES,
    Frame,
    Phrase,
    make_plain,
    read_frame,
    turn_around,
)
from everfold.core.statements.given_up import list_given_up, split_clauses
from everfold.core.statements.left_behind import is_given_up, points_to_given_up
from everfold.core.statements.moved_values import are_comparable, is_changed_to
from everfold.core.statements.other_things import covers_subject, names_another
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.single_values import (
    MANY_VERBS,
    differs_in_one,
    has_one_name,
    has_opposite_state,
    has_same_subject,
    is_of_adjective,
)
from everfold.core.statements.slots import (
    ValueSort,
)
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

_PLACES: Final = list_word_set("in at on under with near behind by beside to next over inside outside")


_FOR: Final = list_word_set("for für pour para per voor por")


def is_changed(newer: str, older: str, *, is_marked: bool = False, is_near: bool = False) -> bool:
    """Whether a statement says that what an older one tells has changed; `other_things` tells whether it is of the same thing.

    Args:
        newer: In words, as it was said.
        older: The same.
        is_marked: The newer one has a mark of `change_marks`.
        is_near: It was said shortly before, so that "she" may be who it speaks of.
    """
    told, said = prepare_statement(newer), prepare_statement(older)
    frame = read_frame(said)
    if frame is not None and DENIALS.search(said):
        return (is_marked or says_change(newer)) and _is_affirmed(told, frame)
    if frame is None or not (is_marked or says_change(newer)):
        return False
    words = make_plain(read_assertion(told).content)
    if words.isdisjoint(make_plain(frame.clause.content)):
        return False
    gone = NOTHING.union(*(one.words for one in list_given_up(told) if not one.is_clause))
    return (
        any(is_given_up(one, told, words, frame) for one in list_given_up(told))
        or (is_near and any(points_to_given_up(one, frame) for one in list_given_up(told)))
        or has_opposite_state(told, words, frame)
        or is_changed_to(told, words, frame)
        or _has_another_value(told, words, frame)
        or _has_another_holder(told, words, frame)
        or any(_is_restated(one, other, words, gone) for one, other in _pair_frames(told, frame))
    )


def _pair_frames(told: str, said: Frame) -> Iterator[tuple[Frame, Frame]]:
    """Each clause of the newer statement that denies nothing beside the older one, both also turned around."""
    for clause in dict.fromkeys((told, *split_clauses(told))):
        plain = " ".join(SOFT_MARKS.sub(" ", LEADS.sub("", clause)).split()).strip(" ,.")
        frame = None if DENIALS.search(plain) else read_frame(plain)
        for one in (frame, frame and turn_around(frame)):
            for other in (said, turn_around(said)):
                if one is not None and other is not None:
                    yield one, other


def _is_affirmed(told: str, frame: Frame) -> bool:
    """Whether a clause affirms what the older one denies, with the same words."""
    content = make_plain(frame.clause.content) - LIGHT
    clauses = [read_assertion(SOFT_MARKS.sub(" ", part)) for part in split_clauses(told) if not DENIALS.search(part)]
    return len(content) > 0 and any(
        make_plain(clause.content) - LIGHT == content and clause.is_first == frame.clause.is_first for clause in clauses
    )


def _has_another_value(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the newer one gives another value of the one sort that the older one gives, with all its other words."""
    kept = " , ".join(part for part in split_clauses(WHEN_CHANGED.sub(" ", told)) if not DENIALS.search(part))
    said, newer = frame.clause, read_assertion(kept)
    if not kept or (frame.is_past and not said.tokens[said.verb_at].startswith(("can", "could"))):
        return False
    content = make_plain(said.content)
    missing = list_left(said, words | frame.subject)
    added = list_left(newer, content)
    if len(missing) != 1 or _gives_up_else(told, content, NOTHING.union(*missing.values())):
        return False
    (sort,) = missing
    if not counts_same(said, newer, missing, added, sort):
        return False
    rest = content - frame.subject - missing[sort] - LIGHT - GENERIC - TIMES
    if compile_pattern(CHANGE).search(told.lower()) and sort in ("when", "number"):
        rest = rest - make_plain(list_stems(said.tokens[said.verb_at : said.verb_at + 1])) - {frame.verb}
        is_told = len(rest - words) <= (len(rest & words) > 1)
    else:
        is_told = rest <= words
    return is_told and _may_change(sort, missing[sort], rest, told, words, frame)


def _gives_up_else(told: str, content: frozenset[str], missing: frozenset[str]) -> bool:
    """Whether the newer one gives up something that the older one says, but not the value that is missing."""
    return any(one.words & content and not one.words & (missing | LIGHT) for one in list_given_up(told))


def _has_another_holder(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether another is told to be what the older one's subject is ("Grace is my roommate")."""
    turned = turn_around(frame)
    if turned is None or _is_of_other_noun(told, turned.subject, frame.clause):
        return False
    return _has_another_value(told, words, turned)


def _may_change(
    sort: ValueSort, missing: frozenset[str], rest: frozenset[str], told: str, words: frozenset[str], frame: Frame
) -> bool:
    """Whether of what the older one speaks there is one such value."""
    said = frame.clause
    if sort in ("name", "code") and not (frame.verb == "be" or frame.verb in words):
        return False
    if sort == "name" and _stands_for_purpose(missing, frame):
        return False
    if sort in ("name", "code") and frame.verb in MANY_VERBS:
        return False
    if said.is_first:
        kept = make_plain(said.content) - missing - LIGHT - GENERIC - TIMES
        if sort in ("name", "code") and _has_new_object(told, make_plain(said.content)):
            return False
        is_own = (
            _is_told_of_oneself(told, said)
            and not _is_of_other_noun(told, kept, said)
            and not (sort == "name" and frame.is_copula)
        )
        return is_own and bool((make_plain(said.content) - missing - LIGHT - GENERIC - TIMES) & words)
    if not frame.subject:
        return bool(rest & words)
    if sort == "name" and frame.is_copula and frame.phrases and not frame.phrases[0].join:
        return has_one_name(frame, is_marked=True) and covers_subject(frame.subject, said, words)
    return covers_subject(frame.subject, said, words)


def _has_new_object(told: str, known: frozenset[str]) -> bool:
    """Whether what the speaker does is done with another thing ("I report the bugs to Steve")."""
    frames = (read_frame(SOFT_MARKS.sub(" ", part)) for part in split_clauses(told) if not DENIALS.search(part))
    return any(
        not phrase.join and phrase.sort == "word" and not phrase.words & known
        for frame in frames
        if frame is not None and frame.clause.is_first and frame.verb in known
        for phrase in frame.phrases
    )


def _is_of_other_noun(told: str, kept: frozenset[str], said: Assertion) -> bool:
    """Whether a noun that both have stands in the newer statement beside a word that the older one lacks."""
    return any(names_another(told, frozenset((word,)), make_plain(said.content)) for word in kept)


def _is_told_of_oneself(told: str, said: Assertion) -> bool:
    """Whether a clause has the speaker as its subject, or what the older one tells of the speaker."""
    content = make_plain(said.content) | GENERIC
    clauses = [read_assertion(part) for part in split_clauses(told)]
    return FIRST_PERSON.search(told) is not None and any(
        clause.is_first
        or not {"me", "us"}.isdisjoint(clause.tokens)
        or (bool(clause.subject) and make_plain(clause.subject) <= content)
        for clause in clauses
    )


def _stands_for_purpose(missing: frozenset[str], frame: Frame) -> bool:
    """Whether a name only says what something is for ("use tabs for Go")."""
    return frame.verb != stem("work") and any(
        missing & phrase.words and phrase.join in _FOR for phrase in frame.phrases
    )


def _is_restated(newer: Frame, older: Frame, words: frozenset[str], gone: frozenset[str]) -> bool:
    """Whether a clause beside a mark is the older one with another value; `gone` are words of what is given up."""
    if differs_in_one(newer, older, is_marked=True):
        return True
    if older.is_past or newer.verb != older.verb or (older.clause.is_first and older.verb in MANY_VERBS):
        return False
    if not has_same_subject(newer, older) and not _points_to_it(newer, older, words):
        return False
    left = [phrase for phrase in older.phrases if not phrase.words <= words - gone]
    if len(left) != 1 or (older.verb in MANY_VERBS and left[0].sort in ("word", "name", "code")):
        return False
    new = [one for one in newer.phrases if not any(one.words <= phrase.words for phrase in older.phrases)]
    taking = [phrase for phrase in new if _takes_place(phrase, left[0], older)]
    known = make_plain(older.clause.content) | TIMES | GENERIC | LIGHT
    return bool(taking) and all(phrase in taking or phrase.words <= known for phrase in new)


def _points_to_it(newer: Frame, older: Frame, words: frozenset[str]) -> bool:
    """Whether a clause speaks of the older one's subject as "it", or by a part of its words."""
    if newer.clause.is_first or older.clause.is_first or not covers_subject(older.subject, older.clause, words):
        return False
    return (not newer.subject - POINTERS and newer.verb == "be") or (
        bool(newer.subject) and newer.subject < older.subject
    )


def _takes_place(new: Phrase, old: Phrase, older: Frame) -> bool:
    if new.sort == old.sort and old.sort in ("when", "name", "code"):
        return not (older.clause.is_first and older.verb == "be" and not old.join)
    if old.sort in ("number", "when", "code") and are_comparable(new, old):
        return True
    if {old.join, new.join} <= _PLACES and old.sort == new.sort == "word" and not is_of_adjective(old, older):
        return old.is_definite and new.is_definite
    is_of_one_sort = old.sort == "word" and new.sort in ("word", "name") and bool(old.join) and old.join == new.join
    if is_of_one_sort and not is_of_adjective(old, older):
        return old.is_definite == new.is_definite
    return not old.join and older.is_copula and has_one_name(older) and old.sort == new.sort == "number"
