"""Whether an older clause says what a newer statement gives up, so that nothing else of it is lost.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from typing import Final

from everfold.core.changes.given_up import GivenUp, split_clauses
from everfold.core.changes.words import FIRST_PERSON
from everfold.core.clauses.assertions import list_tokens, read_assertion
from everfold.core.clauses.frames import (
    AGENTS,
    GENERIC,
    JOINS,
    LIGHT,
    NAMING,
    TIMES,
    Frame,
    is_under_way,
    list_plain,
    make_plain,
)
from everfold.core.clauses.slots import (
    ADJECTIVES,
    HABITUAL,
    WEEKDAYS,
)
from everfold.core.replacement.moved_values import is_told_of_us
from everfold.core.replacement.other_things import covers_subject
from everfold.core.statements.quotes import NOTHING
from everfold.core.text.stems import stem

_KNOWING: Final = frozenset(map(stem, "know remember think mean".split()))
_DAYS: Final = frozenset(map(stem, WEEKDAYS | HABITUAL))


def is_given_up(given_up: GivenUp, told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the older clause says what is given up, and the rest of it is told again."""
    content, said = make_plain(frame.clause.content), frame.clause
    if _has_no_end(told, frame) or _is_no_end(given_up, told, frame):
        return False
    old = given_up.words & content
    is_told = given_up.words - _list_beside(given_up, words, frame) <= content | GENERIC
    if not old or not is_told or not _leaves_none(old, frame):
        return False
    if content - LIGHT - GENERIC <= old and not given_up.is_clause:
        return not said.is_first or FIRST_PERSON.search(told) is not None or _opens_clause(old, told)
    rest = content - old - LIGHT - GENERIC
    if not given_up.is_clause and _is_whole_code(old, frame):
        return True
    if said.is_first:
        return _is_own_given_up(given_up, old, rest, told, words, frame)
    if not frame.subject:
        return bool(rest) and rest <= words
    predicate = make_plain(said.predicate) - LIGHT
    if given_up.is_clause and old & (predicate - frame.subject):
        return covers_subject(frame.subject, said, words | old) or is_told_of_us(told, frame)
    if old & frame.subject and frame.subject - GENERIC <= old:
        left = predicate - GENERIC - old
        return not given_up.is_clause and bool(left & words) and len(left - words) <= len(left & words)
    if old <= frame.subject:
        return False
    return (
        _is_own_role_given_up(given_up, old, told, frame)
        or covers_subject(frame.subject, said, words)
        or is_told_of_us(told, frame)
    )


_OTHERS: Final = list_plain("client customer vet pharmacist hotel airline bank".split())


def _is_no_end(given_up: GivenUp, told: str, frame: Frame) -> bool:
    """Whether another person gives it up, it cannot be finished, or nothing is told but that a person is away."""
    if frame.clause.is_first and given_up.by and given_up.by.isdisjoint(AGENTS - _OTHERS):
        return True
    return (given_up.is_completed and not is_under_way(frame)) or (
        given_up.is_passing and len(split_clauses(told)) == 1
    )


def _has_no_end(told: str, frame: Frame) -> bool:
    """Whether the older clause tells what happened and was not undone, or what the speaker knows."""
    verb = frame.clause.tokens[frame.clause.verb_at]
    if frame.clause.is_first and stem(verb) in _KNOWING:
        return True
    return frame.is_past and verb not in ("can", "could") and not _is_undone(told, frame)


def _leaves_none(old: frozenset[str], frame: Frame) -> bool:
    """Whether nothing of a list would be lost with what is given up."""
    predicate = make_plain(frame.clause.predicate) - LIGHT
    return not frame.clause.is_joined or old >= (predicate if old & _DAYS else predicate - _DAYS)


def _list_beside(given_up: GivenUp, words: frozenset[str], frame: Frame) -> frozenset[str]:
    """Words that may stand beside what is given up: of whom it is, where that is told, and another verb for being somewhere."""
    owners = _POSSESSIVES if frame.subject and frame.subject <= words else NOTHING
    return owners | (NAMING if given_up.is_clause and frame.verb == "be" else NOTHING)


_POSSESSIVES: Final = frozenset(map(stem, ("his", "her", "their", "its")))


def _opens_clause(old: frozenset[str], told: str) -> bool:
    """Whether what is given up stands where a clause begins: no other person is said to give it up."""
    return any(list_plain(list_tokens(clause.lower())[:_OPENING]) & old for clause in split_clauses(told))


_OPENING: Final = 3


def _is_whole_code(old: frozenset[str], frame: Frame) -> bool:
    """Whether a thing is nothing but the code or address that is given up: no other thing has the same."""
    return (
        frame.is_copula
        and len(frame.phrases) == 1
        and frame.phrases[0].sort == "code"
        and frame.phrases[0].words == old
    )


def _is_undone(told: str, frame: Frame) -> bool:
    """Whether what was ordered is cancelled."""
    return frame.verb in _ORDERED and _UNDONE.search(told.lower()) is not None


