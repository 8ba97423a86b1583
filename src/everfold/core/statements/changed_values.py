"""Whether a newer statement tells another value of what an older one tells, compared phrase by phrase.

Theory of operation. The newer one has to speak of the older one's subject, with no other owner, number or word beside it
(`other_things`). With a mark it takes the older one's place where

- what it says is given up is what the older one says, and the rest of the older one is told again;
- it says that this thing was moved, raised or renamed to another value;
- it tells another value of the one sort that the older one tells, with all its other words;
- it says that the state which the older one tells has ended ("is back", "has reopened").

Without a mark both have to be the same clause but for one phrase, of which such a thing has one at a time.

Source: own rules, tuned on `own.jsonl`, `fresh.jsonl` and `styles.jsonl` of `tests/data/supersession` only.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from everfold.core.statements.assertions import (
    POINTERS,
    Assertion,
    list_stems,
    read_assertion,
)
from everfold.core.statements.changes import (
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
from everfold.core.statements.clause_values import counts_same, list_left
from everfold.core.statements.frames import (
    GENERIC,
    LIGHT,
    TIMES,
    Frame,
    Phrase,
    list_own_names,
    make_plain,
    read_frame,
    turn_around,
    turn_to_place,
)
from everfold.core.statements.given_up import list_given_up, split_clauses
from everfold.core.statements.left_behind import is_given_up, points_to_given_up
from everfold.core.statements.moved_values import are_comparable, is_changed_to, is_exchanged, list_changed_words
from everfold.core.statements.other_things import covers_subject, names_another
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.statements.single_values import (
    MANY_VERBS,
    PLACES,
    differs_in_one,
    has_one_name,
    has_opposite_state,
    has_same_subject,
    is_denied_now,
    is_of_adjective,
)
from everfold.core.statements.slots import (
    STATES,
    ValueSort,
)
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
    if not (is_marked or says_change(newer) or tells_cause(newer) or _names_value(told, frame)):
        return False
    if is_denied:
        return _is_affirmed(told, frame)
    if is_denied_now(told, frame) or is_exchanged(told, frame):
        return True
    if CORRECTS.search(told):
        frame = frame._replace(is_past=False)
    if frame.verb in _DISLIKES | _LIKES and _is_liked_otherwise(told, frame):
        return True
    if words.isdisjoint(make_plain(frame.clause.content)):
        return False
    gone = NOTHING.union(*(one.words for one in list_given_up(told) if not one.is_clause))
    return (
        any(is_given_up(one, told, words, frame) for one in list_given_up(told))
        or (is_near and any(points_to_given_up(one, words, frame) for one in list_given_up(told)))
        or has_opposite_state(told, words, frame)
        or is_changed_to(told, words, frame)
        or _has_another_value(told, words, frame)
        or _has_another_holder(told, words, frame)
        or _has_another_actor(told, frame)
        or _has_new_one(told, frame)
        or any(_is_restated(one, other, words, gone) for one, other in _pair_frames(told, frame))
    )


def _pair_frames(told: str, said: Frame) -> Iterator[tuple[Frame, Frame]]:
    """Each clause of the newer statement that denies nothing beside the older one, both also turned around."""
    for clause in dict.fromkeys((told, *_list_whole_clauses(told, said))):
        plain = " ".join(SOFT_MARKS.sub(" ", LEADS.sub("", clause)).split()).strip(" ,.")
        frame = None if DENIALS.search(plain) else read_frame(plain)
        for one in (frame, frame and turn_around(frame), frame and turn_to_place(frame)):
            for other in (said, turn_around(said), turn_to_place(said)):
                if one is not None and other is not None:
                    yield one, other


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
    content = make_plain(frame.clause.content) - LIGHT - _STARTING
    clauses = [read_assertion(SOFT_MARKS.sub(" ", part)) for part in split_clauses(told) if not DENIALS.search(part)]
    return len(content) > 0 and any(
        make_plain(clause.content) - LIGHT - _STARTING == content and clause.is_first == frame.clause.is_first
        for clause in clauses
    )


def _is_liked_otherwise(told: str, frame: Frame) -> bool:
    """Whether what was liked is disliked now, or the other way round."""
    opposite = _LIKES if frame.verb in _DISLIKES else _DISLIKES
    thing = make_plain(frame.clause.content) - {frame.verb}
    return any(
        thing == make_plain(clause.content) - LIGHT - _STARTING - opposite
        and bool(make_plain(clause.content) & opposite)
        for clause in map(read_assertion, split_clauses(SOFT_MARKS.sub(" ", told)))
        if clause.is_first == frame.clause.is_first and not DENIALS.search(" ".join(clause.tokens))
    )


_LIKES: Final = make_plain(frozenset(map(stem, "like love enjoy adore appreciate".split())))
_DISLIKES: Final = make_plain(frozenset(map(stem, "hate dislike detest loathe despise".split())))
_STARTING: Final = frozenset(
    map(stem, "start begin resume learn grow come return back actually quite finally buy".split())
)


def _has_another_value(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the newer one gives another value of one sort that the older one gives, with most of its other words."""
    kept = " , ".join(part for part in split_clauses(WHEN_CHANGED.sub(" ", told)) if not DENIALS.search(part))
    said, newer = frame.clause, read_assertion(kept)
    if not kept or (frame.is_past and not said.tokens[said.verb_at].startswith(("can", "could"))):
        return False
    content = make_plain(said.content)
    here = make_plain(newer.content) - NOTHING.union(*(one.words for one in list_given_up(told) if not one.is_clause))
    missing = list_left(said, here | frame.subject)
    added = list_left(newer, content)
    changed = [sort for sort in missing if counts_same(said, newer, missing, added, sort)]
    if set(changed) == {"when", "number"} and compile_pattern(CHANGE).search(told.lower()):
        changed = ["when"]
    if len(changed) != 1 or not _omits_little(missing, added, changed[0]):
        return False
    sort = changed[0]
    gone = NOTHING.union(*missing.values())
    if _gives_up_else(told, content, gone):
        return False
    rest = content - frame.subject - gone - LIGHT - GENERIC - TIMES
    if compile_pattern(CHANGE).search(told.lower()) and sort in ("when", "number"):
        rest = rest - make_plain(list_stems(said.tokens[said.verb_at : said.verb_at + 1])) - {frame.verb}
        is_told = len(rest - words) <= len(rest & words)
    else:
        is_told = len(rest - words) <= len((rest | frame.subject) & words) // 2
    if rest - words and _adds_words(told, content, added.get(sort, NOTHING)):
        return False
    return is_told and _may_change(sort, missing[sort], rest, told, words, frame)


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
    """Whether somebody else does what the older one tells, and another clause says what became of who did it."""
    clauses = [read_assertion(SOFT_MARKS.sub(" ", LEADS.sub("", part))) for part in split_clauses(told)]
    done, who = make_plain(frame.clause.predicate) - LIGHT, list_own_names(frame.clause) or frame.subject
    if not who or not done or frame.is_copula or len(clauses) < 2:  # noqa: PLR2004
        return False
    instead = [clause for clause in clauses if _does_instead(clause, done, frame)]
    return bool(instead) and any(who <= make_plain(clause.content) for clause in clauses if clause not in instead)


def _has_new_one(told: str, frame: Frame) -> bool:
    """Whether the speaker has a new one of what is theirs, and tells its number or code: "I got a new badge, it is K-18"."""
    clause = frame.clause
    if not frame.is_copula or clause.tokens[0] not in ("my", "our") or not frame.phrases or clause.verb_at < 1:
        return False
    new = re.search(rf"\bnew {re.escape(clause.tokens[clause.verb_at - 1])}\b", told.lower())
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


def _is_restated(newer: Frame, older: Frame, words: frozenset[str], gone: frozenset[str]) -> bool:
    """Whether a clause beside a mark is the older one with another value.

    Args:
        newer: The clause.
        older: What it may take the place of.
        words: Those of all clauses beside it too.
        gone: Those of what is given up.
    """
    if differs_in_one(newer, older, is_marked=True):
        return True
    if older.is_past or newer.verb != older.verb:
        return False
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
