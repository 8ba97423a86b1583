"""Whether two clauses are the same but for one value, and whether a thing has one such value at a time.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from everfold.core.changes.given_up import split_clauses
from everfold.core.changes.words import DENIALS, SOFT_MARKS, prepare_statement, shorten_statement
from everfold.core.clauses.assertions import (
    BE,
    DETERMINERS,
    REMEMBERED_READINGS,
    Assertion,
    list_stems,
    read_assertion,
)
from everfold.core.clauses.frames import (
    DURATIONS,
    GENERIC,
    JOINS,
    LIGHT,
    Frame,
    Phrase,
    counts,
    is_named,
    list_plain,
    make_plain,
    read_frame,
    turn_around,
)
from everfold.core.clauses.slots import (
    ADJECTIVES,
    FAVOURITE,
    HABITUAL,
    INDEFINITE,
    LABELS,
    MANY,
    MONTHS,
    NEVER,
    OFTEN,
    ONE_NAMES,
    ONE_WORDS,
    ValueSort,
    find_slot,
    holds_one,
    is_definite,
    is_one_of_many,
)
from everfold.core.clauses.values import list_left, list_units
from everfold.core.replacement.opposites import is_opposite
from everfold.core.replacement.other_things import covers_subject
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.text.stems import stem

MANY_VERBS: Final = frozenset(
    map(
        stem,
        (
            "like love hate enjoy speak play know want need read take eat drink have see meet buy visit sell study sing watch collect add remember feed learn stop support write"
            " order miss help teach try invite own"
        ).split(),
    )
)
"""What is done with several things at a time: another one takes no other's place."""


_LED_BY_ONE: Final = frozenset(map(stem, ("lead", "own", "handle", "manage", "run", "approve", "chair", "coordinate")))


_SUPERLATIVE: Final = re.compile(r"\b(?:\w{2,}est|best|most|top|primary|secondary|of the (?:day|week|month|year))\b")


_IS: Final = list_word_set("is ist est es è é")


_ALSO_MANY: Final = MANY | list_word_set("teacher client customer patient tutor professor project member nurse guest")


_DAY: Final = re.compile(r"\d+(?:st|nd|rd|th)")


_MONTH_STEMS: Final = frozenset(map(stem, MONTHS))


LONG: Final = 2


PLACES: Final = list_word_set("in at on under with near behind by beside to next over inside outside")


_MOST_OTHER_WORDS: Final = 8
"""In more words two statements of one thing are not the same but for one phrase."""


def is_same_but_one(newer: str, older: str) -> bool:
    """Whether two statements are the same but for one phrase, of which such a thing has one at a time."""
    said = read_frame(shorten_statement(older))
    if said is None or said.clause.is_joined:
        return False
    told = prepare_statement(newer)
    if not DENIALS.search(prepare_statement(older)) and is_denied_now(told, said):
        return True
    return is_opposite(told, said) or any(
        _is_clause_same_but_one(clause, said) for clause in dict.fromkeys((told, *split_clauses(told)))
    )


def _is_clause_same_but_one(newer: str, said: Frame) -> bool:
    told = read_frame(newer)
    if told is None:
        return False
    if len(told.clause.content ^ said.clause.content) > _MOST_OTHER_WORDS:
        return False
    slot = find_slot(said.clause, told.clause)
    if slot is not None and JOINS.isdisjoint((*slot.older, *slot.newer)) and holds_one(said.clause, slot):
        return True
    if _leads_instead(told, said) or _has_same_words(told, said):
        return True
    return any(
        differs_in_one(one, other)
        for other in (said, turn_around(said))
        for one in (told, turn_around(told))
        if one is not None and other is not None
    )


def is_denied_now(told: str, frame: Frame) -> bool:
    """Whether a clause denies exactly what the older one says, of the same thing."""
    content = make_plain(frame.clause.content) - LIGHT
    if not content:
        return False
    for plain, clause in _list_denied(told):
        if make_plain(clause.content) - LIGHT == content and (
            clause.is_first == frame.clause.is_first or _BARE.match(plain) or _is_of_deed(clause, frame)
        ):
            return len(content) > 1 or clause.is_first
    return False


