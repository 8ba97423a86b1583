"""Whole sessions and users leave memory, and a memory comes back from a document."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from everfold.adapters.inmemory.access import forget_answers
from everfold.adapters.inmemory.history import bury
from everfold.adapters.inmemory.log import write_plan
from everfold.adapters.inmemory.memory import count_memory, wipe_tables
from everfold.adapters.inmemory.memory_tables import drop, import_tables, write_change
from everfold.adapters.inmemory.sessions import find_place_of, put_current, put_session
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.adapters.inmemory.vectors import count_vectors
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion, SessionMemory
from everfold.core.portability.documents import PortableMemory
from everfold.core.portability.restoring import RestoredSession
from everfold.core.portability.sessions import PortableMessage
from everfold.core.primitives.ids import SessionId, UserId
from everfold.core.recall.vectors import KINDS
from everfold.errors import ConflictError


class InMemoryForgetting(TablesHolder):
    """The forgetting store's methods; see `everfold.ports.forgetting.ForgettingStore`."""

    async def list_branches(self, session_id: SessionId) -> list[SessionId]:
        """Every other session whose log holds messages that this one stores."""
        return _list_branches(self._tables, session_id)

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """Remove sessions of one user with all that is stored of them, and write a change of the user's memory."""
        tables = self._tables
        for session_id in session_ids:
            others = [id_ for id_ in _list_branches(tables, session_id) if id_ not in session_ids]
            if others:
                raise ConflictError(
                    f"session {session_id}: {', '.join(others)} share messages of it by now; decide again",
                    session=session_id,
                )
        tables.memory = write_change(tables.memory, change, owner_id=None)
        return _erase_sessions(tables, session_ids)

    async def wipe_user(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> dict[str, int]:
        """Remove what memory has of a user, and all of their sessions."""
        tables = self._tables
        tables.memory.check_version(user_id, expected)
        counts = count_memory(tables.memory, user_id)
        counts["vectors"] = count_vectors(tables, user_id, KINDS)
        session_ids = [record.id for record in tables.sessions.values() if record.user_id == user_id]
        mine = [id_ for id_, call in tables.calls.items() if call.user_id == user_id]
        for id_ in mine:
            tables.calls[id_] = replace(tables.calls[id_], user_id=UserId(""), session_id=None, compaction_id=None)
        erased = _erase_sessions(tables, session_ids)
        counts |= {"transcripts": erased.pop("sessions"), **erased, "calls": len(mine)}
        wipe_tables(tables, user_id, expected=expected, entry=replace(entry, counts=tuple(counts.items())))
        return counts

    async def list_stored(self, session_id: SessionId, *, after_seq: int, limit_count: int) -> list[PortableMessage]:
        """The messages that a session stores itself, tombstones included."""
        self._tables.get_session(session_id)
        rows = (row for seq, row in self._tables.messages[session_id].items() if seq > after_seq)
        return [
            PortableMessage(
                seq=row.note.seq,
                kind=row.note.kind,
                origin=row.note.origin,
                source=row.source,
                format=row.format,
                said_at=row.note.said_at,
                client_id=row.client_id,
                content=row.content,
                erased_at=row.erased_at,
            )
            for row in islice(rows, limit_count)
        ]

    async def import_memory(
        self,
        memory: PortableMemory,
        *,
        expected: MemoryVersion,
        entry: AuditEntry,
        sessions: Sequence[RestoredSession] = (),
    ) -> MemoryVersion:
        """Store all of a memory for a user who has none, and their sessions."""
        tables = self._tables
        tables.memory.check_version(memory.user_id, expected)
        for session in sessions:
            if session.record.id in tables.sessions or session.record.id in tables.erased:
                raise ConflictError(
                    f"session {session.record.id} exists already, or was erased; give the new one an id of its own",
                    session=session.record.id,
                )
        tables.memory = import_tables(tables.memory, memory, entry)
        for session in sessions:
            _restore_session(tables, session)
        return tables.memory.heads[memory.user_id]

    async def is_erasing(self) -> bool:
        """Never: there are no files."""
        self._tables  # noqa: B018  # a closed store says so
        return False

    async def finish_erasing(self) -> bool:
        """Always done: there are no files."""
        return not await self.is_erasing()


def _restore_session(tables: Tables, session: RestoredSession) -> None:
    record = session.record
    put_session(tables, replace(record, is_current=False), session.state)
    if record.is_current and find_place_of(record) not in tables.current:
        put_current(tables, record)
    for plan in session.plans:
        write_plan(tables, record.id, plan)
    for seq, erased_at in session.tombstones:
        tables.put(bury(tables.messages[record.id][seq], erased_at))
    if session.memory != SessionMemory(session_id=record.id):
        tables.memory.sessions[record.id] = session.memory
        tables.memory.owners[record.id] = record.user_id


def _list_branches(tables: Tables, session_id: SessionId) -> list[SessionId]:
    tables.get_session(session_id)
    return [
        record.id
        for record in tables.sessions.values()
        if record.id != session_id and any(part.session_id == session_id for part in record.lineage)
    ]


def _erase_sessions(tables: Tables, session_ids: Sequence[SessionId]) -> dict[str, int]:
    gone = frozenset(session_ids)
    compactions = [compaction.id for compaction in tables.compactions.values() if compaction.session_id in gone]
    digests = [digest.id for digest in tables.digests.values() if digest.compaction_id in compactions]
    counts = {
        "sessions": len(session_ids),
        "messages": sum(len(tables.messages[id_]) for id_ in session_ids),
        "compactions": len(compactions),
        "digests": len(digests),
    }
    for id_, call in tables.calls.items():
        if call.session_id in gone or call.compaction_id in compactions:
            tables.calls[id_] = replace(call, user_id=UserId(""), session_id=None, compaction_id=None)
    drop(tables.digests, digests)
    drop(tables.layouts, compactions)
    drop(tables.compactions, compactions)
    drop(tables.current, [owner for owner, id_ in tables.current.items() if id_ in gone])
    drop(tables.messages, session_ids)
    drop(tables.client_ids, session_ids)
    drop(tables.states, session_ids)
    drop(tables.sessions, session_ids)
    drop(tables.memory.sessions, session_ids)
    drop(tables.memory.owners, session_ids)
    tables.erased |= gone
    forget_answers(tables)
    return counts
