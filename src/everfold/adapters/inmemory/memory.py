"""Items, topics and memory's own records in memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from everfold.adapters.inmemory.access import forget_answers
from everfold.adapters.inmemory.item_lookup import ItemLookup
from everfold.adapters.inmemory.memory_tables import MemoryTables, drop, forget_snapshots, is_for, write_change
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.adapters.inmemory.vectors import count_vectors
from everfold.core.log.sessions import NO_END
from everfold.core.memory.items import Item, ItemId, ItemStatus
from everfold.core.memory.records import (
    AuditAction,
    AuditEntry,
    AuditPlace,
    Extraction,
    MemoryChange,
    MemoryVersion,
    SessionMemory,
)
from everfold.core.memory.topics import Dream, DreamId, Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery
from everfold.errors import ConflictError, NotFoundError


class InMemoryMemory(TablesHolder):
    """The memory store's methods; see `everfold.ports.memory`."""

    @property
    def _lookup(self) -> ItemLookup:
        return self._tables.lookup.at(self._tables.memory)

    async def read_memory_version(self, user_id: UserId) -> MemoryVersion:
        """Where the user's memory stands."""
        return self._tables.memory.heads.get(user_id, MemoryVersion())

    async def change_memory(self, change: MemoryChange) -> MemoryVersion:
        """Write everything of a change and give the new head."""
        tables = self._tables
        owner_id = None if change.session is None else tables.get_session(change.session.session_id).user_id
        before, tables.memory = tables.memory, write_change(tables.memory, change, owner_id=owner_id)
        tables.lookup.follow(tables.memory, before, change.items)
        if change.is_forgetting:
            forget_answers(tables)
        return change.next_version

    async def list_items(
        self,
        user_id: UserId,
        agent_id: AgentId | None,
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        is_block: bool = False,
        changed_after: int | None = None,
        after: ItemId | None = None,
        limit_count: int,
    ) -> list[Item]:
        """Items in the order in which memory first had them, after the given one."""
        held = self._tables.memory
        listed: Iterable[Item] = _newest_after(held, after)
        if changed_after is not None and after is None:
            listed = self._lookup.list_changed(user_id, changed_after)
        elif is_block and after is None and tuple(statuses) == ("active",):
            listed = self._lookup.list_block(user_id)
        found = (
            item
            for item in listed
            if item.user_id == user_id
            and is_for(agent_id, tier=item.tier, owner_id=item.agent_id)
            and item.status in statuses
            and not (is_block and item.shelf != "block")
            and (changed_after is None or held.written_at[item.id] > changed_after)
        )
        return list(islice(found, limit_count))

    async def list_revisions(self, item_id: ItemId) -> list[Item]:
        """Every revision of an item, oldest first."""
        revisions = self._tables.memory.items.get(item_id)
        if revisions is None:
            raise _unknown_item(item_id)
        return list(revisions)

    async def find_same(self, user_id: UserId, identities: Sequence[str]) -> list[Item]:
        """The items with these identities, whatever their status."""
        return self._lookup.list_same(user_id, identities)

    async def find_quoting(self, session_id: SessionId, seq: int | None) -> list[Item]:
        """The items that have this message as evidence in any revision, whatever their status."""
        return [
            revisions[-1]
            for revisions in self._tables.memory.items.values()
            if any(
                one.session_id == session_id and seq in (None, one.seq) for item in revisions for one in item.evidence
            )
        ]

    async def search_items(
        self, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
    ) -> list[tuple[Item, float]]:
        """Active items whose statement or quote matches, best first, with a positive score."""
        return self._lookup.search(query, user_id, agent_id)[:limit_count]

    # --- topics

    async def list_topics(self, user_id: UserId, agent_id: AgentId | None) -> list[Topic]:
        """Active topics by tier (user first) and name, expired ones included."""
        found = [
            revisions[-1]
            for revisions in self._tables.memory.topics.values()
            if revisions[-1].user_id == user_id
            and revisions[-1].status == "active"
            and is_for(agent_id, tier=revisions[-1].tier, owner_id=revisions[-1].agent_id)
        ]
        return sorted(found, key=lambda topic: (topic.tier != "user", topic.name, topic.agent_id))

    async def list_topic_revisions(self, user_id: UserId, agent_id: AgentId | None, name: str) -> list[Topic]:
        """Every revision of the topics with this name, oldest first."""
        return [
            topic
            for revisions in self._tables.memory.topics.values()
            for topic in revisions
            if revisions[-1].user_id == user_id
            and revisions[-1].name == name
            and is_for(agent_id, tier=revisions[-1].tier, owner_id=revisions[-1].agent_id)
        ]

    async def list_topic_histories(self, user_id: UserId) -> list[list[Topic]]:
        """Every topic of a user with all its revisions, whatever its status."""
        topics = self._tables.memory.topics.values()
        return [list(revisions) for revisions in topics if revisions[-1].user_id == user_id]

    async def read_cursor(self, user_id: UserId, agent_id: AgentId) -> int:
        """The ordinal of the last extraction that a dream has consumed."""
        return self._tables.memory.cursors.get((user_id, agent_id), 0)

    async def list_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, after_ordinal: int, limit_count: int
    ) -> list[Extraction]:
        """Extractions by ordinal."""
        tables = self._tables
        found = (
            replace(one, is_session_gone=one.session_id not in tables.sessions)
            for one in tables.memory.extractions.values()
            if one.user_id == user_id and agent_id in (None, one.agent_id) and one.ordinal > after_ordinal
        )
        return list(islice(found, limit_count))

    async def list_latest_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, before_ordinal: int | None, limit_count: int
    ) -> list[Extraction]:
        """Extractions from the newest on."""
        listed = await self.list_extractions(user_id, agent_id, after_ordinal=0, limit_count=NO_END)
        below = (one for one in reversed(listed) if before_ordinal is None or one.ordinal < before_ordinal)
        return list(islice(below, limit_count))

    async def get_dream(self, dream_id: DreamId) -> Dream:
        """The dream with this id."""
        dream = self._tables.memory.dreams.get(dream_id)
        if dream is None:
            raise NotFoundError(f"there is no dream {dream_id!r}; use the id of one that was listed", dream=dream_id)
        return dream

    async def list_dreams(self, user_id: UserId, agent_id: AgentId | None, *, limit_count: int) -> list[Dream]:
        """Dreams, newest first."""
        found = (
            dream
            for dream in reversed(self._tables.memory.dreams.values())
            if dream.user_id == user_id and agent_id in (None, dream.agent_id)
        )
        return list(islice(found, limit_count))

    async def list_dreamable(self, idle_before: datetime, limit_count: int) -> list[tuple[UserId, AgentId]]:
        """Users and agents with something to dream of, that have been idle; those active last come first."""
        tables, held = self._tables, self._tables.memory
        waiting = {
            (one.user_id, one.agent_id)
            for one in held.extractions.values()
            if one.ordinal > held.cursors.get((one.user_id, one.agent_id), 0)
        }
        waiting -= {(dream.user_id, dream.agent_id) for dream in held.dreams.values() if dream.state == "proposed"}
        active_at: dict[tuple[UserId, AgentId], datetime] = {}
        moments = [((one.user_id, one.agent_id), one.made_at) for one in held.extractions.values()]
        for record in tables.sessions.values():
            rows = tables.messages.get(record.id, {}).values()
            moments += [((record.user_id, record.agent_id), row.note.said_at) for row in rows if row.source == "said"]
        for pair, at in moments:
            active_at[pair] = max(at, active_at.get(pair, at))
        idle = sorted(pair for pair in waiting if active_at[pair] < idle_before)
        return sorted(idle, key=lambda pair: active_at[pair], reverse=True)[:limit_count]

    # --- leases

    async def claim_dream(
        self, user_id: UserId, agent_id: AgentId, *, holder: DreamId, now: datetime, lease_until: datetime
    ) -> bool:
        """Take the lease if it is free or has run out."""
        leases, pair = self._tables.memory.leases, (user_id, agent_id)
        if pair in leases and leases[pair][1] >= now:
            return False
        leases[pair] = (holder, lease_until)
        return True

    async def renew_dream(self, user_id: UserId, agent_id: AgentId, *, holder: DreamId, lease_until: datetime) -> bool:
        """Have one's own lease for longer."""
        if not self._has_lease(user_id, agent_id, holder):
            return False
        self._tables.memory.leases[user_id, agent_id] = (holder, lease_until)
        return True

    async def release_dream(self, user_id: UserId, agent_id: AgentId, *, holder: DreamId) -> None:
        """Give one's own lease back."""
        if self._has_lease(user_id, agent_id, holder):
            del self._tables.memory.leases[user_id, agent_id]

    def _has_lease(self, user_id: UserId, agent_id: AgentId, holder: DreamId) -> bool:
        lease = self._tables.memory.leases.get((user_id, agent_id))
        return lease is not None and lease[0] == holder

    # --- records

    async def read_session_memory(self, session_id: SessionId) -> SessionMemory:
        """What is kept for a session."""
        tables = self._tables
        tables.get_session(session_id)
        return tables.memory.sessions.get(session_id, SessionMemory(session_id=session_id))

    async def write_session_memory(self, memory: SessionMemory, *, expected: SessionMemory) -> None:
        """Replace it, without a change of memory."""
        if await self.read_session_memory(memory.session_id) != expected:
            raise ConflictError(
                f"session {memory.session_id}: what is kept of its memory is another than expected; read it again",
                session=memory.session_id,
            )
        held = self._tables.memory
        user_id = self._tables.get_session(memory.session_id).user_id
        held.check_snapshot(user_id, memory)
        held.sessions[memory.session_id] = memory
        held.owners[memory.session_id] = user_id

    async def record_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Keep entries that belong to no change."""
        self._tables.memory.audit.extend(entries)

    async def list_audit(
        self,
        user_id: UserId,
        *,
        action: AuditAction | None = None,
        before: AuditPlace | None = None,
        limit_count: int,
    ) -> list[AuditEntry]:
        """Entries, newest first, before a place."""
        numbered = [replace(entry, ordinal=at) for at, entry in enumerate(self._tables.memory.audit, 1)]
        newest = sorted(numbered, key=_read_place, reverse=True)
        own = (one for one in newest if one.user_id == user_id and action in (None, one.action))
        return list(islice((one for one in own if before is None or _read_place(one) < before), limit_count))

    async def wipe_memory(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> dict[str, int]:
        """Remove everything that memory has of a user, raise the epoch, and give how much went from each bucket."""
        tables = self._tables
        tables.memory.check_version(user_id, expected)
        counts = count_memory(tables.memory, user_id)
        counts["vectors"] = count_vectors(tables, user_id, ("item", "topic"))
        wipe_tables(tables, user_id, expected=expected, entry=replace(entry, counts=tuple(counts.items())))
        return counts


def _read_place(entry: AuditEntry) -> AuditPlace:
    return AuditPlace(entry.at, entry.ordinal)


def count_memory(held: MemoryTables, user_id: UserId) -> dict[str, int]:
    """How much a wipe takes from each bucket of memory."""
    items = [revisions for revisions in held.items.values() if revisions[-1].user_id == user_id]
    topics = [revisions for revisions in held.topics.values() if revisions[-1].user_id == user_id]
    snapshots = [memory for id_, memory in held.sessions.items() if held.owners[id_] == user_id and memory.has_snapshot]
    return {
        "items": len(items),
        "topics": sum(revisions[-1].tier == "user" for revisions in topics),
        "agent_topics": sum(revisions[-1].tier == "agent" for revisions in topics),
        "extractions": sum(one.user_id == user_id for one in held.extractions.values()),
        "dreams": sum(dream.user_id == user_id for dream in held.dreams.values()),
        "sessions": len(snapshots),
        "revisions": sum(len(revisions) - 1 for revisions in items) + sum(len(revisions) - 1 for revisions in topics),
        "quotes": sum(
            len({(one.session_id, one.seq) for item in revisions for one in item.evidence}) for revisions in items
        ),
        "cursors": sum(key[0] == user_id and read_through > 0 for key, read_through in held.cursors.items()),
    }


def wipe_tables(tables: Tables, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> None:
    """Remove everything that memory has of a user; what was said before is not extracted again."""
    held = tables.memory
    items = [id_ for id_, revisions in held.items.items() if revisions[-1].user_id == user_id]
    drop(held.items, items)
    drop(held.written_at, items)
    tables.lookup.forget()
    drop(held.topics, [id_ for id_, revisions in held.topics.items() if revisions[-1].user_id == user_id])
    drop(held.sessions, [id_ for id_ in held.sessions if held.owners[id_] == user_id])
    drop(held.dreams, [id_ for id_, dream in held.dreams.items() if dream.user_id == user_id])
    drop(held.extractions, [one.id for one in held.extractions.values() if one.user_id == user_id])
    drop(held.cursors, [key for key in held.cursors if key[0] == user_id])
    drop(held.leases, [key for key in held.leases if key[0] == user_id])
    held.heads[user_id] = MemoryVersion(revision=expected.revision + 1, epoch=expected.epoch + 1)
    forget_snapshots(held, user_id)
    held.audit.append(entry)
    forget_answers(tables)
    for record in tables.sessions.values():
        last_seq = max(tables.messages[record.id], default=record.branch_seq)
        if record.user_id == user_id and last_seq:
            held.sessions[record.id] = SessionMemory(
                session_id=record.id,
                extracted_seq=last_seq,
                model_seq=last_seq,
                snapshot_revision=expected.revision + 1,
            )
            held.owners[record.id] = user_id


def _newest(held: MemoryTables) -> Iterator[Item]:
    return (revisions[-1] for revisions in held.items.values())


def _newest_after(held: MemoryTables, after: ItemId | None) -> Iterator[Item]:
    items = _newest(held)
    if after is not None:
        if after not in held.items:
            raise _unknown_item(after)
        next(item for item in items if item.id == after)
    return items


def _unknown_item(item_id: ItemId) -> NotFoundError:
    return NotFoundError(f"there is no item {item_id!r}; use the id of one that was listed", item=item_id)
