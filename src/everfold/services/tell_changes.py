"""Tell changes: who follows them hears of new messages and of changed memory, once the store has committed them.

Everything here costs one look at the feed where nobody follows.
"""

from collections.abc import Iterable

from everfold.core.appending import AppendPlan
from everfold.core.happenings import MemoryChanged, MessageErased, MessagesAppended
from everfold.core.memory import MEMORY_PARTS, MemoryChange, MemoryHead, list_touched
from everfold.core.sessions import SessionId, UserId
from everfold.ports.memory import LedgerStore
from everfold.services.feed import Feed


async def change_memory(store: LedgerStore, change: MemoryChange, *, feed: Feed) -> MemoryHead:
    """Write a change of memory, then tell it; the only way in which a service calls the store's own method.

    Raises:
        ConflictError: as the store says; nothing was written or told.
    """
    head = await store.change_memory(change)
    tell_memory(feed, change)
    return head


def tell_memory(feed: Feed, change: MemoryChange) -> None:
    """Tell a change of memory that is stored, for each agent whose own it touches."""
    if not feed.is_followed:
        return
    for agent_id, parts in list_touched(change).items():
        feed.tell_change(MemoryChanged(user_id=change.user_id, agent_id=agent_id, parts=parts))


def tell_all_memory(feed: Feed, user_id: UserId) -> None:
    """Tell that all of a user's memory is another: it was wiped, or brought back."""
    if feed.is_followed:
        feed.tell_change(MemoryChanged(user_id=user_id, agent_id=None, parts=MEMORY_PARTS))


def tell_appended(feed: Feed, session_id: SessionId, plan: AppendPlan) -> None:
    """Tell the messages that an append has stored."""
    if not feed.is_followed or not plan.appended:
        return
    first_seq, last_seq = plan.appended[0].message.seq, plan.appended[-1].message.seq
    feed.tell_change(
        MessagesAppended(
            session_id=session_id, first_seq=first_seq, last_seq=last_seq, messages_count=len(plan.appended)
        )
    )


def tell_filled(feed: Feed, session_id: SessionId, last_seq: int) -> None:
    """Tell that a session was stored whole, from its first message on."""
    if feed.is_followed and last_seq:
        feed.tell_change(
            MessagesAppended(session_id=session_id, first_seq=1, last_seq=last_seq, messages_count=last_seq)
        )


def tell_erased(feed: Feed, session_ids: Iterable[SessionId], seq: int) -> None:
    """Tell that a message was erased from every one of these logs."""
    if feed.is_followed:
        for session_id in session_ids:
            feed.tell_change(MessageErased(session_id=session_id, seq=seq))
