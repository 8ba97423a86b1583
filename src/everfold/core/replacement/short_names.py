"""What was named in full shortly before and is named in short now: "Dad's birthday party", and then "the party".

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from everfold.core.replacement.assertions import REMEMBERED_TEXTS, list_stems, read_assertion
from everfold.core.replacement.frames import JOINS, Frame, list_plain, read_frame
from everfold.core.replacement.given_up import split_clauses
from everfold.core.replacement.slots import LABELS, MANY, is_number
from everfold.core.statements.rules import list_word_set


def name_in_short(told: str, words: frozenset[str], frame: Frame) -> Frame | None:
    """An older clause with as much of its subject as the newer statement names; None where that may be another thing.

    Nothing that tells one thing from another may be left out: a number, a name, an ordinal, what stands behind the noun.
    """
    clause = frame.clause
    before = clause.raw[: max(clause.verb_at, 0)]
    head = next((at for at, word in enumerate(before) if word.lower() in _BEHIND), len(before)) - 1
    if (
        clause.is_first
        or head < 1
        or clause.tokens[head] in MANY | LABELS
        or not list_plain((clause.tokens[head],)) & words
    ):
        return None
    kept = [at for at in range(1, len(before)) if list_plain((clause.tokens[at],)) & words]
    dropped = [at for at in range(len(before)) if at not in kept and list_stems((clause.tokens[at],))]
    if not dropped or dropped[-1] > head or any(_tells_apart(before[at], at) for at in dropped):
        return None
    owner = re.search(rf"(?i)\b(?P<owner>the|my|our) {re.escape(before[min(kept)])}\b", told)
    if owner is None or (owner["owner"].lower() != "the" and "'s" in before):
        return None
    return read_frame(" ".join((owner["owner"], *(before[at] for at in kept), *clause.raw[clause.verb_at :])))


_BEHIND: Final = JOINS | {"of"}
_ORDINALS: Final = list_word_set(
    "first second third fourth last next other old new north south east west left right upper lower front back"
)


def _tells_apart(word: str, at: int) -> bool:
    lowered = word.lower()
    is_name = at > 0 and word[:1].isupper()
    return is_name or is_number(lowered) or any(map(str.isdigit, word)) or lowered in _ORDINALS or lowered in MANY


@lru_cache(maxsize=REMEMBERED_TEXTS)
def list_named_clauses(told: str) -> tuple[str, ...]:
    """The clauses of a statement that only point at what the clause before them names, with its name: "I moved it, it is here"."""
    found, parts = list[str](), split_clauses(told)
    for before, part in pairwise(parts):
        pointing, thing = _POINTING.match(part), _THING.search(before)
        if pointing is None:
            continue
        subject = read_assertion(before)
        if subject.verb_at > 0 and not subject.is_first and not subject.is_pointing:
            found.append(" ".join((*subject.raw[: subject.verb_at], pointing["rest"])))
        elif thing is not None:
            found.append(f"{thing['thing']} {pointing['rest']}")
    return tuple(found)


_POINTING: Final = re.compile(r"(?i)(?:it|they|that) (?P<rest>(?:is|are|was|will|should|\w+s) .+)")
_THING: Final = re.compile(
    r"(?i)\b(?P<thing>(?:the|my|our)(?: (?!(?:the|my|our)\b)[\w'-]+){1,5}?)(?: wrong| incorrect\w*| mixed up| around| back| over| up| down| out)?$"
)
