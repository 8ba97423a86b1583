"""Wipe: whole sessions and users leave the store, each in one transaction, with what memory has of them.

Source: DESIGN section 4, "Wipe"; REQUIREMENTS OF-34, P-OF-16; docs/adr/0023-forgetting.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from everfold.core.forgetting.memory import Gone, read_gone_words
from everfold.core.log.sessions import SessionRecord
from everfold.core.memory.items import ItemId
from everfold.core.memory.records import AuditEntry
from everfold.core.memory.topics import TopicId
from everfold.core.primitives.ids import SessionId, UserId
from everfold.errors import ConflictError
from everfold.ports.forgetting import WipedUser
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.forgetting.erase import list_words_of
from everfold.services.forgetting.forget import plan_memory_erasure
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_all_memory, tell_erased_session, tell_memory

_PAGE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiped:
    """What left the store.

    Attributes:
        counts: How much went from each bucket; each is there, also with 0.
        is_pending: The database's files still hold it, since another reader holds on to them; see
            `Everfold.admin.finish_erasing`.
    """

    counts: Mapping[str, int]
    is_pending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedSession:
    """What an erase of a session came to.

    Attributes:
        sessions: Itself, and the branches that went with it.
        counts: How much went from each bucket: `sessions`, `messages`, `compactions`, `digests`.
        items: Items that nothing says any more; they are erased.
        kept: Items that other sessions say too; they lost its quotes.
        topics: Topics that were made again, or erased where nothing was left of them.
        superseded: Items that stay superseded by something that is erased; `Memory.undo` brings one back.
        is_pending: As in `Wiped`.
    """

    sessions: tuple[SessionId, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    items: tuple[ItemId, ...] = ()
    kept: tuple[ItemId, ...] = ()
    topics: tuple[TopicId, ...] = ()
    superseded: tuple[ItemId, ...] = ()
    is_pending: bool = False


async def wipe_user(
    store: Store, user_id: UserId, *, clock: Clock, stream: Stream, transcripts: bool = False, actor: str = "user"
) -> Wiped:
    """Remove what memory has of a user, and their sessions where that is asked for. Name and bindings stay.

    What was said before is not taken into memory again. A second wipe counts nothing.

    Raises:
        ConflictError: others changed memory first for as long as `everfold.services.telling.tries.Patience` says.
    """

    async def attempt() -> Wiped | None:
        version = await store.read_memory_version(user_id)
        entry = AuditEntry(at=clock.now(), user_id=user_id, agent_id=None, actor=actor, action="wipe")
        try:
            if transcripts:
                wiped = await store.wipe_user(user_id, expected=version, entry=entry)
            else:
                counts = await store.wipe_memory(user_id, expected=version, entry=entry)
                wiped = WipedUser(counts=counts, sessions={})
        except ConflictError:
            return None
        tell_all_memory(stream, user_id)
        for session_id, agent_id in wiped.sessions.items():
            tell_erased_session(stream, session_id, user_id, agent_id)
        return Wiped(counts=wiped.counts, is_pending=await store.is_erasing())

    return await write_in_turn(store, user_id, attempt)


async def erase_session(
    store: Store, record: SessionRecord, *, clock: Clock, stream: Stream, branches: bool = False, actor: str = "user"
) -> ErasedSession:
    """Remove a session: messages, compactions, digests, search rows, and what memory has from nowhere else. O(its log).

    Args:
        store: Where it is.
        record: The session.
        clock: The time.
        stream: Where it is told.
        branches: Also remove the sessions that share messages of it.
        actor: For the audit.

    Raises:
        ConflictError: other sessions share messages of it, and they are not to go too; or others changed memory first
            all the time.
    """
    said = _Words(store=store)

    async def attempt() -> ErasedSession | None:
        version = await store.read_memory_version(record.user_id)
        shared = await store.list_branches(record.id)
        if shared and not branches:
            raise ConflictError(
                f"session {record.id}: {', '.join(shared)} share messages of it; erase them first, or with it "
                "(branches=True)",
                session=record.id,
            )
        sessions = (record.id, *shared)
        gone = Gone(sessions=frozenset(sessions), words=await said.read(sessions))
        erasure = await plan_memory_erasure(
            store,
            version,
            gone,
            user_id=record.user_id,
            agent_id=record.agent_id,
            now=clock.now(),
            actor=actor,
            about=sessions,
        )
        try:
            counts = await store.erase_sessions(sessions, erasure.change)
        except ConflictError:
            return None
        tell_memory(stream, erasure.change)
        for session_id in sessions:
            tell_erased_session(stream, session_id, record.user_id, record.agent_id)
        return ErasedSession(
            sessions=sessions,
            counts=counts,
            items=erasure.forgotten.erased,
            kept=erasure.forgotten.kept,
            topics=tuple(topic.id for topic in erasure.change.topics),
            superseded=erasure.forgotten.superseded,
            is_pending=await store.is_erasing(),
        )

    return await write_in_turn(store, record.user_id, attempt)


@dataclass(slots=True, kw_only=True)
class _Words:
    """The words of everything that sessions store themselves; each message is read once, however often they are asked."""

    store: Store
    words: set[str] = field(default_factory=set)
    read_seqs: dict[SessionId, int] = field(default_factory=dict)

    async def read(self, sessions: tuple[SessionId, ...]) -> frozenset[str]:
        for session_id in sessions:
            if session_id not in self.read_seqs:
                self.read_seqs[session_id] = (await self.store.get_session(session_id)).branch_seq
            await self._read_new(session_id, (await self.store.read_state(session_id)).last_seq)
        return frozenset(self.words)

    async def _read_new(self, session_id: SessionId, last_seq: int) -> None:
        for first_seq in range(self.read_seqs[session_id] + 1, last_seq + 1, _PAGE):
            seqs = range(first_seq, min(first_seq + _PAGE - 1, last_seq) + 1)
            for message in await self.store.read_messages(session_id, seqs, retracted=True):
                self.words |= read_gone_words(list_words_of(message))
            self.read_seqs[session_id] = seqs[-1]
