"""The methods of a store that memory is reached by."""

from collections.abc import Sequence

from everfold.adapters.sql import files, memory, memory_items, memory_records
from everfold.adapters.sql.connections import Connections, notes, reads, reads_at_once, writes
from everfold.core.memory.items import Item, ItemId, ItemStatus
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.primitives.ids import AgentId, UserId


class SqlMemory(Connections):
    """The memory store's methods; see `everfold.ports.memory`."""

    # --- items

    read_memory_version = reads(memory.read_memory_version)

    async def change_memory(self, change: MemoryChange) -> MemoryVersion:
        """See the port. Where it erases, no file keeps the words."""
        version = await self._write(memory.change_memory, change)
        if change.is_forgetting:
            await self._empty_log()
        return version

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
        if asked.takes_one_query:
            return await self._read(memory_items.list_items, user_id, agent_id, asked)
        return await self._read_at_once(memory_items.list_items, user_id, agent_id, asked)

    read_items = reads(memory_items.read_items)
    list_revisions = reads_at_once(memory_items.list_revisions)
    list_histories = reads(memory_items.list_histories)
    find_quoting = reads(memory_items.find_quoting)
    search_items = reads(memory_items.search_items)
    # What is decided over them names the version that was read first: they need not be of one moment.
    find_related = reads(memory_items.find_related)

    # --- topics

    list_topics = reads(memory_records.list_topics)
    list_topic_revisions = reads_at_once(memory_records.list_topic_revisions)
    list_topic_histories = reads(memory_records.list_topic_histories)
    read_cursor = reads(memory_records.read_cursor)
    list_extractions = reads(memory_records.list_extractions)
    list_latest_extractions = reads(memory_records.list_latest_extractions)
    get_dream = reads_at_once(memory_records.get_dream)
    list_dreams = reads(memory_records.list_dreams)
    list_dreamable = reads(memory_records.list_dreamable)

    # --- files

    list_files = reads(files.list_files)
    read_file = reads(files.read_file)
    read_files = reads(files.read_files)

    # --- records

    read_memory_of = reads(memory_records.read_memory_of)
    read_session_memory = reads(memory_records.read_session_memory)
    write_session_memory = writes(memory_records.write_session_memory)
    record_audit = notes(memory_records.record_audit)
    list_audit = reads(memory_records.list_audit)

    async def wipe_memory(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> dict[str, int]:
        """See the port."""
        counts = await self._write(memory.wipe_memory, user_id, expected, entry)
        await self._empty_log()
        return counts
