"""Tell changes: publish what is new or gone in logs and memory, once the store has committed it.

Most of it comes with every turn, so the events are made only where a subscriber follows changes.
"""

from collections.abc import Iterable

from everfold.core.memory.records import MEMORY_PARTS, MemoryChange, MemoryVersion, list_touched
from everfold.core.observation.activity import Activity
from everfold.core.observation.events import (
    MemoryChanged,
    MessageErased,
    MessagesAppended,
    SessionChanged,
    SessionErased,
    SessionPart,
)
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.ports.memory import ItemStore
from everfold.services.telling.stream import Stream


async def change_memory(store: ItemStore, change: MemoryChange, *, stream: Stream) -> MemoryVersion:
    """Write a change of memory, then tell it; the only way in which a service calls the store's own method.

    Raises:
        ConflictError: as the store says; nothing was written or told.
    """
    version = await store.change_memory(change)
    tell_memory(stream, change)
    return version


def tell_memory(stream: Stream, change: MemoryChange) -> None:
    """Tell a change of memory that is stored, for each agent whose own it touches."""
    if stream.hears(MemoryChanged):
        for agent_id, parts in list_touched(change).items():
            stream.publish(MemoryChanged(user_id=change.user_id, agent_id=agent_id, parts=parts))


def tell_all_memory(stream: Stream, user_id: UserId) -> None:
    """Tell that all of a user's memory is another: it was wiped, or brought back."""
    if stream.hears(MemoryChanged):
        stream.publish(MemoryChanged(user_id=user_id, agent_id=None, parts=MEMORY_PARTS))


def tell_appended(stream: Stream, session_id: SessionId, *, last_seq: int, count: int) -> None:
    """Count, and tell, that so many messages were stored at the end of a log; nothing for none."""
    if count:
        stream.tally.count(Activity(messages_count=count))
    if count and stream.hears(MessagesAppended):
        first_seq = last_seq - count + 1
        stream.publish(
            MessagesAppended(session_id=session_id, first_seq=first_seq, last_seq=last_seq, messages_count=count)
        )


def tell_erased(stream: Stream, session_ids: Iterable[SessionId], seq: int) -> None:
    """Tell that a message was erased from every one of these logs."""
    if stream.hears(MessageErased):
        for session_id in session_ids:
            stream.publish(MessageErased(session_id=session_id, seq=seq))


def tell_session(stream: Stream, session_id: SessionId, part: SessionPart) -> None:
    """Tell that a part of a session is another."""
    if stream.hears(SessionChanged):
        stream.publish(SessionChanged(session_id=session_id, part=part))


def tell_erased_session(stream: Stream, session_id: SessionId, user_id: UserId, agent_id: AgentId) -> None:
    """Tell that a session was erased, and whose it was."""
    if stream.hears(SessionErased):
        stream.publish(SessionErased(session_id=session_id, user_id=user_id, agent_id=agent_id))
