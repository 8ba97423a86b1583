"""Whether one statement takes the place of another, decided over the two alone.

Theory of operation. A newer statement either says itself that something is not so any more (`change_marks`), or it is the
older one word for word but for one value of a thing that has one such value at a time (`slots`). In both cases the two
must speak of the same thing: a number or a name that tells things apart has to be equal, and words that they share beyond
that prove nothing. Without certainty nothing is replaced: both statements stand, each with its date.

Source: DESIGN section 4, "Item"; `bench/supersession.py` measures it.
"""

import re
from functools import lru_cache
from typing import Final

from everfold.core.changes.given_up import list_given_up, split_clauses
from everfold.core.changes.kinds import MarkKind
from everfold.core.changes.told import Change, read_change
from everfold.core.changes.words import DENIALS, says_change
from everfold.core.clauses.assertions import (
    BE,
    REMEMBERED_TEXTS,
    Assertion,
    expand,
    list_stems,
    list_tokens,
    read_assertion,
)
from everfold.core.clauses.slots import (
    ValueSort,
    find_slot,
    holds_one,
    is_definite,
    is_one_of_many,
    list_units,
    list_values,
)
from everfold.core.replacement.attributes import gives_another_value
from everfold.core.replacement.changed_values import is_changed
from everfold.core.replacement.corrections import corrects, has_same_verb, is_denied
from everfold.core.replacement.lifted_rules import lifts, list_lifted
from everfold.core.replacement.other_kinds import is_of_another_kind
from everfold.core.replacement.other_things import speaks_of_another
from everfold.core.replacement.single_values import is_same_but_one
from everfold.core.statements.quotes import is_negative

_REMEMBERED_PAIRS: Final = 32_768
"""How many pairs stay compared: the lines of a rollup meet again at every rollup, some 4,800 pairs each time, and all are
compared anew where fewer are remembered than meet. Source: own measurement, the endless log at a limit of 32,000; six
conversations of a server at once."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_marked(text: str) -> bool:
    """Whether a statement says itself that it changes or corrects something."""
    return bool(read_change(text).kinds) or says_change(text) or bool(list_lifted(text))


def _has_same_condition(older: str, change: Change) -> bool:
    """Whether both hold under one condition: what asks or supposes nothing else may change it."""
    found = _CONDITION.search(older)
    return found is not None and list_stems(list_tokens(found["when"].lower())) <= change.content


_CONDITION: Final = re.compile(r"(?i)\bif (?P<when>[^,;.]+)")


@lru_cache(maxsize=_REMEMBERED_PAIRS)
def replaces(newer: str, older: str, *, is_saved: bool = False, is_near: bool = False) -> bool:
    """Whether a newer statement clearly takes the place of an older one.

    Args:
        newer: In words, as it was said.
        older: The same.
        is_saved: The person asked to keep the older one: only a marked correction replaces it.
        is_near: It was said shortly before, so that a correction without a subject may mean it.
    """
    change = read_change(newer)
    if newer == older or (change.is_idle and not _has_same_condition(older, change)):
        return False
    if lifts(newer, older) or (lifts(older, newer) and not is_saved):
        return True
    expanded = expand(older).strip()
    if gives_another_value(newer, older):
        return not is_saved or is_marked(newer)
    said = read_assertion(expanded)
    if said.content.isdisjoint(change.content) and not (said.is_first and change.is_first):
        return False
    if not _takes_place(newer, change, older, said, is_saved=is_saved, is_near=is_near):
        return False
    told = expand(newer).strip()
    if speaks_of_another(told, expanded) or is_of_another_kind(told, expanded):
        return False
    return not _only_adds(newer, change, said)


def _takes_place(newer: str, change: Change, older: str, said: Assertion, *, is_saved: bool, is_near: bool) -> bool:
    """Whether a change or another value is told, of a thing of this name."""
    is_marked_change = bool(change.kinds)
    if is_marked_change and corrects(change, said, is_near=is_near):
        return True
    if is_saved and not is_marked(newer):
        return False
    if is_changed(newer, older, is_marked=is_marked_change, is_near=is_near):
        return True
    return not is_saved and (_updates(newer, change, older, said) or is_same_but_one(newer, older))


def _only_adds(newer: str, change: Change, said: Assertion) -> bool:
    """Whether a statement says again all that the older one says, and takes nothing back."""
    if not said.content <= change.content or change.kinds & _TAKING_BACK:
        return False
    told = expand(newer)
    return (
        any(said.content <= clause.content for clause in map(read_assertion, split_clauses(told)))
        and not list_given_up(told)
        and not DENIALS.search(told)
        and not is_denied(said)
    )


_TAKING_BACK: Final[frozenset[MarkKind]] = frozenset(("corrects", "rejects", "ends", "moves", "shifts", "switches"))


def _updates(newer: str, change: Change, older: str, said: Assertion) -> bool:
    """Whether the newer one is the older one with another value, or with the opposite sign, and says nothing of a list."""
    told = change.plain
    if said.is_joined:
        return False
    slot = find_slot(said, told)
    if slot is not None:
        return holds_one(said, slot, is_marked=bool(change.kinds & {"now", "instead", "corrects"}))
    if _differs_in_value(said, told):
        return True
    is_opposite = is_negative(older) != is_negative(newer)
    return is_opposite and told.content == said.content and len(said.content) > 1 and said.is_first == told.is_first


def _differs_in_value(said: Assertion, told: Assertion) -> bool:
    """Whether two clauses have the same words but for one number or time, in whatever order, of one thing."""
    if said.verb_at < 0 or not said.subject or said.subject != told.subject or not has_same_verb(said, told):
        return False
    older, newer = list_values(said), list_values(told)
    changed: list[ValueSort] = [sort for sort in ("when", "number", "code") if older.get(sort) != newer.get(sort)]
    if len(changed) != 1 or changed[0] not in older or changed[0] not in newer or not is_definite(said):
        return False
    is_same = said.content - older[changed[0]] == told.content - newer[changed[0]]
    is_one = len(older[changed[0]]) == len(newer[changed[0]]) == 1 and not is_one_of_many(said)
    return is_same and is_one and list_units(said) == list_units(told) and said.tokens[said.verb_at] in BE
