"""Whether what the marks of a newer statement speak of is what an older one says, of the same thing.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from itertools import takewhile
from typing import Final

from everfold.core.changes.told import Change
from everfold.core.clauses.assertions import (
    BE,
    HABITS,
    HAVE,
    WIDE,
    WORK,
    Assertion,
    list_stems,
)
from everfold.core.clauses.frames import JOINS, list_own_names
from everfold.core.clauses.slots import (
    Slot,
    find_slot,
    holds_one,
    is_definite,
    is_past,
    is_value,
    sort_value,
)
from everfold.core.replacement.attributes import BOUND, HOME
from everfold.core.statements.quotes import is_negative
from everfold.core.text.patterns import compile_pattern


def corrects(change: Change, said: Assertion, *, is_near: bool) -> bool:
    """Whether what a mark speaks of is what the older clause says, of the same thing."""
    is_event = _is_event(change, said)
    return (
        any(_is_ended(change, ended, said) for ended in change.ended)
        or any(_is_rejected(change, old, said, is_near=is_near) for old in change.rejected if not is_event)
        or any(_is_switched(change, old, said) for old in change.switched)
        or any(_is_moved(thing, new, said, is_near=is_near) for thing, new in change.moved)
        or any(_is_restated(change, clause, said) for clause in change.clauses)
    )


def _is_event(change: Change, said: Assertion) -> bool:
    """Whether the older clause tells what happened once, which another event does not undo."""
    verb = said.tokens[said.verb_at] if said.verb_at >= 0 else ""
    return is_past(verb) and verb not in BE | HAVE and "corrects" not in change.kinds


def _is_ended(change: Change, ended: Assertion, said: Assertion) -> bool:
    """Whether all that is denied is what the older one says, of the same thing."""
    if not ended.content or is_denied(said):
        return False
    if ended.content <= said.subject and ended.verb_at < 0:
        return _says_when(said)
    if not ended.content <= said.content or said.is_first != ended.is_first:
        return False
    if said.verb_at < 0:
        return ended.content == said.content and len(said.content) > 1
    if said.is_first or (said.verb_at >= 0 and not said.subject):
        return bool(ended.predicate) and _covers_list(ended, said)
    is_told = bool(said.subject) and _covers_subject(change.content, said) and not ended.content <= said.subject
    return is_told and _covers_list(ended, said)


def _covers_list(ended: Assertion, said: Assertion) -> bool:
    """Whether nothing of a list is left over that was not denied."""
    return not said.is_joined or said.content <= ended.content


def _is_rejected(change: Change, old: frozenset[str], said: Assertion, *, is_near: bool) -> bool:
    """Whether the older one says what is rejected, of what the newer one speaks of."""
    if not old <= said.content or is_denied(said) or any(old <= clause.content for clause in change.clauses):
        return False
    if _keeps_measure(change, old, said):
        return True
    if not _leaves_none(old, said):
        return False
    left = said.subject - old
    if not said.subject and not said.is_first:
        return _shares_order(change, old, said) or (change.is_bare and is_near)
    if change.is_bare and is_near:
        return old.isdisjoint(said.subject)
    if said.is_first:
        rest = said.content - old - list_stems(said.tokens[said.verb_at :][:1])
        return rest <= change.content and change.is_first and (bool(rest) or _keeps_verb(change, said))
    if old & said.subject:
        rest = said.predicate - old
        return bool(rest) and rest <= change.content
    return bool(left) and (_covers_subject(change.content | old, said) or (is_near and _names_head(change, old, said)))


def _keeps_measure(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether another value is told with the same two words behind the only one: "5.90 euros flat instead of 4.90"."""
    if sum(token[0].isdigit() for token in said.tokens) != 1:
        return False
    measures = {said.tokens[at + 1 : at + 3] for at, token in enumerate(said.tokens[:-2]) if {token} == old}
    return is_value(tuple(old)) and any(
        token[0].isdigit() and clause.tokens[at + 1 : at + 3] in measures
        for clause in change.clauses
        for at, token in enumerate(clause.tokens[:-2])
    )