_ORDERED: Final = frozenset(map(stem, "book order reserve schedule plan sign arrange invite subscribe".split()))
_UNDONE: Final = re.compile(r"\b(?:cancell?ed|called off|undid|reversed|withdrew|sent back|returned)\b")


_OBJECTS: Final = frozenset(("him", "her", "it", "them"))


def points_to_given_up(given_up: GivenUp, told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether all that the older clause says of a person is denied of "her" or "it", or its one value is by no more than that."""
    predicate = make_plain(frame.clause.predicate) - LIGHT
    values = [one.words for one in frame.phrases]
    if given_up.words in values and not frame.clause.is_joined and not frame.is_past and _names_value_only(told):
        return given_up.words.isdisjoint(frame.subject)
    if given_up.is_clause and given_up.is_first and frame.clause.is_first and given_up.words & _OBJECTS:
        return given_up.words - _OBJECTS == {frame.verb} and predicate - TIMES <= words
    return given_up.is_pointing and len(predicate) > 1 and given_up.words == predicate


def _names_value_only(told: str) -> bool:
    """Whether a statement names no subject: "it is tea now, not coffee", "make that tea instead of coffee"."""
    clauses = split_clauses(told)
    return any(map(_BARE.match, clauses)) and all(
        _BARE.match(clause) or (read_assertion(clause).verb_at < 0 and len(clause.split()) <= _SHORT)
        for clause in clauses
    )


_SHORT: Final = 5
"""Words of a clause without a verb that is no more than a value."""


_BARE: Final = re.compile(
    r"(?i)(?:(?:no|oh|sorry|correction|actually|wait|oops|scratch that|now)\b,? ?)*"
    r"(?:(?:it|that|this) (?:is|was|used to be|should be|will be)|make (?:it|that)|not|instead of)\b(?! \w+ing\b)(?!.* (?:that|which|who|where|when)\b)(?: [\w'.:-]+){0,7}$"
)


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
        and (len(old) > 1 or any(one.words == old and one.sort == "name" for one in frame.phrases))
        and old == NOTHING.union(*(one.words for one in frame.phrases if one.words & old))
    ):
        return True
    if not FIRST_PERSON.search(told):
        return bool(rest) and rest <= words
    if given_up.is_clause:
        return bool(old & predicate) and (values - LIGHT - GENERIC - TIMES <= old or rest - TIMES <= words)
    if rest - TIMES - NOTHING.union(*(one.words for one in frame.phrases if "often" in one.unit)) <= words:
        return True
    holding = [phrase for phrase in frame.phrases if old <= phrase.words]
    if not holding or _is_only_told_closer(old, frame):
        return False
    others = NOTHING.union(*(phrase.words for phrase in frame.phrases if phrase not in holding))
    left = holding[0].words - old - GENERIC - TIMES - words
    is_told = frame.verb in words | LIGHT | {"be", "have"} or holding[0].words - TIMES - GENERIC <= old
    return others - LIGHT - GENERIC - TIMES <= words and len(left) <= 1 and is_told


def _is_only_told_closer(old: frozenset[str], frame: Frame) -> bool:
    """Whether what is given up only tells what the speaker's thing is for: "a motorbike licence"."""
    tokens = frame.clause.tokens[frame.clause.verb_at + 1 :]
    end = next((at for at, word in enumerate(tokens) if word in JOINS), len(tokens))
    return (
        frame.verb == "have"
        and end > 1
        and old == list_plain(tokens[end - 2 : end - 1])
        and bool(list_plain(tokens[end - 1 : end]))
    )


_QUITS: Final = re.compile(r"(?i)(?:\w+ )?(?:i|we|the \w+ took me)\b")


def _is_own_role_given_up(given_up: GivenUp, old: frozenset[str], told: str, frame: Frame) -> bool:
    """Whether the speaker has left what "my gym is" or "our tests run on" names."""
    clause = frame.clause
    if clause.tokens[0] not in ("my", "our", "the") or given_up.is_back or frame.verb not in ("be", stem("run")):
        return False
    value = next((one for one in frame.phrases if one.join in _WITH and one.sort != "when"), None)
    names = list_plain(
        word.lower()
        for word in clause.raw[clause.verb_at + 1 :]
        if word[:1].isupper() and word.lower() not in ADJECTIVES
    )
    is_named = value is not None and names <= value.words and (old == names or old >= value.words - GENERIC)
    return (
        is_named
        and not is_named_after(told, old)
        and any(
            _QUITS.match(part) and (part is told or old <= list_plain(list_tokens(part.lower())))
            for part in (told, *split_clauses(told))
        )
    )


_WITH: Final = frozenset(("", "with", "on", "by"))


def is_named_after(told: str, old: frozenset[str]) -> bool:
    """Whether what follows tells for what only it is given up: "we dropped Jenkins for the nightly builds"."""
    found = _ONLY_FOR.search(told)
    return found is not None and list_plain(list_tokens(told[: found.start()].lower())) >= old


_ONLY_FOR: Final = re.compile(r"\b(?:for|to|in|on) (?:the|my|our|this|that|his|her|their) ")
