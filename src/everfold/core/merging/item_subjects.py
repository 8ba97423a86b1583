"""Which items a newer statement replaces: the rules of `supersession`, held against what memory says.

What a person asked to keep falls to a marked correction only; the rest also to another value of the same thing.

Each item stands as one line, of the kind that its own kind was made from. Items of the newer one's session keep their
distance in messages; those of other sessions are out of a bare correction's reach.

What the rules must guarantee, so that `item_index` finds every item that they may say yes to. `list_replaced_items(newer,
older)` names the same items when those of `older` are left out that

- have no key of `list_subject_keys` in common with it; or
- were said after it, or at the same moment where `may_replace_at_once` says no; or
- `may_replace` says no to.

`says_no_more(newer, older)` says yes only where both quote one message. A rule that compares by something else needs a
key for it. `tests/property/test_item_index.py` holds the rules to this.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from everfold.core.memory.items import Evidence, Item, ItemKind
from everfold.core.replacement.replacement import is_marked
from everfold.core.replacement.supersession import list_keys, list_replaced
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.text.words import read_matter

_LINES: Final[dict[ItemKind, LineKind]] = {
    "fact": "identity",
    "preference": "preference",
    "decision": "decision",
    "task": "task",
    "open_item": "question",
}
_STANDING: Final[frozenset[ItemKind]] = frozenset(("fact", "preference", "decision"))
_ONE_VALUE: Final = re.compile(
    r"\bmy (?P<of>(?:[a-z'-]+ ){0,3}?(?:name|nickname|address|e-?mail(?: address)?|(?:phone |badge |room |account )?number|birthday|"
    r"time ?zone)|favou?rite (?:[a-z'-]+ ?){1,3}?) (?:is|are|was|has changed to)\b"
    r"|\b(?P<called>call me|i go by)\b",
    re.IGNORECASE,
)
"""Statements about what a person has one of: a later one replaces an earlier one, whatever its value is. Source: own list
of the commonest such properties in English; anything else is left to `supersession`."""
_VALUE: Final = re.compile(r"\s+(?:now |just )?(?:the )?(?:[A-Z0-9+(\"']|\S*@)")
"""How a name, a place, a number or an address begins: "my name is misspelled" gives no name."""
_BOUND: Final = re.compile(r"\b(?:in|on|at|with|for|during|when|while|from|until)\b", re.IGNORECASE)
"""What bounds a value to a time or a place ("I live in Rome in winter"): another may hold beside it."""
_AROUND_WORDS: Final = 6
_JOINS: Final = re.compile(r"[,;:]|\b(?:and|but|because|so|which|who)\b", re.IGNORECASE)
_FAR: Final = 1_000_000
"""How many messages ago, at least, an item of another session counts as said."""


def list_replaced_items(newer: Item, older: Sequence[Item]) -> list[Item]:
    """Those of the older items that a newer one clearly replaces, the one seen last first.

    Only items of its tier and agent are compared, of no more authority, and last said before it.
    """
    lines: dict[tuple[int, int], Item] = {}
    given: list[ExtractLine] = []
    last = _read_line(newer, newer, 0)
    rivals = sorted(filter(lambda item: may_replace(newer, item), older), key=lambda item: (item.last_seen_at, item.id))
    for place, item in enumerate(rivals):
        line = _read_line(item, newer, place)
        lines[line.seq, line.start] = item
        given.append(line)
    replaced = {lines[line.seq, line.start].id for line in list_replaced(last, given)}
    replaced |= {item.id for item in rivals if _gives_another_value(newer, item)}
    return [item for item in reversed(rivals) if item.id in replaced]


def list_subject_keys(statement: str) -> frozenset[str]:
    """What a statement is found by: the words of its subject, and what it gives the one value of."""
    subject = find_one_value(statement)
    return list_keys(statement) | {f"={subject}"} if subject else list_keys(statement)


def may_replace_at_once(newer: Item) -> bool:
    """Whether an item may replace one that was last said at the same moment: it says itself that it replaces something."""
    return is_marked(newer.statement)


def _gives_another_value(newer: Item, older: Item) -> bool:
    """Whether both give the value of what a person has one of; what was saved falls to a marked correction only."""
    subject = find_one_value(newer.statement) if newer.tier == "user" else ""
    if not subject or (older.is_explicit and not is_marked(newer.statement)):
        return False
    is_told_closer = not is_marked(newer.statement) and list_keys(older.statement) <= list_keys(newer.statement)
    return not is_told_closer and find_one_value(older.statement, alone=True) == subject


def find_one_value(statement: str, *, alone: bool = False) -> str:
    """What a statement gives the value of, where a person has one of it ("my room number is"); empty for any other.

    Args:
        statement: In words.
        alone: Only a statement that says nothing else: what it says besides would be lost with it.
    """
    match = _ONE_VALUE.search(statement)
    if match is None or _BOUND.search(statement, match.end()) or "'s " in (match["of"] or ""):
        return ""
    is_favourite = (match["of"] or "").lower().startswith("favo")
    if not is_favourite and not _VALUE.match(statement, match.end()):
        return ""
    around = f"{statement[: match.start()]} {statement[match.end() :]}"
    if alone and (len(around.split()) > _AROUND_WORDS or _JOINS.search(around)):
        return ""
    if match["of"]:
        return " ".join(match["of"].lower().replace("favourite", "favorite").replace("colour", "color").split())
    return "called"


def corrects(item: Item) -> bool:
    """Whether an item, or a quote that it stands on, says itself that it changes something."""
    return is_marked(item.statement) or any(is_marked(one.quote) for one in item.evidence)


def is_of_one_place(one: Item, other: Item) -> bool:
    """Whether both are about the person, or both are notes of one agent."""
    return one.tier == other.tier and (one.tier == "user" or one.agent_id == other.agent_id)


def says_no_more(newer: Item, older: Item) -> bool:
    """Whether a newer statement was taken from the same words as an older one, and has no word that it lacks."""
    if not overlaps(newer, older):
        return False
    told = " ".join((older.statement, *(one.quote for one in older.evidence)))
    return _read_words(newer.statement) <= {*_read_words(told), "user"}


def overlaps(one: Item, other: Item) -> bool:
    """Whether a quote of one item and a quote of another have a word of a message in common."""
    return any(_count_shared(quote, two) > 0 for quote, two in _pair_quotes(one, other))


def says_again(new: Item, gone: Item) -> bool:
    """Whether an item tells what another one quoted, of which only the places may be left.

    Two quotes are the same words, for at least half of the longer one; or a quote of the new item holds one of the other,
    and its statement has a word that stands only there. A quote that was cut to nothing is at no place of its message:
    every quote of that message is the same.
    """
    return any(
        not two.quote
        or 2 * _count_shared(quote, two) >= max(len(quote.quote), len(two.quote))
        or _tells_part(new.statement, quote, two)
        for quote, two in _pair_quotes(new, gone)
    )


def _tells_part(statement: str, quote: Evidence, part: Evidence) -> bool:
    """Whether a quote holds another one, and a statement has a word that stands nowhere else in it.

    The "user" that statements begin with is none of the quote.
    """
    if _count_shared(quote, part) < len(part.quote):
        return False
    start, end = part.start - quote.start, part.start - quote.start + len(part.quote)
    others = _read_words(f"{quote.quote[:start]} {quote.quote[end:]}") | {"user"}
    return not _read_words(statement).isdisjoint(_read_words(quote.quote[start:end]) - others)


def _read_words(text: str) -> frozenset[str]:
    """The index words of a text, without stop words."""
    return frozenset(read_matter(text).split())


def _pair_quotes(one: Item, other: Item) -> Iterator[tuple[Evidence, Evidence]]:
    """The quotes of one item with those of another of the same message."""
    for quote, two in product(one.evidence, other.evidence):
        if (quote.session_id, quote.seq) == (two.session_id, two.seq):
            yield quote, two


def _count_shared(one: Evidence, other: Evidence) -> int:
    """How many characters of their message both quotes have; none or less where they stand apart."""
    return min(one.start + len(one.quote), other.start + len(other.quote)) - max(one.start, other.start)


def may_replace(newer: Item, older: Item) -> bool:
    """Whether an item may take the place of another at all: of its tier and agent, no more authority, and said before it."""
    return (
        older.id != newer.id
        and is_of_one_place(newer, older)
        and older.authority <= newer.authority
        and _was_said_before(older, newer)
    )


def _was_said_before(older: Item, newer: Item) -> bool:
    """Whether an item was last said before another one.

    At one moment, as in a batch or an import without times, it was where it stands in an earlier message and the other one
    says itself that it takes the place of something: else the two may well be a list.
    """
    if older.last_seen_at != newer.last_seen_at or not older.evidence or not newer.evidence:
        return older.last_seen_at < newer.last_seen_at
    one, other = older.evidence[-1], newer.evidence[-1]
    return one.session_id == other.session_id and one.seq < other.seq and may_replace_at_once(newer)


def _read_line(item: Item, newer: Item, place: int) -> ExtractLine:
    """An item as a line; the place tells apart those that stand at one message."""
    return ExtractLine(
        seq=_find_distance(item, newer),
        origin=item.origin,
        kind="remember" if item.is_explicit else _LINES[item.kind],
        score=0,
        quote=item.statement,
        start=place,
        standing=item.kind in _STANDING,
        said_at=item.last_seen_at,
    )


def _find_distance(item: Item, newer: Item) -> int:
    """A place in the log, counted from the newer one's message back; 0 for that message itself."""
    if item is newer:
        return 0
    session_id, seq = (newer.evidence[-1].session_id, newer.evidence[-1].seq) if newer.evidence else ("", 0)
    seqs = [one.seq for one in item.evidence if one.session_id == session_id]
    if not seqs or not newer.evidence:
        return -_FAR
    return min(max(seqs) - seq, 0)
