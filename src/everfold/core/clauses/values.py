"""The values that a clause gives, word by word: numbers, times, codes and names, and what they count."""

from functools import lru_cache

from everfold.core.clauses.assertions import (
    BE,
    REMEMBERED_TEXTS,
    Assertion,
    list_stems,
)
from everfold.core.clauses.frames import (
    JOINS,
    TIMES,
    counts,
    is_time,
    list_plain,
)
from everfold.core.clauses.slots import (
    ADJECTIVES,
    ALSO_NAMES,
    CODE,
    ValueSort,
)
from everfold.core.statements.quotes import NOTHING
from everfold.core.text.stems import stem


def list_left(clause: Assertion, known: frozenset[str]) -> dict[ValueSort, frozenset[str]]:
    """The values of a clause that are not known, by sort."""
    found = {sort: values - known for sort, values in _list_sorted(clause)}
    return {sort: values for sort, values in found.items() if values}


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _list_sorted(clause: Assertion) -> tuple[tuple[ValueSort, frozenset[str]], ...]:
    """The values of a clause by sort."""
    found: dict[ValueSort, set[str]] = {}
    for at, token in enumerate(clause.tokens):
        sort = _sort_token(clause, at)
        if sort is not None:
            found.setdefault(sort, set()).update(list_plain((token,)))
    return tuple((sort, frozenset(values)) for sort, values in found.items())


def _sort_token(clause: Assertion, at: int) -> ValueSort | None:
    token, raw = clause.tokens[at], clause.raw[at]
    if token in JOINS or not list_stems((token,)):
        return None
    if is_time(token) and (token not in ALSO_NAMES or raw[:1].isupper()):
        return "when"
    if counts(token) or (at > 0 and clause.tokens[at - 1] in ("a", "an") and stem(token) in TIMES):
        return "number"
    if CODE.fullmatch(token):
        return "code"
    return "name" if at and raw[:1].isupper() and raw != "I" and token not in ADJECTIVES else None


def counts_same(
    said: Assertion,
    newer: Assertion,
    missing: dict[ValueSort, frozenset[str]],
    added: dict[ValueSort, frozenset[str]],
    sort: ValueSort,
) -> bool:
    """Whether the newer clause gives a value that can stand for the missing one, of the same unit."""
    plain: frozenset[ValueSort] = frozenset(("number", "code", "when"))
    fitting = [one for one in added if one == sort or {one, sort} <= plain]
    if not fitting or sort not in ("number", "when"):
        return bool(fitting)
    old = list_units(said, missing[sort])
    new = list_units(newer, NOTHING.union(*(added[one] for one in fitting)))
    if sort not in added:
        return not old and not new
    return sort == "when" or not old or not new or bool(old & new)


def list_units(clause: Assertion, values: frozenset[str]) -> frozenset[str]:
    """The words right behind some values of a clause."""
    pairs = zip(clause.tokens, clause.tokens[1:], strict=False)
    return list_plain(
        unit
        for value, unit in pairs
        if list_plain((value,)) & values and unit not in JOINS and unit not in BE and not counts(unit)
    )
