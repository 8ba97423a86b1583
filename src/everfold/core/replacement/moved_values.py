"""Whether a newer statement says that what an older clause speaks of was moved, raised or renamed to another value.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from typing import Final

from everfold.core.changes.given_up import split_clauses
from everfold.core.changes.words import CHANGE, CHANGED_TO, CHANGED_WORDS, SOFT_MARKS, WHEN_CHANGED
from everfold.core.clauses.assertions import (
    list_stems,
    list_tokens,
    read_assertion,
)
from everfold.core.clauses.frames import (
    AGENTS,
    CALLED,
    GENERIC,
    LIGHT,
    Frame,
    Phrase,
    is_named,
    list_plain,
    make_plain,
    read_phrase,
)
from everfold.core.replacement.other_things import covers_subject
from everfold.core.replacement.single_values import LONG, MANY_VERBS, PLACES, names_one
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import stem


def is_exchanged(told: str, frame: Frame) -> bool:
    """Whether exactly the name or code that the older one gives is said to be replaced by another."""
    if frame.is_past or frame.verb in MANY_VERBS:
        return False
    found = _REPLACED.search(told) or _LEFT_FOR.search(told)
    old = list_plain(list_tokens(found["old"].lower())) if found else NOTHING
    return bool(old) and any(
        phrase.words == old and phrase.sort in ("name", "code") and (found.re is _REPLACED or not phrase.join)
        for phrase in frame.phrases
        if found
    )


_REPLACED: Final = re.compile(
    r"(?:^|[,;.] )(?P<old>[^,;]+?) (?:has been|have been|was|were|got|is being|are being|gets)(?: \w+ly)? (?:swapped|replaced|exchanged|superseded|succeeded)(?: out)? (?:for|by|with) "
)
_LEFT_FOR: Final = re.compile(
    r"(?i)(?:^|[,;.] |\b(?:i|we) (?:have |just |finally )*)(?:switched|moved|migrated|changed|converted|gone)(?: over| away| everything| back)?(?: to [\w .]+?)? from (?P<old>[^,;]+?)(?= to\b|[,;.]|$)"
)


def is_changed_to(told: str, words: frozenset[str], frame: Frame) -> bool:
    """Whether the newer one says that what the older one speaks of was changed to another value."""
    if _is_painted(told, frame):
        return True
    found = compile_pattern(CHANGED_TO).search(told.lower())
    if found is None:
        return _is_remade(told, frame)
    if _is_counted_anew(told[found.start("new") : found.end("new")], told, frame):
        return True
    named = _list_changed(told[: found.start("new")].lower())
    thing, content = named - GENERIC - AGENTS, make_plain(frame.clause.content)
    new = _read_value(WHEN_CHANGED.sub(" ", told[found.start("new") : found.end("new")].rstrip(" .")))
    if new is None or new.words <= content:
        return False
    if _moves_away(told, frame):
        return False
    if _is_handed_on(named, told, new, frame) or _names_all(named, frame, content) or _is_renamed(named, told, frame):
        return True
    value = next(
        (
            phrase
            for phrase in frame.phrases
            if are_comparable(phrase, new, known=named) or _are_places(phrase, new, frame)
        ),
        None,
    )
    if value is None or not thing <= content | GENERIC:
        return False
    if frame.clause.is_first:
        verb = frozenset((frame.verb, stem(frame.clause.tokens[frame.clause.verb_at]))) - {"be", "have"}
        told_of = NOTHING.union(*(phrase.words for phrase in frame.phrases))
        return bool(thing & ((told_of - GENERIC - (value.words - value.unit)) | verb))
    return covers_subject(frame.subject, frame.clause, words)


def _is_remade(told: str, frame: Frame) -> bool:
    """Whether what is written, hosted or made in one way was changed to another: "we rewrote the service in Go"."""
    found = _REMADE.search(told)
    value = next(
        (one for one in frame.phrases if found and one.join == found["join"] and one.sort in ("name", "code")), None
    )
    if found is None or value is None:
        return False
    new = list_plain(list_tokens(found["new"].lower()))
    is_name = is_named(list_tokens(found["new"])) or any(letter.isdigit() for letter in found["new"])
    return is_name and new.isdisjoint(value.words) and list_plain(list_tokens(found["thing"].lower())) == frame.subject


_REMADE: Final = re.compile(
    r"\b(?:re(?:wrote|built|did|placed|hosted|deployed|built|homed|located|booked)|rewritten|moved|switched|migrated|ported|put) (?P<thing>(?:the|my|our|his|her|their) [\w ]+?) (?P<join>in|on|with|at|under|by) (?P<new>[\w .'-]+?)\s*$"
)


def _is_counted_anew(new: str, told: str, frame: Frame) -> bool:
    """Whether "we" have come to another number of what "our company" has."""
    value = _read_value(new)
    return (
        value is not None
        and bool(value.unit)
        and is_told_of_us(told, frame)
        and any(phrase.sort == value.sort == "number" and phrase.unit == value.unit for phrase in frame.phrases)
    )


def is_told_of_us(told: str, frame: Frame) -> bool:
    """Whether "we" tell something of what the older one tells of "our team"."""
    is_ours = frame.clause.tokens[0] == "our" and bool(frame.subject) and frame.subject <= _GROUPS
    return is_ours and told.lower().startswith("we ")


_GROUPS: Final = frozenset(
    map(stem, "company team firm family office household group club department startup shop band choir class".split())
)


def _moves_away(told: str, frame: Frame) -> bool:
    """Whether a person moved, of whom the older one tells where they do something."""
    return (
        frame.verb != "be"
        and not frame.clause.is_first
        and is_named(frame.clause.raw[: frame.clause.verb_at])
        and " moved " in told.lower()
    )


def _list_changed(before: str) -> frozenset[str]:
    """The words of what was changed: behind the verb, or before it where nothing stands there."""
    clause = split_clauses(before)[-1] if _FIRST_CHANGE.search(split_clauses(before)[-1]) else before
    verb = _FIRST_CHANGE.search(clause)
    behind = _list_named(clause[verb.end() :]) if verb else NOTHING
    return behind if behind and not re.match(r"\s*from\b", clause[verb.end() if verb else 0 :]) else _list_named(clause)


def _list_named(text: str) -> frozenset[str]:
    return make_plain(read_assertion(" ".join(word for word in text.split() if word not in _CHANGE_WORDS)).content)


def list_changed_words(clause: str) -> frozenset[str]:
    """The words of a clause without those that only say that, when and by whom something was changed."""
    plain = SOFT_MARKS.sub(" ", WHEN_CHANGED.sub(" ", clause.lower()))
    by_whom = _CHANGED_ME.search(plain)
    return _list_named(plain[by_whom.end() :] if by_whom else plain) - AGENTS


_CHANGED_ME: Final = re.compile(rf"{CHANGE}|\b(?:put|got|moved|set) (?:me|us)\b")


_FIRST_CHANGE: Final = re.compile(CHANGE)


_CHANGE_WORDS: Final = list_word_set(
    f"{CHANGED_WORDS} put brought turned go goes going gone moving switching changing back up down over forward has have had was were been got just being will asked decided indoors outdoors inside outside from to now they he she we i it had"
)


def _is_handed_on(named: frozenset[str], told: str, new: Phrase, frame: Frame) -> bool:
    """Whether what one person leads or owns was handed to another."""
    if new.sort != "name" or not frame.phrases or not is_named(frame.clause.raw[: frame.clause.verb_at]):
        return False
    is_handed = re.search(r"\b(?:handed|passed|transferred|reassigned|gave|given)\b", told.lower()) is not None
    return is_handed and all(phrase.words <= named for phrase in frame.phrases)


def _is_painted(told: str, frame: Frame) -> bool:
    """Whether the older one's subject is said to be made something else ("we painted the fence brown")."""
    found = _MADE.search(told)
    return (
        found is not None
        and frame.is_copula
        and bool(frame.subject)
        and list_plain(list_tokens(found["thing"].lower())) == frame.subject
    )


