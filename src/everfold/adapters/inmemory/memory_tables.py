"""What the in-memory store holds of memory, and how a change is written into it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self, TypeVar

from everfold.core.memory.items import Item, ItemId, Tier
from everfold.core.memory.records import (
    AuditEntry,
    Extraction,
    MemoryChange,
    MemoryVersion,
    SessionMemory,
    forget_snapshot,
)
from everfold.core.memory.topics import Dream, DreamId, Topic, TopicId
from everfold.core.portability.documents import PortableMemory
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError

K = TypeVar("K")
V = TypeVar("V")
Row = TypeVar("Row", bound=Item | Topic)


@dataclass(slots=True, kw_only=True)
class MemoryTables:
    """All of memory. Revisions are lists, oldest first; items and topics are in the order in which they came.

    Attributes:
        written_at: The revision of memory that wrote an item's newest one.
        erased_at: The revision of memory that the last erase made.
        owners: Whose session it is that something is kept for.
        leases: Whose dream is on its way, and until when it is believed to be.
    """

    heads: dict[UserId, MemoryVersion] = field(default_factory=dict)
    items: dict[ItemId, list[Item]] = field(default_factory=dict)
    written_at: dict[ItemId, int] = field(default_factory=dict)
    erased_at: dict[UserId, int] = field(default_factory=dict)
    topics: dict[TopicId, list[Topic]] = field(default_factory=dict)
    cursors: dict[tuple[UserId, AgentId], int] = field(default_factory=dict)
    leases: dict[tuple[UserId, AgentId], tuple[DreamId, datetime]] = field(default_factory=dict)
    extractions: dict[str, Extraction] = field(default_factory=dict)
    last_ordinals: dict[UserId, int] = field(default_factory=dict)
    dreams: dict[DreamId, Dream] = field(default_factory=dict)
    sessions: dict[SessionId, SessionMemory] = field(default_factory=dict)
    owners: dict[SessionId, UserId] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)

    def copy(self) -> Self:
        """The same rows in tables of their own."""
        return replace(
            self,
            heads=dict(self.heads),
            items=dict(self.items),
            written_at=dict(self.written_at),
            erased_at=dict(self.erased_at),
            topics=dict(self.topics),
            cursors=dict(self.cursors),
            leases=dict(self.leases),
            extractions=dict(self.extractions),
            last_ordinals=dict(self.last_ordinals),
            dreams=dict(self.dreams),
            sessions=dict(self.sessions),
            owners=dict(self.owners),
            audit=list(self.audit),
        )

    def check_version(self, user_id: UserId, expected: MemoryVersion) -> None:
        """Refuse what was decided over another head."""
        head = self.heads.get(user_id, MemoryVersion())
        if head != expected:
            raise ConflictError(
                f"the memory of user {user_id} is at revision {head.revision} and epoch {head.epoch}, expected "
                f"{expected.revision} and {expected.epoch}; read it and decide again",
                user=user_id,
            )

    def check_snapshot(self, user_id: UserId, memory: SessionMemory) -> None:
        """Refuse a snapshot that was made before the last erase."""
        erased_revision = self.erased_at.get(user_id, 0)
        if memory.snapshot and memory.snapshot_revision < erased_revision:
            raise ConflictError(
                f"session {memory.session_id}: its snapshot shows memory at revision {memory.snapshot_revision}, but "
                f"something was erased at {erased_revision}; make it again",
                session=memory.session_id,
            )


def is_for(agent_id: AgentId | None, *, tier: Tier, owner_id: AgentId) -> bool:
    """Whether what is of this tier and agent is given to an agent, or to the owner (None)."""
    return agent_id is None or tier == "user" or owner_id == agent_id


def write_change(held: MemoryTables, change: MemoryChange, *, owner_id: UserId | None) -> MemoryTables:
    """The tables with a change written into them; the given ones stay as they are.

    Args:
        held: The tables now.
        change: What to write.
        owner_id: Whose the session of the change is; None where it has none.
    """
    held.check_version(change.user_id, change.expected)
    if change.session is not None:
        _check_owner(change.user_id, owner_id, change.session.session_id)
    new = held.copy()
    new.heads[change.user_id] = head = change.next_version
    if change.has_erased:
        forget_snapshots(new, change.user_id)
    for item in change.items:
        _put(new.items, item.id, item, forgets=change.forgets(item))
        new.written_at[item.id] = head.revision
    for topic in change.topics:
        _put(new.topics, topic.id, topic, forgets=change.forgets(topic))
        if change.forgets(topic):
            _forget_dreamt(new, topic.id)
    _write_records(new, change)
    return new


def forget_snapshots(held: MemoryTables, user_id: UserId) -> None:
    """Drop every frozen snapshot of a user; none that was made before this may come back."""
    held.erased_at[user_id] = held.heads[user_id].revision
    for session_id, memory in held.sessions.items():
        if held.owners[session_id] == user_id and memory.has_snapshot:
            held.sessions[session_id] = forget_snapshot(memory)


def _check_owner(user_id: UserId, owner_id: UserId | None, session_id: SessionId) -> None:
    if owner_id != user_id:
        raise ConflictError(
            f"session {session_id} is not of user {user_id}; write a change of its own user's memory",
            session=session_id,
        )


def _put(rows: dict[K, list[Row]], key: K, row: Row, *, forgets: bool) -> None:
    """One more revision; of what is erased the ones before go."""
    before = rows.get(key, [])
    if before and before[-1].user_id != row.user_id:
        raise ConflictError(f"the id {row.id} is taken; give the new one an id of its own", id=row.id)
    if before and before[-1].revision >= row.revision:
        raise ConflictError(
            f"{row.id} is at revision {before[-1].revision} already, the new one is {row.revision}; read it again",
            id=row.id,
        )
    rows[key] = [row] if forgets else [*before, row]


def _forget_dreamt(held: MemoryTables, topic_id: TopicId) -> None:
    for dream in held.dreams.values():
        kept = tuple(topic for topic in dream.topics if topic.id != topic_id)
        held.dreams[dream.id] = replace(dream, topics=kept)


def _write_records(held: MemoryTables, change: MemoryChange) -> None:
    user_id = change.user_id
    if change.extraction is not None:
        _add_extraction(held, change.extraction)
    if change.session is not None:
        held.check_snapshot(user_id, change.session)
        held.sessions[change.session.session_id] = change.session
        held.owners[change.session.session_id] = user_id
    for dream in (*([] if change.dream is None else [change.dream]), *change.scrubbed):
        _refuse_taken(dream.id, user_id, held.dreams.get(dream.id))
        held.dreams[dream.id] = dream
    if change.read_through is not None:
        held.cursors[user_id, change.agent_id] = change.read_through
    held.audit.extend(change.audit)


def _add_extraction(held: MemoryTables, extraction: Extraction) -> None:
    if extraction.id in held.extractions:
        raise ConflictError(f"extraction {extraction.id} is stored already", extraction=extraction.id)
    ordinal = held.last_ordinals.get(extraction.user_id, 0) + 1
    held.last_ordinals[extraction.user_id] = ordinal
    held.extractions[extraction.id] = replace(extraction, ordinal=ordinal)


def _refuse_taken(id_: str, user_id: UserId, found: Dream | None) -> None:
    if found is not None and found.user_id != user_id:
        raise ConflictError(f"the id {id_} is taken; give the new one an id of its own", id=id_)


def import_tables(held: MemoryTables, memory: PortableMemory, entry: AuditEntry) -> MemoryTables:
    """The tables with a whole memory written into them; the given ones stay as they are."""
    user_id = memory.user_id
    owners = {revisions[-1].user_id for revisions in held.items.values()}
    owners |= {revisions[-1].user_id for revisions in held.topics.values()}
    owners |= {dream.user_id for dream in held.dreams.values()} | {one.user_id for one in held.extractions.values()}
    if user_id in owners:
        raise ConflictError(f"user {user_id} has a memory already; wipe it first", user=user_id)
    new = held.copy()
    head = held.heads.get(user_id, MemoryVersion())
    new.heads[user_id] = replace(head, revision=head.revision + 1)
    for item in (one for revisions in memory.items for one in revisions):
        _put(new.items, item.id, item, forgets=False)
        new.written_at[item.id] = head.revision + 1
    for topic in (one for revisions in memory.topics for one in revisions):
        _put(new.topics, topic.id, topic, forgets=False)
    for dream in memory.dreams:
        if dream.id in new.dreams:
            raise ConflictError(f"the id {dream.id} is taken; give the new one an id of its own", id=dream.id)
        new.dreams[dream.id] = dream
    for extraction in memory.extractions:
        if extraction.id in new.extractions:
            raise ConflictError(f"extraction {extraction.id} is stored already", extraction=extraction.id)
        new.extractions[extraction.id] = extraction
    ordinals = [one.ordinal for one in memory.extractions]
    new.last_ordinals[user_id] = max((held.last_ordinals.get(user_id, 0), *ordinals))
    new.cursors.update({(user_id, agent_id): through for agent_id, through in memory.cursors})
    new.audit += [*memory.audit, entry]
    return new


def drop(rows: dict[K, V], keys: Sequence[K]) -> None:
    """Remove rows; keys that have none are passed over."""
    for key in keys:
        rows.pop(key, None)
