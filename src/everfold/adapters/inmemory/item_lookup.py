"""What items in memory are found by: their identity, their place in the block, when they were written, and their words.

It follows the tables change by change, and is made anew where they became others in another way.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Self

from everfold.adapters.inmemory.memory_tables import MemoryTables
from everfold.core.memory.items import Item, ItemId, index_item
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.text.searching import Corpus, SearchQuery, SearchTerm, SearchText, rank_documents

MOST_MATCHES: Final = 200
"""Of a word that more items hold only the newest of them are looked at. Source: own choice; as `MIN_POSTINGS` of
`everfold.core.text.searching` bounds a search, for an index that is read in Python."""

_Place = tuple[UserId, AgentId | None]
"""Whose items: of the user tier (None), or an agent's own."""


@dataclass(slots=True)
class _Shelf:
    """The active items of one place, with their words.

    Attributes:
        texts: The words of each item.
        holding: The items that hold a word.
        words_count: How many words all of them have.
    """

    texts: dict[ItemId, str] = field(default_factory=dict)
    holding: defaultdict[str, dict[ItemId, None]] = field(default_factory=lambda: defaultdict(dict))
    words_count: int = 0

    def list_holding(self, term: SearchTerm) -> Iterable[ItemId]:
        """The newest items that may match a term. The beginning of a word is looked for in every word."""
        if term.is_prefix:
            return [id_ for word in self.holding if word.startswith(term.words[0]) for id_ in self.holding[word]]
        holding = min((self.holding.get(word, {}) for word in term.words), key=len)
        return islice(reversed(holding), MOST_MATCHES)

    def put(self, item: Item) -> None:
        self.texts[item.id] = text = index_item(item)
        words = text.split()
        self.words_count += len(words)
        for word in words:
            self.holding[word][item.id] = None

    def drop(self, item_id: ItemId) -> None:
        words = self.texts.pop(item_id, "").split()
        self.words_count -= len(words)
        for word in dict.fromkeys(words):
            del self.holding[word][item_id]
            if not self.holding[word]:
                del self.holding[word]


class ItemLookup:
    """An index over the items of some tables."""

    def __init__(self) -> None:
        self._of: MemoryTables | None = None
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[ItemId, int] = {}
        self._newest: dict[ItemId, Item] = {}
        self._same: defaultdict[tuple[UserId, str], dict[ItemId, None]] = defaultdict(dict)
        self._blocks: defaultdict[UserId, dict[ItemId, None]] = defaultdict(dict)
        self._written: defaultdict[UserId, list[tuple[int, ItemId]]] = defaultdict(list)
        self._shelves: defaultdict[_Place, _Shelf] = defaultdict(_Shelf)

    def forget(self) -> None:
        """Take note that the tables were changed in place."""
        self._of = None

    def follow(self, held: MemoryTables, before: MemoryTables, items: Iterable[Item]) -> None:
        """Take note that a change has made tables of others, by writing these items."""
        if self._of is before:
            for item in items:
                self._put(item, held.written_at[item.id])
            self._of = held

    def at(self, held: MemoryTables) -> Self:
        """This index, of these tables. O(items) where it is of others."""
        if self._of is not held:
            self._clear()
            self._numbers = {id_: number for number, id_ in enumerate(held.items)}
            newest = (revisions[-1] for revisions in held.items.values())
            for item in sorted(newest, key=lambda item: held.written_at[item.id]):
                self._put(item, held.written_at[item.id])
            self._of = held
        return self

    def list_same(self, user_id: UserId, identities: Iterable[str]) -> list[Item]:
        """The items with these identities."""
        return self._pick(id_ for identity in identities for id_ in self._same.get((user_id, identity), ()))

    def list_block(self, user_id: UserId) -> list[Item]:
        """All active items of a user's block."""
        return self._pick(self._blocks.get(user_id, ()))

    def list_changed(self, user_id: UserId, after: int) -> list[Item]:
        """The items that a change after this revision of memory has written."""
        written = self._written.get(user_id, [])
        at = bisect_right(written, after, key=lambda one: one[0])
        return self._pick(item_id for _, item_id in written[at:])

    def search(self, query: SearchQuery, user_id: UserId, agent_id: AgentId | None) -> list[tuple[Item, float]]:
        """The active items that match, best first, of equal ones the newer. O(items that hold a word looked for)."""
        shelves = self._list_shelves(user_id, agent_id)
        items = self._pick(id_ for shelf in shelves for term in query.terms for id_ in shelf.list_holding(term))
        whole = Corpus(sum(len(shelf.texts) for shelf in shelves), sum(shelf.words_count for shelf in shelves))
        texts = [SearchText(own=self._shelf_of(item).texts[item.id], before="") for item in items]
        return [(items[at], score) for at, score in rank_documents(query, texts, whole=whole)]

    def _list_shelves(self, user_id: UserId, agent_id: AgentId | None) -> list[_Shelf]:
        return [
            shelf
            for (owner_id, place), shelf in self._shelves.items()
            if owner_id == user_id and (None in (agent_id, place) or place == agent_id)
        ]

    def _shelf_of(self, item: Item) -> _Shelf:
        return self._shelves[item.user_id, None if item.tier == "user" else item.agent_id]

    def _put(self, item: Item, written_revision: int) -> None:
        if (was := self._newest.get(item.id)) is not None:
            self._same[was.user_id, was.identity].pop(item.id, None)
            self._blocks[was.user_id].pop(item.id, None)
            self._shelf_of(was).drop(item.id)
        self._numbers.setdefault(item.id, len(self._numbers))
        self._newest[item.id] = item
        self._same[item.user_id, item.identity][item.id] = None
        self._written[item.user_id].append((written_revision, item.id))
        if item.status == "active":
            self._shelf_of(item).put(item)
            if item.shelf == "block":
                self._blocks[item.user_id][item.id] = None

    def _pick(self, ids: Iterable[ItemId]) -> list[Item]:
        """Items in the order in which memory first had them."""
        return [self._newest[id_] for id_ in sorted(dict.fromkeys(ids), key=self._numbers.__getitem__)]