@lru_cache(maxsize=REMEMBERED_READINGS)
def _list_denied(told: str) -> tuple[tuple[str, Assertion], ...]:
    """The clauses of a statement that deny something, each with what it denies."""
    clauses = [_ASIDES.sub(" ", SOFT_MARKS.sub(" ", _REPORTED.sub("", part))) for part in split_clauses(told)]
    return tuple((plain, read_assertion(DENIALS.sub(" ", plain))) for plain in clauses if DENIALS.search(plain))


def _is_of_deed(clause: Assertion, frame: Frame) -> bool:
    """Whether the speaker tells of what they do what the older one tells of the deed: "we deploy", "deploys go out"."""
    return clause.is_first and clause.verb_at > 0 and stem(clause.tokens[clause.verb_at]) in frame.subject


_BARE: Final = re.compile(r"(?i)(?:not|no longer)\b")
_REPORTED: Final = re.compile(
    r"(?i)^(?:the |my |our )?\w+ (?:says?|said|thinks?|told (?:me|us)|tells (?:me|us)|found(?: out)?) (?:that )?"
)
_ASIDES: Final = re.compile(r"(?i)\b(?:at all|any ?more|any longer|after all|for now)\b")


def has_same_subject(newer: Frame, older: Frame) -> bool:
    """Whether two clauses speak of the same thing, or both of the speaker."""
    if newer.clause.is_first or older.clause.is_first:
        return newer.clause.is_first and older.clause.is_first
    if not older.subject or not newer.subject:
        return False
    added, left = newer.subject - older.subject, older.subject - newer.subject
    if added <= GENERIC and left <= GENERIC and newer.subject & older.subject:
        return True
    behind = NOTHING.union(*(phrase.words for phrase in older.phrases if phrase.join))
    return (
        covers_subject(older.subject, older.clause, newer.subject) and newer.subject - GENERIC <= older.subject | behind
    )


def differs_in_one(newer: Frame, older: Frame, *, is_marked: bool = False) -> bool:
    """Whether two frames are the same but for one phrase that has one value at a time."""
    if older.is_past or newer.is_past or newer.verb != older.verb or not has_same_subject(newer, older):
        return False
    if not older.clause.is_first and (
        not is_definite(older.clause) or (is_one_of_many(older.clause) and not is_marked)
    ):
        return False
    if DENIALS.search(" ".join(older.clause.tokens)) or DENIALS.search(" ".join(newer.clause.tokens)):
        return False
    if _are_two_holders(newer, older):
        return True
    left = [phrase for phrase in older.phrases if not _has_equal(phrase, newer)]
    new = [phrase for phrase in newer.phrases if not _has_equal(phrase, older)]
    if len(left) != 1 or len(new) != 1 or left[0].words == new[0].words:
        return False
    return _holds_one(older, left[0], new[0], is_marked=is_marked)


def _are_two_holders(newer: Frame, older: Frame) -> bool:
    """Whether both tell with an article or a name what the favourite or the only one of its sort is, in whatever words."""
    if not (older.is_copula and newer.is_copula and older.phrases and newer.phrases and names_one(older)):
        return False
    one, other = older.phrases[0], newer.phrases[0]
    return (
        not one.join and not other.join and one.is_definite and other.is_definite and one.words.isdisjoint(other.words)
    )


def _has_equal(phrase: Phrase, frame: Frame) -> bool:
    return any(
        phrase.words == other.words and (phrase.join == other.join or phrase.sort != "word") for other in frame.phrases
    ) or (bool(phrase.join) and phrase.words <= frame.subject)


def _holds_one(older: Frame, old: Phrase, new: Phrase, *, is_marked: bool) -> bool:
    if older.clause.tokens[0] in NEVER:
        return False
    is_mixed = old.sort != new.sort and not {old.sort, new.sort} <= {"name", "code", "number"}
    if is_mixed and not ({old.sort, new.sort} <= {"name", "word"} and (old.join or names_one(older))):
        return False
    if old.sort == "when":
        return is_marked or _holds_one_date(older, old, new)
    if old.sort == "number":
        return _holds_one_number(older, old, new, is_marked=is_marked)
    if old.join:
        return (old.join == new.join or _are_places(older, old, new)) and _holds_one_place(
            older, old, new, is_marked=is_marked
        )
    if is_marked and older.clause.is_first and (older.is_copula or older.verb in _PREFERRING):
        return bool(old.words & new.words) and "of" not in older.clause.tokens
    if not older.is_copula or older.clause.is_first:
        return False
    return has_one_name(older) and (
        old.sort == new.sort == "name" or ({old.sort, new.sort} <= {"name", "word"} and names_one(older))
    )


