"""Whether a newer statement tells another value of what an older one tells, compared phrase by phrase.

Theory of operation. The newer one has to speak of the older one's subject, with no other owner, number or word beside it
(`other_things`). With a mark it takes the older one's place where

- what it says is given up is what the older one says, and the rest of the older one is told again;
- it says that this thing was moved, raised or renamed to another value;
- it tells another value of the one sort that the older one tells, with all its other words;
- it says that the state which the older one tells has ended ("is back", "has reopened").

Without a mark both have to be the same clause but for one phrase, of which such a thing has one at a time.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.changes.given_up import list_given_up, split_clauses
from everfold.core.changes.left_things import is_over
from everfold.core.changes.words import (
    CHANGE,
    CORRECTS,
    DENIALS,
    FIRST_PERSON,
    LEADS,
    SOFT_MARKS,
    WHEN_CHANGED,
    prepare_statement,
    says_change,
    shorten_statement,
    tells_cause,
)
from everfold.core.clauses.assertions import (
    REMEMBERED_TEXTS,
    Assertion,
    list_stems,
    read_assertion,
)
from everfold.core.clauses.frames import (
    GENERIC,
    LIGHT,
    TIMES,
    Frame,
    list_own_names,
    make_plain,
    read_frame,
    turn_around,
)
from everfold.core.clauses.slots import (
    ValueSort,
)
from everfold.core.clauses.values import counts_same, list_left
from everfold.core.replacement.left_behind import is_given_up, points_to_given_up
from everfold.core.replacement.moved_values import is_changed_to, is_exchanged, list_changed_words
from everfold.core.replacement.opposites import STARTING, is_opposite, is_switched
from everfold.core.replacement.other_things import covers_subject, names_another
from everfold.core.replacement.restated_values import is_restated
from everfold.core.replacement.single_values import (
    MANY_VERBS,
    has_one_name,
    is_denied_now,
)
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem

_FOR: Final = list_word_set("for für pour para per voor por")


def is_changed(newer: str, older: str, *, is_marked: bool = False, is_near: bool = False) -> bool:
    """Whether a statement says that what an older one tells has changed; `other_things` tells whether it is of the same thing.

    Args:
        newer: In words, as it was said.
        older: The same.
        is_marked: The newer one has a mark of `change_marks`.
        is_near: It was said shortly before, so that "she" may be who it speaks of.
    """
    told, said = prepare_statement(newer), shorten_statement(older)
    frame = read_frame(said)
    if frame is None:
        return False
    is_denied = _HAS_NONE.search(said) is not None or DENIALS.search(said) is not None
    words = make_plain(read_assertion(told).content)
    if not is_denied and is_over(told, frame):
        return True
    if not (is_marked or says_change(newer) or tells_cause(newer) or _names_value(told, frame)):
        return False
    if is_denied:
        return _is_affirmed(told, frame)
    if is_denied_now(told, frame) or is_exchanged(told, frame) or is_opposite(told, frame) or is_switched(told, frame):
        return True
    if CORRECTS.search(newer):
        frame = frame._replace(is_past=False)
    if words.isdisjoint(make_plain(frame.clause.content)):
        return False
    return _is_left(told, words, frame, is_near=is_near) or _has_changed(told, words, frame)


def _is_left(told: str, words: frozenset[str], frame: Frame, *, is_near: bool) -> bool:
    """Whether what the older one says is given up, ended, or what another person does now."""
    return (
        any(is_given_up(one, told, words, frame) for one in list_given_up(told))
        or (is_near and any(points_to_given_up(one, told, words, frame) for one in list_given_up(told)))
        or _has_another_holder(told, words, frame)
        or _has_another_actor(told, frame)
        or _has_new_one(told, frame)
    )


def _has_changed(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether another value is told of what the older one speaks of."""
    gone = NOTHING.union(*(one.words for one in list_given_up(told) if not one.is_clause))
    return (
        is_changed_to(told, words, frame)
        or _has_another_value(told, words, frame)
        or is_restated(told, frame, words, gone)
    )


_HAS_NONE: Final = re.compile(r"(?i)\b(?:has|have|is|are|with) no\b")


def _names_value(told: str, frame: Frame) -> bool:
    """Whether one of several clauses names a value that the older one gives, and another clause does not."""
    said = [clause for clause in map(read_assertion, split_clauses(told)) if clause.verb_at >= 0]
    clauses = [make_plain(clause.content) for clause in said]
    return len(clauses) > 1 and any(
        any(phrase.words <= words for words in clauses) and not all(phrase.words <= words for words in clauses)
        for phrase in frame.phrases
    )


def _is_affirmed(told: str, frame: Frame) -> bool:
    """Whether a clause affirms what the older one denies, with the same words."""
    content = make_plain(frame.clause.content) - LIGHT - STARTING
    plain = [part for part in split_clauses(told) if not DENIALS.search(part) and not _ONLY_WANTED.search(part)]
    clauses = [read_assertion(SOFT_MARKS.sub(" ", part)) for part in plain]
    return len(content) > 0 and any(
        make_plain(clause.content) - LIGHT - STARTING == content and clause.is_first == frame.clause.is_first
        for clause in clauses
    )