def _names_head(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether what was told shortly before is named again in short, with the number or time of it that is not so."""
    nouns = said.tokens[: said.verb_at]
    head = next((at for at, noun in enumerate(nouns) if noun in _OF), len(nouns))
    return is_value(tuple(old)) and bool(list_stems(nouns[:head])) and list_stems(nouns[:head]) <= change.content


_OF: Final = frozenset(
    "of for with at in on to from für mit von bei im am de du des pour avec à del con para di per van voor met da do".split()
)


def _leaves_none(old: frozenset[str], said: Assertion) -> bool:
    """Whether nothing of a list would be lost with what is rejected."""
    return not said.is_joined or not said.predicate - old - list_stems(said.tokens[said.verb_at :][:1])


def _keeps_verb(change: Change, said: Assertion) -> bool:
    verb = said.tokens[said.verb_at] if said.verb_at >= 0 else ""
    return change.is_first and any(
        verb == clause.tokens[clause.verb_at] for clause in change.clauses if clause.verb_at >= 0
    )


def _shares_order(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether an order, or a note without a verb, is the same but for what is rejected."""
    rest = said.content - old
    return bool(rest) and rest <= change.content


def _is_switched(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether the older one says that what was left until now is used, worked with or lived in."""
    if not old <= said.content or said.verb_at < 0 or is_denied(said):
        return False
    if said.tokens[said.verb_at] not in HABITS or old.isdisjoint(said.predicate - said.subject):
        return False
    if not said.predicate - old - list_stems(said.tokens[said.verb_at :][:1]) <= change.content:
        return False
    if said.is_first:
        return change.is_first
    return bool(said.subject) and _covers_subject(change.content, said)


def _covers_subject(content: frozenset[str], said: Assertion) -> bool:
    """Whether words tell the whole subject of a clause, or at least the name that it has ("my sister Clara")."""
    return said.subject <= content or (bool(names := list_own_names(said)) and names <= content)


def _is_moved(thing: Assertion, new: tuple[str, ...], said: Assertion, *, is_near: bool) -> bool:
    """Whether the older one says where, when or how much it was, of what has moved."""
    if said.verb_at < 0:
        return bool(thing.subject) and thing.subject <= said.content and _says_when(said)
    if not _is_same_thing(thing, said) and not (is_near and _points_back(thing, said)):
        return False
    verb, rest = said.tokens[said.verb_at], said.raw[said.verb_at + 1 :]
    if verb in WORK:
        return False
    told = sort_value(tuple(token.lower() for token in new), new, (), ())
    if told == "when":
        return _says_when(said)
    if thing.is_first:
        return verb in _LIVING and _is_elsewhere(new, said)
    if new[0][:1].isdigit():
        return any(character.isdigit() for token in rest for character in token)
    sort = sort_value(tuple(token.lower() for token in rest), rest, (), ())
    return _names_place(rest) or (verb in HABITS and sort == told and sort not in ("word", "mixed", "state"))


def _is_elsewhere(new: tuple[str, ...], said: Assertion) -> bool:
    """Whether words name a place to live in for good, and not the one that the older clause names."""
    told = " ".join(new)
    if compile_pattern(BOUND).search(told.lower()) or (told.isascii() and not compile_pattern(HOME).match(told)):
        return False
    name = tuple(takewhile(lambda word: word[:1].isupper(), new))
    return not name or all(said.raw[at : at + len(name)] != name for at in range(len(said.raw)))


def _names_place(rest: tuple[str, ...]) -> bool:
    """Whether words name a place: "in Ulm", "in room 4", "in the hall", but not "in tune"."""
    if len(rest) < 2 or rest[0].lower() not in _PLACES:  # noqa: PLR2004  (a preposition and the place)
        return False
    return rest[1][0].isupper() or rest[1].lower() in _DEFINITE or any(token[0].isdigit() for token in rest[1:])


_DEFINITE: Final = frozenset(
    "the my our der dem den die das meinem unserem le la les el los il lo de het o a room".split()
)
_LIVING: Final = frozenset(
    "live lives living wohne wohnt wohnen lebe habite habitons vis vivo vivimos abito abitiamo woon wonen moro moramos живу живём 住".split()
)
_PLACES: Final = frozenset("in at on under with im am auf bei à au en nel a op no na в parked booked 在 room".split())


def _says_when(said: Assertion) -> bool:
    return any(sort_value((token.lower(),), (token,), (), ()) == "when" for token in said.raw) or _has_wide_day(said)


def _has_wide_day(said: Assertion) -> bool:
    return bool(re.search(r"[周星]|曜", "".join(said.tokens))) and bool(re.search(f"[{WIDE}]", "".join(said.tokens)))


def _points_back(newer: Assertion, older: Assertion) -> bool:
    """Whether "the operation" is the one that was called a person's shortly before."""
    at = older.tokens.index("'s") if "'s" in older.tokens[: older.verb_at] else 0
    owner = list_stems(older.tokens[:at])
    return newer.tokens[:1] == ("the",) and bool(owner) and newer.subject | owner == older.subject


def _is_same_thing(newer: Assertion, older: Assertion) -> bool:
    """Whether two clauses have the same subject: the speaker, or the same words."""
    if newer.is_first or older.is_first:
        return newer.is_first and older.is_first
    if newer.subject < older.subject and newer.subject and newer.subject == list_own_names(older):
        return True
    return bool(newer.subject) and newer.subject == older.subject


def _is_restated(change: Change, clause: Assertion, said: Assertion) -> bool:
    """Whether a clause says what the older one says, with another value, and marks it as a correction."""
    if clause.tokens == said.tokens:
        return False
    slot = find_slot(said, clause)
    if slot is not None and holds_one(said, slot, is_marked=True):
        return True
    if not change.kinds & {"corrects", "instead"} or _is_event(change, said) or not has_same_verb(clause, said):
        return False
    if slot is not None and (is_definite(said) or not said.verb_at):
        return _may_be_corrected(slot, said, is_named="corrects" in change.kinds)
    shared = clause.predicate & said.predicate
    is_same = _is_same_thing(clause, said) and len(shared) > 1 and len(said.predicate - clause.predicate) <= 1
    return is_same and "corrects" in change.kinds


def _may_be_corrected(slot: Slot, said: Assertion, *, is_named: bool) -> bool:
    """Whether another value in one place corrects the older one; `is_named`: the newer one says that it is a correction."""
    is_shared = len(slot.before) > said.verb_at + 1 or bool(slot.after) or said.tokens[said.verb_at] not in BE
    is_shared |= {slot.older[0], slot.newer[0]} <= {"a", "an"}
    if not is_named and not JOINS.isdisjoint((*slot.older[1:], *slot.newer[1:])):
        return False
    return slot.older_sort == slot.newer_sort != "mixed" and (is_shared or slot.older_sort not in ("word", "state"))


def has_same_verb(one: Assertion, other: Assertion) -> bool:
    """Whether two clauses have the same verb, in the same form."""
    return one.verb_at >= 0 and other.verb_at >= 0 and one.tokens[one.verb_at] == other.tokens[other.verb_at]


def is_denied(said: Assertion) -> bool:
    """Whether a clause says that something is not so."""
    return is_negative(" ".join(said.tokens))