_PREFERRING: Final = frozenset(map(stem, ("prefer", "work")))


def _are_places(older: Frame, old: Phrase, new: Phrase) -> bool:
    """Whether both tell where something is, each in its own way: "in the hall" and "at the library"."""
    return {old.join, new.join} <= PLACES and old.is_definite and new.is_definite and older.verb == "be"


def _holds_one_date(older: Frame, old: Phrase, new: Phrase) -> bool:
    """Whether something takes place once, on a date: a day of the week or a time may be one of several."""
    if is_of_adjective(old, older) or older.verb in MANY_VERBS or not OFTEN.isdisjoint(older.clause.tokens):
        return False
    return (_is_date(old) and _is_date(new)) or _is_under_way(older)


def _is_under_way(frame: Frame) -> bool:
    """Whether a clause tells what is about to happen once: "the plumber is coming on Friday"."""
    tokens = frame.clause.tokens[frame.clause.verb_at :]
    is_progressive = any(one in BE and other.endswith("ing") for one, other in pairwise(tokens))
    return is_progressive and HABITUAL.isdisjoint(tokens) and "every" not in tokens


def _is_date(phrase: Phrase) -> bool:
    if "week" in phrase.words and any(word.isdecimal() for word in phrase.words):
        return True
    return any(word in _MONTH_STEMS or _DAY.fullmatch(word) for word in phrase.words)


def _holds_one_number(older: Frame, old: Phrase, new: Phrase, *, is_marked: bool) -> bool:
    if old.unit != new.unit and not (old.unit | new.unit <= DURATIONS and old.join == new.join):
        return False
    if is_marked:
        return True
    if not old.unit:
        return older.is_copula and not old.join and older.verb not in MANY_VERBS
    return "often" in old.unit or (old.unit != new.unit and bool(old.join)) or _is_counted(older, old)


def _is_counted(older: Frame, old: Phrase) -> bool:
    """Whether a number counts what stands behind it, or is the version of what stands before it."""
    tokens, raw = older.clause.tokens, older.clause.raw
    for at, token in enumerate(tokens):
        if not counts(token):
            continue
        if tokens[at + 1 : at + 2] and (tokens[at + 1] in ("a", "%") or list_plain((tokens[at + 1],)) & old.unit):
            return True
        is_version = at > 1 and raw[at - 1][:1].isupper() and tokens[at - 1] not in LABELS
        if is_version and list_plain((tokens[at - 1],)) & old.unit:
            return True
    return False


def _holds_one_place(older: Frame, old: Phrase, new: Phrase, *, is_marked: bool) -> bool:
    """Whether what follows a preposition is the one place, way or owner of something."""
    if older.clause.is_first and older.is_copula:
        is_shared = old.join == new.join in ("in", "on") and bool(old.words & new.words)
        is_shared &= len(new.words) <= len(old.words) or is_marked
        return is_shared and old.is_definite and new.is_definite
    if old.words & new.words and is_named(older.clause.raw[: older.clause.verb_at]):
        return False
    is_language = not (old.words | new.words) - _ADJECTIVE_STEMS
    is_one = is_language or old.join == "under"
    if older.verb in MANY_VERBS and not is_one and (not is_marked or old.join in ("at", "for")):
        return False
    if is_of_adjective(old, older) and not is_marked:
        return False
    if old.join in ("to", "von", "di", "de") and older.verb == "be":
        return False
    if is_marked and older.is_copula and old.sort == "word" and not is_of_adjective(old, older):
        return old.is_definite == new.is_definite
    return old.is_definite and new.is_definite


def is_of_adjective(phrase: Phrase, frame: Frame) -> bool:
    """Whether a phrase belongs to what something is like ("allergic to nuts"): more than one may."""
    first = frame.phrases[0]
    return (
        frame.is_copula
        and bool(phrase.join)
        and first is not phrase
        and not first.join
        and first.sort in ("word", "state")
    )


def names_one(frame: Frame) -> bool:
    """Whether a subject is said to be the first or the favourite of its sort."""
    before = frame.clause.tokens[: frame.clause.verb_at]
    return not FAVOURITE.isdisjoint(before) or _SUPERLATIVE.search(" ".join(before)) is not None


