"""The SQLite store: the ports over one file.

The functions that do the work are in `sessions`, `users`, `log`, `compaction`, `history` and `usage`; see `lanes` for the
threads that they run on, and `memory_store`, `vector_store`, `access_store`, `overview_store` and `browsing_store` for the
methods of memory, vectors, access, overviews and browsing.
"""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import Self

from everfold.adapters.sqlite import compaction, forgetting, history, log, sessions, usage, users
from everfold.adapters.sqlite.access_store import SqliteAccess
from everfold.adapters.sqlite.browsing_store import SqliteBrowsing
from everfold.adapters.sqlite.connection import Database, reading, translated
from everfold.adapters.sqlite.glance import Glance
from everfold.adapters.sqlite.memory_store import SqliteMemory
from everfold.adapters.sqlite.overview_store import SqliteOverview
from everfold.adapters.sqlite.vector_store import SqliteVectors
from everfold.core.access import AccessKey
from everfold.core.appending import AppendPlan
from everfold.core.drafts import Draft
from everfold.core.erasing import Erasure
from everfold.core.events import CompactionEvent, Outcome, WorkState
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout
from everfold.core.memory import AuditEntry, MemoryChange, MemoryHead
from everfold.core.messages import Message, Note
from everfold.core.portable import PortableMemory
from everfold.core.portable_sessions import PortableMessage
from everfold.core.restoring import RestoredSession
from everfold.core.searching import SearchQuery
from everfold.core.sessions import AgentId, EventId, SessionId, SessionRecord, SessionSettings, UserId
from everfold.core.state import SessionState
from everfold.core.usage import ModelCall
from everfold.core.users import Binding, User
from everfold.ports.stores import Hit, StoredContent

LARGE_BATCH_COUNT = 100
"""Messages of one transaction that swell the index's memory: the next smaller append has it shrunk first.

Source: our measurement, `bench/turn.py`: after batches of 500 every append costs a tenth less for it.
"""

BRIEF_COUNT = 4
BRIEF_BYTES = 16_384
"""What of messages is written in a fraction of a millisecond: the parallel results of a step, a few pages of text."""


