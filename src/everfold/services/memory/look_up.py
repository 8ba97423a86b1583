"""Look up: the items that a decision about memory is made over, a few reads each. Nothing in a turn reads all items."""

import asyncio
from collections.abc import Sequence
from typing import Final

from everfold.core.extraction.candidates import clean_candidate
from everfold.core.memory.items import Candidate, Item, ItemId, ItemStatus
from everfold.core.memory.records import MemoryVersion
from everfold.core.merging.decisions import LIKE_COUNT, Known, list_identities
from everfold.core.merging.edits import is_visible, list_links
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.text.searching import plan_query
from everfold.errors import NotFoundError
from everfold.ports.memory import MemoryStore

_PAGE_COUNT: Final = 500
_STEP_COUNT: Final = 2
"""So many statements are looked up between two turns of the event loop."""
_MOST_HOPS: Final = 8
"""How far what superseded an item is followed, from one to the next."""


async def load_known(
    store: MemoryStore, candidates: Sequence[Candidate], user_id: UserId, agent_id: AgentId
) -> tuple[MemoryVersion, Known]:
    """What a decision about candidates is made over, the block and the few items that they are about, and where memory stood.

    O(candidates), whatever memory has.
    """
    statements = dict.fromkeys(clean_candidate(one).statement for one in candidates)
    queries = [plan_query(statement) for statement in statements]
    found = await store.find_related(
        user_id,
        agent_id,
        identities=list_identities(candidates, agent_id) if candidates else (),
        messages=list(dict.fromkeys((one.session_id, one.seq) for it in candidates for one in it.evidence)),
        queries=queries[:_STEP_COUNT],
        like_count=LIKE_COUNT,
        block_count=_PAGE_COUNT,
    )
    like = {item.id: item for item in found.like}
    for begin in range(_STEP_COUNT, len(queries), _STEP_COUNT):
        await asyncio.sleep(0)  # a store in memory never waits
        step = queries[begin : begin + _STEP_COUNT]
        more = await store.find_related(user_id, agent_id, queries=step, like_count=LIKE_COUNT)
        like |= {item.id: item for item in more.like}
    named = [candidate.replaces for candidate in candidates if candidate.replaces is not None]
    for item_id in (*named, *(item.superseded_by for item in found.same if item.superseded_by is not None)):
        like |= {item.id: item for item in await _follow(store, item_id, user_id, agent_id)}
    block = found.block if len(found.block) < _PAGE_COUNT else await list_block_items(store, user_id, agent_id)
    return found.version, Known(block=tuple(block), same=found.same, like=tuple(like.values()), gone=found.gone)


async def _follow(store: MemoryStore, item_id: ItemId, user_id: UserId, agent_id: AgentId) -> list[Item]:
    """An item, what superseded it, and so on; nothing of what is another's or unknown."""
    met: dict[ItemId, Item] = {}
    following: ItemId | None = item_id
    while following is not None and following not in met and len(met) < _MOST_HOPS:
        item = await _find(store, following)
        if item is None or item.user_id != user_id or not is_visible(item, agent_id):
            break
        met[item.id] = item
        following = item.superseded_by
    return list(met.values())


async def _find(store: MemoryStore, item_id: ItemId) -> Item | None:
    try:
        return (await store.list_revisions(item_id))[-1]
    except NotFoundError:
        return None


async def load_linked(store: MemoryStore, revisions: Sequence[Item]) -> list[list[Item]]:
    """Every revision of each item that an item superseded, or that superseded it."""
    last = revisions[-1]
    linked = {item_id for item in revisions for item_id in list_links(item)}
    superseded = await list_all_items(store, last.user_id, None, "superseded")
    linked |= {item.id for item in superseded if item.superseded_by == last.id}
    return await store.list_histories(last.user_id, sorted(linked))


async def list_superseded(store: MemoryStore, items: Sequence[Item]) -> list[Item]:
    """The items that these superseded, but for what an undo put behind them.

    Where one did, it reads every superseded item of the user.
    """
    if not any(item.supersedes for item in items):
        return []
    ids = {item.id for item in items}
    superseded = await list_all_items(store, items[0].user_id, None, "superseded")
    return [item for item in superseded if item.superseded_by in ids and not item.is_undone]


async def list_all_items(
    store: MemoryStore, user_id: UserId, agent_id: AgentId | None, status: ItemStatus, *, is_block: bool = False
) -> list[Item]:
    """All items of one status, in the order in which memory first had them; page by page."""
    items: list[Item] = []
    while True:
        page = await store.list_items(
            user_id,
            agent_id,
            statuses=(status,),
            is_block=is_block,
            after=items[-1].id if items else None,
            limit_count=_PAGE_COUNT,
        )
        items += page
        if len(page) < _PAGE_COUNT:
            return items


async def list_block_items(store: MemoryStore, user_id: UserId, agent_id: AgentId | None) -> list[Item]:
    """All active items of the block that an agent is shown, in the order in which memory first had them."""
    return await list_all_items(store, user_id, agent_id, "active", is_block=True)