_ONLY_WANTED: Final = re.compile(
    r"(?i)\b(?:want|wants|hope|hopes|wish|would like|plan|try|trying|starting|learning) to\b"
)
"""What a person wants to do, that person does not do yet."""


def _has_another_value(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the newer one gives another value of one sort that the older one gives, with most of its other words."""
    kept, said = _keep_affirmed(told), frame.clause
    if not kept or (frame.is_past and not said.tokens[said.verb_at].startswith(("can", "could"))):
        return False
    newer = read_assertion(kept)
    content = make_plain(said.content)
    here = make_plain(newer.content) - NOTHING.union(*(one.words for one in list_given_up(told) if not one.is_clause))
    missing = list_left(said, here | frame.subject)
    added = list_left(newer, content)
    changed = [sort for sort in missing if counts_same(said, newer, missing, added, sort)]
    if set(changed) == {"when", "number"} and _tells_change(told):
        changed = ["when"]
    if len(changed) != 1 or not _omits_little(missing, added, changed[0]):
        return False
    sort = changed[0]
    gone = NOTHING.union(*missing.values())
    if _gives_up_else(told, content, gone):
        return False
    rest = content - frame.subject - gone - LIGHT - GENERIC - TIMES
    if sort in ("when", "number") and _tells_change(told):
        rest = rest - make_plain(list_stems(said.tokens[said.verb_at : said.verb_at + 1])) - {frame.verb}
        is_told = len(rest - words) <= len(rest & words)
    else:
        is_told = len(rest - words) <= len((rest | frame.subject) & words) // 2
    if rest - words and _adds_words(told, content, added.get(sort, NOTHING)):
        return False
    return is_told and _may_change(sort, missing[sort], rest, told, words, frame)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _keep_affirmed(told: str) -> str:
    """The clauses of a statement that deny nothing, without when the change was."""
    return " , ".join(part for part in split_clauses(WHEN_CHANGED.sub(" ", told)) if not DENIALS.search(part))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _tells_change(told: str) -> bool:
    """Whether a statement has a word of change."""
    return compile_pattern(CHANGE).search(told.lower()) is not None


def _adds_words(told: str, known: frozenset[str], value: frozenset[str]) -> bool:
    """Whether the clause with the new value says more of its thing: what is left out may be what tells it from another."""
    clauses = [words for words in map(list_changed_words, split_clauses(told)) if not value or value & words]
    return any(words - known - value - LIGHT - GENERIC - TIMES for words in clauses)


def _omits_little(
    missing: dict[ValueSort, frozenset[str]], added: dict[ValueSort, frozenset[str]], changed: ValueSort
) -> bool:
    """Whether beside the changed value no name is left out, and no other value is given for what is left out."""
    others = missing.keys() - {changed, "when", "number"}
    return not others & added.keys()


def _gives_up_else(told: str, content: frozenset[str], missing: frozenset[str]) -> bool:
    """Whether the newer one gives up something that the older one says, but not the value that is missing."""
    return any(one.words & content and not one.words & (missing | LIGHT) for one in list_given_up(told))


def _has_another_holder(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether another is told to be what the older one's subject is ("Grace is my roommate")."""
    turned = turn_around(frame)
    if turned is None or _is_of_other_noun(told, turned.subject, frame.clause):
        return False
    return _has_another_value(told, words, turned)


def _has_another_actor(told: str, frame: Frame) -> bool:
    """Whether another person does what the older one tells, and another clause says what became of who did it."""
    done, who = make_plain(frame.clause.predicate) - LIGHT, list_own_names(frame.clause) or frame.subject
    parts = split_clauses(told)
    if not who or not done or frame.is_copula or len(parts) < 2:  # noqa: PLR2004
        return False
    clauses = [read_assertion(SOFT_MARKS.sub(" ", LEADS.sub("", part))) for part in parts]
    instead = [clause for clause in clauses if _does_instead(clause, done, frame)]
    return bool(instead) and any(who <= make_plain(clause.content) for clause in clauses if clause not in instead)


def _has_new_one(told: str, frame: Frame) -> bool:
    """Whether the speaker has a new one of what is theirs, and tells its number or code: "I got a new badge, it is K-18"."""
    clause = frame.clause
    if not frame.is_copula or clause.tokens[0] not in ("my", "our") or not frame.phrases or clause.verb_at < 1:
        return False
    thing = re.escape(clause.tokens[clause.verb_at - 1])
    new = re.search(rf"\b(?:i|we)\b[^,;.]* new {thing}\b|\b(?:my|our) new {thing}\b", told.lower())
    pointing = [one for one in map(read_frame, split_clauses(told)) if one is not None and one.clause.is_pointing]
    return new is not None and any(
        one.phrases[0].sort == frame.phrases[0].sort in ("number", "code") for one in pointing if one.phrases
    )


def _does_instead(clause: Assertion, done: frozenset[str], frame: Frame) -> bool:
    content = make_plain(clause.content)
    return done <= content and frame.subject.isdisjoint(content) and not DENIALS.search(" ".join(clause.tokens))


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