class SqliteStore(SqliteMemory, SqliteVectors, SqliteAccess, SqliteOverview, SqliteBrowsing):
    """Everything in one SQLite file. Several processes may open the same file."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._is_index_swollen = False
        with ExitStack() as opened:
            opened.callback(self._writer.close)
            opened.callback(self._reader.close)
            self._glance = Glance(path)
            opened.pop_all()

    @classmethod
    async def open(cls, path: str) -> Self:
        """Open a file, make it when it is missing, and bring it to the current schema."""
        return await asyncio.to_thread(cls, path)

    async def close(self) -> None:
        """Close every connection."""
        if not self._writer.is_closed:
            self._glance.close()
            self._reader.is_closed = self._writer.is_closed = True  # now, so that no call gets in behind the end
            await self._close_seeker()
            await asyncio.to_thread(self._reader.close)
            await asyncio.to_thread(self._writer.close)

    # --- sessions

    async def create_session(self, record: SessionRecord, state: SessionState) -> None:
        """See the port."""
        await self._write(sessions.create_session, record, state)

    async def get_session(self, session_id: SessionId) -> SessionRecord:
        """See the port."""
        return await self._read(sessions.get_session, session_id)

    async def find_current_session(self, user_id: UserId, agent_id: AgentId) -> SessionRecord | None:
        """See the port."""
        return await self._read(sessions.find_current_session, user_id, agent_id)

    async def list_sessions(
        self, *, user_id: UserId | None, agent_id: AgentId | None, after: SessionId | None, limit_count: int
    ) -> list[SessionRecord]:
        """See the port."""
        return await self._read(sessions.list_sessions, user_id, agent_id, after, limit_count)

    async def make_current(self, session_id: SessionId) -> SessionRecord:
        """See the port."""
        return await self._write(sessions.make_current, session_id)

    async def change_settings(self, session_id: SessionId, settings: SessionSettings) -> None:
        """See the port."""
        await self._write(sessions.change_settings, session_id, settings)

    async def list_used(self, session_ids: Sequence[SessionId]) -> dict[SessionId, bool]:
        """See the port."""
        return await self._read(sessions.list_used, session_ids)

    # --- users

    async def add_user(self, user: User) -> None:
        """See the port."""
        await self._write(users.add_user, user)

    async def find_user(self, user_id: UserId) -> User | None:
        """See the port."""
        return await self._read(users.find_user, user_id)

    async def find_bound(self, binding: Binding) -> User | None:
        """See the port."""
        return await self._read(users.find_bound, binding)

    async def find_default(self) -> User | None:
        """See the port."""
        return await self._read(users.find_default)

    async def change_user(self, user: User, *, expected: User) -> None:
        """See the port."""
        await self._write(users.change_user, user, expected)

    async def list_users(self, *, after: UserId | None, limit_count: int) -> list[User]:
        """See the port."""
        return await self._read(users.list_users, after, limit_count)

    async def list_users_named(self, text: str, *, after: UserId | None, limit_count: int) -> list[User]:
        """See the port."""
        return await self._read(users.list_users_named, text, after, limit_count)

    # --- log

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """See the port."""
        is_large = len(plan.appended) >= LARGE_BATCH_COUNT
        if self._is_index_swollen and not is_large:
            await self._writer.call(self._writer.database.shrink_index)
        self._is_index_swollen = is_large
        write = self._write_briefly if _is_brief(plan) else self._write
        await write(log.append, self._writer.places, session_id, plan, expected_revision)
        self._glance.remember(session_id, plan.state)

    async def read_state(self, session_id: SessionId) -> SessionState:
        """See the port."""
        if not self._reader.is_closed and (state := self._glance.find_state(session_id)) is not None:
            return state
        return await self._read(log.read_state, self._reader.places, session_id)

    async def find_key(self, secret_hash: str) -> AccessKey | None:
        """See the port. Every request of a server asks."""
        if not self._reader.is_closed:
            with reading(self.path):
                key = self._glance.find_key(secret_hash)
            if key is not None:
                return key
        return await super().find_key(secret_hash)

    async def write_state(self, session_id: SessionId, state: SessionState, *, expected_revision: int) -> None:
        """See the port."""
        await self._write_briefly(log.write_state, self._writer.places, session_id, state, expected_revision)

    async def read_messages(self, session_id: SessionId, seqs: Sequence[int]) -> list[Message]:
        """See the port."""
        return await self._read(log.read_messages, self._reader.places, session_id, seqs)

    async def read_notes(self, session_id: SessionId, seqs: Sequence[int]) -> list[Note]:
        """See the port."""
        return await self._read(log.read_notes, self._reader.places, session_id, seqs)

    async def find_client_ids(self, session_id: SessionId, client_ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """See the port."""
        return await self._read(log.find_client_ids, self._reader.places, session_id, client_ids)

    async def find_boundary(self, session_id: SessionId, seq: int) -> int | None:
        """See the port."""
        return await self._read(log.find_boundary, self._reader.places, session_id, seq)

    # --- compaction

    async def begin_compaction(self, event: CompactionEvent, state: SessionState, *, expected_revision: int) -> None:
        """See the port."""
        await self._write(compaction.begin_compaction, self._writer.places, event, state, expected_revision)

    async def commit_compaction(
        self,
        event_id: EventId,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        committed_at: datetime,
        outcome: Outcome | None,
    ) -> None:
        """See the port."""
        places = self._writer.places
        await self._write(
            compaction.commit_compaction, places, event_id, fold, state, expected_revision, committed_at, outcome
        )

    async def revise_compaction(
        self,
        revised_id: EventId,
        revision: CompactionEvent,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        outcome: Outcome | None,
    ) -> None:
        """See the port."""
        places = self._writer.places
        await self._write(
            compaction.revise_compaction, places, revised_id, revision, fold, state, expected_revision, outcome
        )

    async def end_event(
        self, event_id: EventId, outcome: Outcome, state: SessionState, *, expected_revision: int, ended_at: datetime
    ) -> None:
        """See the port."""
        await self._write(
            compaction.end_event, self._writer.places, event_id, outcome, state, expected_revision, ended_at
        )

    async def reopen_event(self, event_id: EventId, state: SessionState, *, expected_revision: int) -> None:
        """See the port."""
        await self._write(compaction.reopen_event, self._writer.places, event_id, state, expected_revision)

    async def get_event(self, event_id: EventId) -> CompactionEvent:
        """See the port."""
        return await self._read(compaction.get_event, event_id)

    async def claim_event(self, event_id: EventId, *, now: datetime, lease_until: datetime) -> CompactionEvent:
        """See the port."""
        return await self._write(compaction.claim_event, event_id, now, lease_until)

    async def renew_lease(self, event_id: EventId, *, attempt: int, lease_until: datetime) -> None:
        """See the port."""
        await self._write(compaction.renew_lease, event_id, attempt, lease_until)

    async def keep_draft(self, event_id: EventId, draft: Draft, *, attempt: int, extraction: WorkState) -> None:
        """See the port."""
        await self._write(compaction.keep_draft, self._writer.places, event_id, draft, attempt, extraction)

    async def release_event(
        self, event_id: EventId, *, attempt: int, problem: str, not_before: datetime | None
    ) -> None:
        """See the port."""
        await self._write(compaction.release_event, event_id, attempt, problem, not_before)

    async def list_waiting(self, *, now: datetime, begun_after: datetime, limit_count: int) -> list[CompactionEvent]:
        """See the port."""
        return await self._read(compaction.list_waiting, now, begun_after, limit_count)

    async def list_events(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[CompactionEvent]:
        """See the port."""
        return await self._read(compaction.list_events, self._reader.places, session_id, after_ordinal, limit_count)

    async def read_layout(self, event_id: EventId) -> Layout:
        """See the port."""
        return await self._read(compaction.read_layout, event_id)

    async def read_digests(self, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """See the port."""
        return await self._read(compaction.read_digests, digest_ids)

    # --- history

    async def search(
        self,
        query: SearchQuery,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        session_id: SessionId | None,
        limit_count: int,
    ) -> list[Hit]:
        """See the port."""
        return await self._read(history.search, self._reader.places, query, user_id, agent_id, session_id, limit_count)

    async def read_contents(self, session_id: SessionId, first_seq: int, last_seq: int) -> list[StoredContent]:
        """See the port."""
        return await self._read(history.read_contents, self._reader.places, session_id, first_seq, last_seq)

    async def list_sharing(self, session_id: SessionId, seq: int) -> list[SessionRecord]:
        """See the port."""
        return await self._read(history.list_sharing, self._reader.places, session_id, seq)

    async def erase_message(self, erasure: Erasure, *, erased_at: datetime) -> None:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        await self._write(history.erase_message, self._writer.places, erasure, erased_at)
        await self._writer.call(self._writer.database.empty_log)

    # --- forgetting

    async def list_branches(self, session_id: SessionId) -> list[SessionId]:
        """See the port."""
        return await self._read(forgetting.list_branches, session_id)

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        counts = await self._write(forgetting.erase_sessions, session_ids, change)
        await self._writer.call(self._writer.database.empty_log)
        return counts

    async def wipe_user(self, user_id: UserId, *, expected: MemoryHead, entry: AuditEntry) -> dict[str, int]:
        """See the port. The write-ahead log is emptied too, unless a reader holds on to it."""
        counts = await self._write(forgetting.wipe_user, user_id, expected, entry)
        await self._writer.call(self._writer.database.empty_log)
        return counts

    async def list_stored(self, session_id: SessionId, *, after_seq: int, limit_count: int) -> list[PortableMessage]:
        """See the port."""
        return await self._read(forgetting.list_stored, session_id, after_seq, limit_count)

    async def import_memory(
        self,
        memory: PortableMemory,
        *,
        expected: MemoryHead,
        entry: AuditEntry,
        sessions: Sequence[RestoredSession] = (),
    ) -> MemoryHead:
        """See the port."""
        return await self._write(forgetting.import_memory, memory, expected, entry, sessions)

    async def is_erasing(self) -> bool:
        """See the port."""
        return await self._read(Database.is_erasing)

    async def finish_erasing(self) -> bool:
        """See the port."""
        if not await self.is_erasing():
            return True
        with translated(self.path):
            return await self._writer.call(self._writer.database.empty_log)

    async def check_integrity(self) -> list[str]:
        """See the port."""
        return await self._read(history.check_integrity)

    # --- usage

    async def record_call(self, call: ModelCall) -> None:
        """See the port."""
        await self._write(usage.record_call, call)

    async def sum_cost_usd(self, *, since: datetime | None = None, event_id: EventId | None = None) -> float:
        """See the port."""
        return await self._read(usage.sum_cost_usd, since, event_id)

    async def list_calls(
        self,
        *,
        user_id: UserId | None = None,
        session_id: SessionId | None = None,
        event_id: EventId | None = None,
        after: str | None = None,
        limit_count: int,
    ) -> list[ModelCall]:
        """See the port."""
        return await self._read(usage.list_calls, user_id, session_id, event_id, after, limit_count)


def _is_brief(plan: AppendPlan) -> bool:
    """Whether an append writes little."""
    appended = plan.appended
    return len(appended) <= BRIEF_COUNT and sum([len(one.content) for one in appended]) <= BRIEF_BYTES
