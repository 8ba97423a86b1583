"""Whole sessions and users leave memory, and a memory comes back from a document."""

from collections.abc import Sequence
from dataclasses import replace

from everfold.adapters.inmemory.memory import count_memory, wipe_tables
from everfold.adapters.inmemory.memory_tables import drop, import_tables, write_change
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.memory import AuditEntry, MemoryChange, MemoryHead
from everfold.core.portable import PortableMemory
from everfold.core.sessions import SessionId, UserId
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

    async def wipe_user(self, user_id: UserId, *, expected: MemoryHead, entry: AuditEntry) -> dict[str, int]:
        """Remove what memory has of a user, and all of their sessions."""
        tables = self._tables
        tables.memory.check_head(user_id, expected)
        counts = count_memory(tables.memory, user_id)
        session_ids = [record.id for record in tables.sessions.values() if record.user_id == user_id]
        mine = [id_ for id_, call in tables.calls.items() if call.user_id == user_id]
        for id_ in mine:
            tables.calls[id_] = replace(tables.calls[id_], user_id=UserId(""), session_id=None, event_id=None)
        erased = _erase_sessions(tables, session_ids)
        counts |= {"transcripts": erased.pop("sessions"), **erased, "calls": len(mine)}
        wipe_tables(tables, user_id, expected=expected, entry=replace(entry, counts=tuple(counts.items())))
        return counts

    async def import_memory(self, memory: PortableMemory, *, expected: MemoryHead, entry: AuditEntry) -> MemoryHead:
        """Store all of a memory for a user who has none."""
        tables = self._tables
        tables.memory.check_head(memory.user_id, expected)
        tables.memory = import_tables(tables.memory, memory, entry)
        return tables.memory.heads[memory.user_id]

    async def is_erasing(self) -> bool:
        """Never: there are no files."""
        self._tables  # noqa: B018  # a closed store says so
        return False

    async def finish_erasing(self) -> bool:
        """Always done: there are no files."""
        return not await self.is_erasing()


def _list_branches(tables: Tables, session_id: SessionId) -> list[SessionId]:
    tables.get_session(session_id)
    return [
        record.id
        for record in tables.sessions.values()
        if record.id != session_id and any(part.session_id == session_id for part in record.lineage)
    ]


def _erase_sessions(tables: Tables, session_ids: Sequence[SessionId]) -> dict[str, int]:
    gone = frozenset(session_ids)
    events = [event.id for event in tables.events.values() if event.session_id in gone]
    digests = [digest.id for digest in tables.digests.values() if digest.event_id in events]
    counts = {
        "sessions": len(session_ids),
        "messages": sum(len(tables.messages[id_]) for id_ in session_ids),
        "events": len(events),
        "digests": len(digests),
    }
    for id_, call in tables.calls.items():
        if call.session_id in gone or call.event_id in events:
            tables.calls[id_] = replace(call, user_id=UserId(""), session_id=None, event_id=None)
    drop(tables.digests, digests)
    drop(tables.layouts, events)
    drop(tables.events, events)
    drop(tables.current, [owner for owner, id_ in tables.current.items() if id_ in gone])
    drop(tables.messages, session_ids)
    drop(tables.client_ids, session_ids)
    drop(tables.states, session_ids)
    drop(tables.sessions, session_ids)
    drop(tables.memory.sessions, session_ids)
    drop(tables.memory.owners, session_ids)
    tables.erased |= gone
    return counts