_MADE: Final = re.compile(
    r"\b(?:re)?(?:painted|named|dyed|labelled|titled) (?P<thing>(?:the|my|our|his|her|their) [\w ]+?) (?P<new>[\w'-]+|(?:The |[A-Z])[\w' ]+)\s*$"
)


def _names_all(named: frozenset[str], frame: Frame, content: frozenset[str]) -> bool:
    """Whether all that the older one says is named as what has changed."""
    whole = content - LIGHT - GENERIC - CALLED
    return len(whole) > LONG and whole <= named and named <= content | GENERIC | AGENTS and bool(frame.subject)


def _is_renamed(named: frozenset[str], told: str, frame: Frame) -> bool:
    """Whether exactly the older one's subject is said to be changed, where the older one says what it is."""
    if not frame.is_copula or not frame.phrases or frame.phrases[0].join or named - AGENTS != frame.subject:
        return False
    is_one = (frame.phrases[0].is_definite and frame.phrases[0].sort != "state") or names_one(frame)
    if _CHANGED_OWN.search(told):
        return True
    return is_one and re.search(r"\b(?:changed|renamed|switched|swapped)\b", told.lower()) is not None


_CHANGED_OWN: Final = re.compile(
    r"(?i)\b(?:i|we)(?: have| just| finally)* (?:changed|switched|swapped|renamed|replaced) (?:my|our) "
)


def _read_value(words: str) -> Phrase | None:
    clause = read_assertion(f"It is to {words.strip(' .')}")
    return read_phrase(clause, "to", range(3, len(clause.tokens))) if len(clause.tokens) > 3 else None  # noqa: PLR2004


def _are_places(old: Phrase, new: Phrase, frame: Frame) -> bool:
    """Whether what is somewhere is said to be moved somewhere else."""
    is_place = frame.verb == "be" and old.join in PLACES - {"to"} and {old.sort, new.sort} <= {"word", "name"}
    return is_place and old.is_definite and new.is_definite


_DIMENSIONS: Final = make_plain(list_stems("long wide deep high tall old thick heavy big large away apart".split()))
"""What a measure is of, and may be missing where it is told again."""


def are_comparable(one: Phrase, other: Phrase, *, known: frozenset[str] = NOTHING) -> bool:
    """Whether two phrases tell values of one sort, and count the same; `known` words need not be told with both."""
    if one.sort == other.sort and one.sort in ("when", "name", "code"):
        return True
    if one.sort == other.sort == "number":
        return (
            not one.unit
            or not other.unit
            or ((one.unit <= other.unit or one.unit >= other.unit) and one.unit ^ other.unit <= _DIMENSIONS | known)
        )
    return {one.sort, other.sort} <= {"number", "when", "code"} and not one.unit and not other.unit
