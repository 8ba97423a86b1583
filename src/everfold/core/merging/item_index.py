"""Item index: the few items that one item has to be held against, found without a look at all of them.

What two items are to each other is decided by rules that compare two of them. Asking the rules about every pair costs the
square of what memory has; here an item is found by what it must have in common with another one before any rule can say yes:
an identity, a message that both quote, or a subject key and an order in time (see `item_subjects`). What is found is always
more than what a rule takes, never less, and comes in the order in which the items came, so every decision is the one that a
look at all pairs would make, up to a bound: of the rivals under one key only the `NEAR_COUNT` nearest in time are found, as
the rules of `supersession` look at no more lines of a word. A word that more items share tells no subject, and what is not
found stays beside the new item; nothing is lost by it. O(log n) to keep an item, and O(items found) to look them up.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from everfold.core.memory.items import Item, ItemId
from everfold.core.merging.item_subjects import list_subject_keys, may_replace_at_once
from everfold.core.primitives.ids import AgentId, SessionId
from everfold.core.replacement.supersession import NEAR_COUNT

_Place = tuple[str, AgentId]
"""The tier, and the agent whose it is; empty for the user tier."""


class _Line(NamedTuple):
    """An item under one of its keys: when it was last said, and its number."""

    said_at: datetime
    number: int


class ItemIndex:
    """Items by what they are found by. One that is put again takes the place that it had."""

    def __init__(self) -> None:
        self._items: dict[ItemId, Item] = {}
        self._numbers: dict[ItemId, int] = {}
        self._ids: list[ItemId] = []
        self._of_identity: defaultdict[str, set[int]] = defaultdict(set)
        self._quoting: defaultdict[tuple[SessionId, int], set[int]] = defaultdict(set)
        self._lines: defaultdict[tuple[_Place, str], list[_Line]] = defaultdict(list)

    def put(self, item: Item) -> None:
        """Have an item as it is now."""
        if (was := self._items.get(item.id)) is not None:
            self._drop(was)
        else:
            self._numbers[item.id] = len(self._ids)
            self._ids.append(item.id)
        self._items[item.id] = item
        number = self._numbers[item.id]
        self._of_identity[item.identity].add(number)
        for message in _list_messages(item):
            self._quoting[message].add(number)
        if item.status != "active":
            return
        for key in _list_places(item):
            insort(self._lines[key], _Line(item.last_seen_at, number))

    def list_same(self, identity: str) -> list[Item]:
        """The items of one identity, whatever their status."""
        return self._pick(self._of_identity.get(identity, ()))

    def list_quoting(self, item: Item) -> list[Item]:
        """The items that quote a message which an item quotes, whatever their status."""
        return self._pick(number for message in _list_messages(item) for number in self._quoting.get(message, ()))

    def list_older(self, newer: Item, is_rival: Callable[[Item], bool]) -> list[Item]:
        """The active items of its place that a newer item may replace, the newest rivals of each key."""
        end = bisect_right if may_replace_at_once(newer) else bisect_left
        return self._pick(
            number
            for lines in self._list_lines(newer)
            for number in self._list_rivals(
                lines, range(end(lines, newer.last_seen_at, key=_read_said_at) - 1, -1, -1), is_rival
            )
        )

    def list_later(self, older: Item, is_rival: Callable[[Item], bool]) -> list[Item]:
        """The active items of its place that were said later than an item and may replace it, the next ones of each key."""
        return self._pick(
            number
            for lines in self._list_lines(older)
            for number in self._list_rivals(
                lines, range(bisect_right(lines, older.last_seen_at, key=_read_said_at), len(lines)), is_rival
            )
        )

    def _list_rivals(self, lines: list[_Line], places: range, is_rival: Callable[[Item], bool]) -> Iterator[int]:
        """The first few numbers of rivals at some places of a key's lines."""
        numbers = (lines[place].number for place in places)
        return islice((number for number in numbers if is_rival(self._items[self._ids[number]])), NEAR_COUNT)

    def _list_lines(self, item: Item) -> Iterator[list[_Line]]:
        return (self._lines[key] for key in _list_places(item) if key in self._lines)

    def _drop(self, item: Item) -> None:
        number = self._numbers[item.id]
        self._of_identity[item.identity].discard(number)
        for message in _list_messages(item):
            self._quoting[message].discard(number)
        if item.status != "active":
            return
        for key in _list_places(item):
            lines = self._lines[key]
            del lines[bisect_left(lines, _Line(item.last_seen_at, number))]

    def _pick(self, numbers: Iterable[int]) -> list[Item]:
        return [self._items[self._ids[number]] for number in sorted(set(numbers))]


def _read_place(item: Item) -> _Place:
    return item.tier, AgentId("") if item.tier == "user" else item.agent_id


def _list_places(item: Item) -> Iterator[tuple[_Place, str]]:
    """Where an item's lines stand."""
    place = _read_place(item)
    return ((place, key) for key in list_subject_keys(item.statement))


def _list_messages(item: Item) -> set[tuple[SessionId, int]]:
    return {(one.session_id, one.seq) for one in item.evidence}


def _read_said_at(line: _Line) -> datetime:
    return line.said_at
