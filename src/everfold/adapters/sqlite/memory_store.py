"""The methods of memory over a SQLite file."""

from collections.abc import Sequence
from datetime import datetime

from everfold.adapters.sqlite import memory, memory_items, memory_records
from everfold.adapters.sqlite.lanes import Lanes
from everfold.core.items import Item, ItemId, ItemStatus
from everfold.core.memory import (
    AuditAction,
    AuditEntry,
    AuditPlace,
    Extraction,
    MemoryChange,
    MemoryHead,
    SessionMemory,
)
from everfold.core.searching import SearchQuery
from everfold.core.sessions import AgentId, SessionId, UserId
from everfold.core.topics import Dream, DreamId, Topic


class SqliteMemory(Lanes):
    """The memory store's methods; see `everfold.ports.memory`."""

    # --- ledger

    async def read_head(self, user_id: UserId) -> MemoryHead:
        """See the port."""
        return await self._read(memory.read_head, user_id)

    async def change_memory(self, change: MemoryChange) -> MemoryHead:
        """See the port. Where it erases, the write-ahead log is emptied too, unless a reader holds on to it."""
        head = await self._write(memory.change_memory, change)
        if change.is_forgetting:
            await self._writer.call(self._writer.database.empty_log)
        return head

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
        """See the port."""
        asked = memory_items.ItemFilter(
            statuses=tuple(statuses),
            is_block=is_block,
            changed_after=changed_after,
            after=after,
            limit_count=limit_count,
        )
        return await self._read_at_once(memory_items.list_items, user_id, agent_id, asked)

    async def list_revisions(self, item_id: ItemId) -> list[Item]:
        """See the port."""
        return await self._read_at_once(memory_items.list_revisions, item_id)

    async def find_same(self, user_id: UserId, identities: Sequence[str]) -> list[Item]:
        """See the port."""
        return await self._read_at_once(memory_items.find_same, user_id, identities)

    async def find_quoting(self, session_id: SessionId, seq: int | None) -> list[Item]:
        """See the port."""
        return await self._read_at_once(memory_items.find_quoting, session_id, seq)

    async def search_items(
        self, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
    ) -> list[tuple[Item, float]]:
        """See the port."""
        return await self._read_at_once(memory_items.search_items, query, user_id, agent_id, limit_count)

    # --- topics

    async def list_topics(self, user_id: UserId, agent_id: AgentId | None) -> list[Topic]:
        """See the port."""
        return await self._read(memory_records.list_topics, user_id, agent_id)

    async def list_topic_revisions(self, user_id: UserId, agent_id: AgentId | None, name: str) -> list[Topic]:
        """See the port."""
        return await self._read_at_once(memory_records.list_topic_revisions, user_id, agent_id, name)

    async def list_topic_histories(self, user_id: UserId) -> list[list[Topic]]:
        """See the port."""
        return await self._read(memory_records.list_topic_histories, user_id)

    async def read_cursor(self, user_id: UserId, agent_id: AgentId) -> int:
        """See the port."""
        return await self._read(memory_records.read_cursor, user_id, agent_id)

    async def list_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, after_ordinal: int, limit_count: int
    ) -> list[Extraction]:
        """See the port."""
        return await self._read(memory_records.list_extractions, user_id, agent_id, after_ordinal, limit_count)

    async def list_latest_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, before_ordinal: int | None, limit_count: int
    ) -> list[Extraction]:
        """See the port."""
        return await self._read(memory_records.list_latest_extractions, user_id, agent_id, before_ordinal, limit_count)

    async def get_dream(self, dream_id: DreamId) -> Dream:
        """See the port."""
        return await self._read_at_once(memory_records.get_dream, dream_id)

    async def list_dreams(self, user_id: UserId, agent_id: AgentId | None, *, limit_count: int) -> list[Dream]:
        """See the port."""
        return await self._read_at_once(memory_records.list_dreams, user_id, agent_id, limit_count)

    async def list_dreamable(self, idle_before: datetime, limit_count: int) -> list[tuple[UserId, AgentId]]:
        """See the port."""
        return await self._read(memory_records.list_dreamable, idle_before, limit_count)

    # --- leases

    async def claim_dream(
        self, user_id: UserId, agent_id: AgentId, *, holder: DreamId, now: datetime, lease_until: datetime
    ) -> bool:
        """See the port."""
        return await self._write(memory_records.claim_dream, user_id, agent_id, holder, now, lease_until)

    async def renew_dream(self, user_id: UserId, agent_id: AgentId, *, holder: DreamId, lease_until: datetime) -> bool:
        """See the port."""
        return await self._write(memory_records.renew_dream, user_id, agent_id, holder, lease_until)

    async def release_dream(self, user_id: UserId, agent_id: AgentId, *, holder: DreamId) -> None:
        """See the port."""
        await self._write(memory_records.release_dream, user_id, agent_id, holder)

    # --- records

    async def read_session_memory(self, session_id: SessionId) -> SessionMemory:
        """See the port."""
        return await self._read(memory_records.read_session_memory, session_id)

    async def write_session_memory(self, memory: SessionMemory, *, expected: SessionMemory) -> None:
        """See the port."""
        await self._write(memory_records.write_session_memory, memory, expected)

    async def record_audit(self, entries: Sequence[AuditEntry]) -> None:
        """See the port."""
        await self._write(memory_records.record_audit, entries)

    async def list_audit(
        self,
        user_id: UserId,
        *,
        action: AuditAction | None = None,
        before: AuditPlace | None = None,
        limit_count: int,
    ) -> list[AuditEntry]:
        """See the port."""
        return await self._read(memory_records.list_audit, user_id, action, before, limit_count)

    async def wipe_memory(self, user_id: UserId, *, expected: MemoryHead, entry: AuditEntry) -> dict[str, int]:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        counts = await self._write(memory.wipe_memory, user_id, expected, entry)
        await self._writer.call(self._writer.database.empty_log)
        return counts