def has_one_name(frame: Frame, *, is_marked: bool = False) -> bool:
    """Whether a subject is a noun of which there is one, told by a name; beside a mark, one of several will do."""
    before = frame.clause.tokens[: frame.clause.verb_at]
    if not before or frame.clause.tokens[frame.clause.verb_at] not in _IS:
        return False
    if names_one(frame):
        return True
    if not (MANY if is_marked else _ALSO_MANY).isdisjoint(before):
        return False
    return (
        not (ONE_NAMES | ONE_WORDS).isdisjoint(before)
        or (is_marked and not _ALSO_MANY.isdisjoint(before))
        or not {"of", "for", "at", "about", "to"}.isdisjoint(before[1:])
        or before[0] in ("my", "our")
        or "'s" in before
    )


def _has_same_words(newer: Frame, older: Frame) -> bool:
    """Whether two clauses have the same words in whatever order, but for one value of a thing that has one such."""
    said, told = older.clause, newer.clause
    if older.is_past or newer.is_past or told.is_joined or said.is_first != told.is_first or said.tokens[0] in NEVER:
        return False
    if not (said.is_first or is_definite(said)):
        return False
    if not MANY.isdisjoint((*said.tokens, *told.tokens)) or DENIALS.search(" ".join((*said.tokens, *told.tokens))):
        return False
    missing = list_left(said, make_plain(told.content))
    added = list_left(told, make_plain(said.content))
    if len(missing) != 1 or missing.keys() != added.keys():
        return False
    ((sort, old),) = missing.items()
    if old & make_plain(said.subject) or added[sort] & make_plain(told.subject):
        return False
    rest = _list_rest(said, old)
    if not rest or rest != _list_rest(told, added[sort]):
        return False
    return _has_one_value(sort, rest, newer, older, old, added[sort])


def _list_rest(clause: Assertion, value: frozenset[str]) -> frozenset[str]:
    """What a clause says beside a value: all words of its subject, and those behind it that are more than a verb."""
    subject = make_plain(clause.subject)
    return (subject | (make_plain(clause.predicate) - _TELLING)) - value - GENERIC


def _has_one_value(
    sort: ValueSort, rest: frozenset[str], newer: Frame, older: Frame, old: frozenset[str], new: frozenset[str]
) -> bool:
    said, told = older.clause, newer.clause
    is_told = older.is_copula or newer.is_copula
    if sort == "number":
        unit = list_units(said, old)
        is_same = unit == list_units(told, new)
        return is_same and (bool(unit and rest - unit) or (is_told and not _AT_TIME.search(" ".join(said.tokens))))
    if sort == "when":
        is_dated = all(any(word in _MONTH_STEMS or _DAY.fullmatch(word) for word in words) for words in (old, new))
        return (
            is_dated
            and is_told
            and older.verb not in MANY_VERBS
            and OFTEN.isdisjoint(said.tokens)
            and not said.is_first
        )
    is_role = bool(rest & _ONE_STEMS) or (sort == "code" and is_told)
    return is_told and is_role and not said.is_first and older.verb not in MANY_VERBS


_TELLING: Final = LIGHT | frozenset(
    map(
        stem,
        "include contain offer allow last take pay earn reach weigh measure amount due find lie leave number".split(),
    )
)
"""Verbs between a thing and its measure, and what may be missing beside them."""


_AT_TIME: Final = re.compile(r"\b(?:at|um|à|alle|om) ")


_ADJECTIVE_STEMS: Final = frozenset(map(stem, ADJECTIVES))
_ONE_STEMS: Final = make_plain(list_stems(ONE_NAMES | ONE_WORDS))


def _leads_instead(newer: Frame, older: Frame) -> bool:
    """Whether another person leads or owns the same thing now: "Marco owns the payments module"."""
    said, told = older.clause, newer.clause
    if older.verb not in _LED_BY_ONE or newer.verb != older.verb or said.predicate != told.predicate:
        return False
    behind = said.tokens[said.verb_at + 1 :]
    is_one_thing = bool(behind) and behind[0] in DETERMINERS and behind[0] not in INDEFINITE
    return is_one_thing and older.subject != newer.subject and all(map(_is_person, (said, told)))


def _is_person(clause: Assertion) -> bool:
    return 0 < clause.verb_at <= LONG and is_named(clause.raw[: clause.verb_at])
