"""List: the items of a memory that a filter asks for, page by page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from everfold.core.memory.items import Item, ItemId, ItemKind, ItemStatus, Tier
from everfold.core.merging.edits import is_visible
from everfold.core.primitives.choices import require_choice, require_choices
from everfold.core.primitives.ids import AgentId, UserId
from everfold.ports.memory import ItemStore
from everfold.services.sessions.search_all import search_items

MOST_READ: Final = 2_000
"""How many items one page looks through; one that found less says where to go on."""
_PAGE_COUNT: Final = 500
_ACTIVE: Final[Sequence[ItemStatus]] = ("active",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemQuery:
    """Which items are looked for.

    Attributes:
        now: When it is asked: an active item past its end is listed with the expired ones.
        statuses: Only these.
        kind: Only this one.
        tier: Only this one.
        text: Active items are found by its words, best first; others by itself, in any case.
        has_held_back: Also what a scan has held back.
    """

    now: datetime
    statuses: Sequence[ItemStatus] = _ACTIVE
    kind: ItemKind | None = None
    tier: Tier | None = None
    text: str = ""
    has_held_back: bool = True

    def __post_init__(self) -> None:
        require_choices("statuses", self.statuses, ItemStatus)
        require_choice("kind", self.kind, ItemKind, or_none=True)
        require_choice("tier", self.tier, Tier, or_none=True)

    @property
    def is_wide(self) -> bool:
        """Whether most items with its statuses are looked for."""
        return not (self.kind or self.tier or self.text) and self.stored_statuses == self.statuses

    @property
    def stored_statuses(self) -> Sequence[ItemStatus]:
        """The statuses with which such items are stored."""
        return (
            (*self.statuses, "active")
            if "expired" in self.statuses and "active" not in self.statuses
            else self.statuses
        )

    def matches(self, item: Item) -> bool:
        """Whether status, kind and tier of an item are those that are looked for."""
        is_meant = self.kind in (None, item.kind) and self.tier in (None, item.tier)
        is_shown = self.has_held_back or not item.is_held_back
        return is_meant and is_shown and item.status_at(self.now) in self.statuses

    def holds(self, item: Item) -> bool:
        """Whether an item has the text, too."""
        return self.matches(item) and self.text.casefold() in item.statement.casefold()


def show_item(item: Item, now: datetime) -> Item:
    """An item as it is shown: one that is active past its end as "expired", one that is erased without its places."""
    return replace(item, status=item.status_at(now), evidence=() if item.status == "erased" else item.evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """Items, and the one that the next page goes on after; None where there is none."""

    items: tuple[Item, ...]
    next_id: ItemId | None = None


async def list_matching_items(
    store: ItemStore,
    user_id: UserId,
    agent_id: AgentId | None,
    query: ItemQuery,
    *,
    after: ItemId | None,
    limit_count: int,
) -> ItemPage:
    """Items in the order in which memory first had them; active ones with a text best first, and on one page only.

    A page that is not full may have a next one: no more than `MOST_READ` items are looked through at once.

    Raises:
        NotFoundError: no item has the id `after`.
    """
    if query.text.strip() and tuple(query.statuses) == _ACTIVE:
        most_count = MOST_READ if query.kind or query.tier else limit_count
        hits = await search_items(store, query.text, user_id, agent_id, now=query.now, limit_count=most_count)
        return ItemPage(items=tuple([hit.item for hit in hits if query.matches(hit.item)][:limit_count]))
    items: list[Item] = []
    read_count, page_count = 0, limit_count + 1 if query.is_wide else _PAGE_COUNT
    while read_count < MOST_READ:
        page = await store.list_items(
            user_id, agent_id, statuses=query.stored_statuses, after=after, limit_count=page_count
        )
        read_count += len(page)
        for item in filter(query.holds, page):
            if len(items) == limit_count:
                return ItemPage(items=tuple(items), next_id=items[-1].id)
            items.append(show_item(item, query.now))
        if len(page) < page_count:
            return ItemPage(items=tuple(items))
        after, page_count = page[-1].id, _PAGE_COUNT
    return ItemPage(items=tuple(items), next_id=after)


async def list_whole(
    store: ItemStore,
    user_id: UserId,
    agent_id: AgentId | None,
    query: ItemQuery,
    *,
    after: ItemId | None,
    limit_count: int,
) -> list[Item]:
    """As many items as `limit_count`, or all that there are, however many are looked through for them.

    Raises:
        NotFoundError: no item has the id `after`.
    """
    found: list[Item] = []
    while True:
        wanted_count = limit_count - len(found)
        page = await list_matching_items(store, user_id, agent_id, query, after=after, limit_count=wanted_count)
        found += page.items
        after = page.next_id
        if after is None or len(found) == limit_count:
            return found


async def list_agent_items(
    store: ItemStore, user_id: UserId, agent_id: AgentId, statuses: Sequence[ItemStatus]
) -> list[Item]:
    """All items of one agent's own tier. O(items that the agent is given)."""
    found: list[Item] = []
    after: ItemId | None = None
    while page := await store.list_items(user_id, agent_id, statuses=statuses, after=after, limit_count=_PAGE_COUNT):
        found += [item for item in page if item.tier == "agent" and is_visible(item, agent_id)]
        after = page[-1].id
    return found
