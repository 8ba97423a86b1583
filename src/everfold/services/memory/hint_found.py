"""Hint found: what memory has from a range of messages, for the model that writes the digest of them.

It is what every pass has found by then, the model's too, and what became of it: what was corrected, forgotten or held back
since is not hinted.
"""

from collections.abc import Sequence
from datetime import datetime

from everfold.core.extraction.hints import hint_items
from everfold.core.log.sessions import SessionRecord, find_holder
from everfold.core.memory.items import Item
from everfold.core.merging.decisions import MACHINES
from everfold.core.merging.releasing import list_open_threats
from everfold.core.primitives.ids import SessionId
from everfold.ports.memory import ItemStore


async def hint_found(store: ItemStore, record: SessionRecord, seqs: Sequence[int], *, now: datetime) -> str:
    """What memory holds now of these messages of a session, a line each; empty where it holds nothing.

    One query for each session that stores some of them.
    """
    holders = {seq: find_holder(record.lineage, seq) for seq in seqs}
    items: dict[str, Item] = {}
    for holder in dict.fromkeys(holders.values()):
        items |= {item.id: item for item in await store.find_quoting(holder, None)}
    told = ((item, _find_seq(item, holders)) for item in items.values() if _may_be_told(item, record, now))
    return hint_items([(seq, item) for item, seq in told if seq is not None])


def _find_seq(item: Item, holders: dict[int, SessionId]) -> int | None:
    """The newest of the messages that says it; None where none of them does."""
    return max((one.seq for one in item.evidence if holders.get(one.seq) == one.session_id), default=None)


def _may_be_told(item: Item, record: SessionRecord, now: datetime) -> bool:
    is_own = item.user_id == record.user_id and (item.tier == "user" or item.agent_id == record.agent_id)
    return (
        is_own
        and item.is_current(now)
        and item.origin not in MACHINES
        and not list_open_threats(item.statement, (), item.released, origin=item.origin)
    )
