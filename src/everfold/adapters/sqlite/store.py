"""The SQLite store: the ports over one file.

The functions that do the work are in `sessions`, `users`, `log`, `compaction`, `leases`, `history` and `usage`; see
`connections` for the
threads that they run on, and `memory_store`, `vector_store`, `access_store`, `overview_store` and `browsing_store` for the
methods of memory, vectors, access, overviews and browsing.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Self

from everfold.adapters.sqlite import compaction, forgetting, history, leases, log, sessions, usage, users
from everfold.adapters.sqlite.access_store import SqliteAccess
from everfold.adapters.sqlite.browsing_store import SqliteBrowsing
from everfold.adapters.sqlite.connection import Database, translated
from everfold.adapters.sqlite.connections import notes, reads, reads_placed, writes, writes_placed
from everfold.adapters.sqlite.memory_store import SqliteMemory
from everfold.adapters.sqlite.overview_store import SqliteOverview
from everfold.adapters.sqlite.vector_store import SqliteVectors
from everfold.core.forgetting.messages import Erasure
from everfold.core.log.appending import AppendPlan
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.primitives.ids import SessionId, UserId

LARGE_BATCH_COUNT = 100
"""Messages of one transaction that swell the index's memory: the next smaller append has it shrunk first.

Source: our measurement, `bench/turn.py`: after batches of 500 every append costs a tenth less for it.
"""


class SqliteStore(SqliteMemory, SqliteVectors, SqliteAccess, SqliteOverview, SqliteBrowsing):
    """Everything in one SQLite file. Several processes may open the same file."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._is_index_swollen = False

    @classmethod
    async def open(cls, path: str) -> Self:
        """Open a file, make it when it is missing, and bring it to the current schema."""
        return await asyncio.to_thread(cls, path)

    async def close(self) -> None:
        """Close every connection."""
        if not self._writer.is_closed:
            self._reader.is_closed = self._writer.is_closed = True  # now, so that no call gets in behind the end
            await self._close_seeker()
            await asyncio.to_thread(self._reader.close)
            await asyncio.to_thread(self._writer.close)

    # --- sessions

    create_session = writes(sessions.create_session)
    get_session = reads(sessions.get_session)
    find_current_session = reads(sessions.find_current_session)
    list_sessions = reads(sessions.list_sessions)
    make_current = writes(sessions.make_current)
    change_settings = writes(sessions.change_settings)
    list_used = reads(sessions.list_used)

    # --- users

    add_user = writes(users.add_user)
    find_user = reads(users.find_user)
    find_bound = reads(users.find_bound)
    find_default = reads(users.find_default)
    change_user = writes(users.change_user)
    list_users = reads(users.list_users)
    list_users_named = reads(users.list_users_named)

    # --- log

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """See the port."""
        is_large = len(plan.appended) >= LARGE_BATCH_COUNT
        if self._is_index_swollen and not is_large:
            await self._writer.call(self._writer.database.shrink_index)
        self._is_index_swollen = is_large
        await self._write(log.append, self._writer.places, session_id, plan, expected_revision)

    read_state = reads_placed(log.read_state)
    write_state = writes_placed(log.write_state)
    read_messages = reads_placed(log.read_messages)
    read_notes = reads_placed(log.read_notes)
    find_client_ids = reads_placed(log.find_client_ids)
    find_boundary = reads_placed(log.find_boundary)

    # --- compaction

    begin_compaction = writes_placed(compaction.begin_compaction)
    commit_compaction = writes_placed(compaction.commit_compaction)
    revise_compaction = writes_placed(compaction.revise_compaction)
    end_compaction = writes_placed(compaction.end_compaction)
    reopen_compaction = writes_placed(compaction.reopen_compaction)
    get_compaction = reads(compaction.get_compaction)
    claim_compaction = writes(compaction.claim_compaction)
    renew_lease = writes(compaction.renew_lease)
    keep_draft = writes_placed(compaction.keep_draft)
    release_compaction = writes(compaction.release_compaction)
    list_waiting = reads(compaction.list_waiting)
    list_compactions = reads_placed(compaction.list_compactions)
    read_layout = reads(compaction.read_layout)
    read_digests = reads(compaction.read_digests)

    # --- leases of refreshes

    claim_refresh = writes(leases.claim_refresh)
    renew_refresh = writes(leases.renew_refresh)
    release_refresh = writes(leases.release_refresh)

    # --- history

    search = reads_placed(history.search)
    read_contents = reads_placed(history.read_contents)
    list_sharing = reads_placed(history.list_sharing)

    async def erase_message(self, erasure: Erasure, *, erased_at: datetime) -> None:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        await self._write(history.erase_message, self._writer.places, erasure, erased_at)
        await self._writer.call(self._writer.database.empty_log)

    # --- forgetting

    list_branches = reads(forgetting.list_branches)

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        counts = await self._write(forgetting.erase_sessions, session_ids, change)
        await self._writer.call(self._writer.database.empty_log)
        return counts

    async def wipe_user(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> dict[str, int]:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        counts = await self._write(forgetting.wipe_user, user_id, expected, entry)
        await self._writer.call(self._writer.database.empty_log)
        return counts

    list_stored = reads(forgetting.list_stored)
    import_memory = writes(forgetting.import_memory)

    is_erasing = reads(Database.is_erasing)

    async def finish_erasing(self) -> bool:
        """See the port."""
        if not await self.is_erasing():
            return True
        with translated(self.path):
            return await self._writer.call(self._writer.database.empty_log)

    check_integrity = reads(history.check_integrity)

    # --- usage

    record_call = notes(usage.record_call)
    sum_cost_usd = reads(usage.sum_cost_usd)
    list_calls = reads(usage.list_calls)
