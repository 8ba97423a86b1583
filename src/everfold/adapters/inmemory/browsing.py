"""Browsing in memory: sessions, compactions and messages as a person leafs through them."""

from collections.abc import Sequence
from itertools import dropwhile, islice

from everfold.adapters.inmemory.sessions import give_record
from everfold.adapters.inmemory.tables import TablesHolder
from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.compaction.record import Compaction
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.ports.browsing import SessionFigures


class InMemoryBrowsing(TablesHolder):
    """The browsing store's methods; see `everfold.ports.browsing.BrowsingStore`."""

    async def list_newest_sessions(
        self, *, user_id: UserId | None, agent_id: AgentId | None, before: SessionId | None, limit_count: int
    ) -> list[SessionRecord]:
        """Sessions against the order of their creation, those before the given one."""
        tables = self._tables
        records = reversed(tables.sessions.values())
        if before is not None:
            tables.get_session(before)
            records = islice(dropwhile(lambda record: record.id != before, records), 1, None)
        matching = (
            give_record(record)
            for record in records
            if user_id in (None, record.user_id) and agent_id in (None, record.agent_id)
        )
        return list(islice(matching, limit_count))

    async def read_figures(self, session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
        """How far sessions are; unknown ones are left out."""
        tables = self._tables
        figures: dict[SessionId, SessionFigures] = {}
        for id_ in session_ids:
            if (state := tables.states.get(id_)) is not None:
                layout = tables.layouts.get(CompactionId(state.compaction_id), EMPTY_LAYOUT)
                figures[id_] = SessionFigures(
                    last_seq=state.last_seq, watermark=layout.watermark, epoch=state.epoch, active_at=state.active_at
                )
        return figures

    async def list_refreshes(self, session_id: SessionId) -> list[int]:
        """The context refreshes of a session's log that are not erased, rising."""
        rows = self._tables.walk(session_id, 1, NO_END)
        return [
            row.note.seq
            for row in rows
            if row.source == "refresh" and not row.is_erased and row.note.kind != "retracted"
        ]

    async def list_erased(self, session_id: SessionId) -> list[int]:
        """The erased messages of a session's log, rising."""
        return [row.note.seq for row in self._tables.walk(session_id, 1, NO_END) if row.is_erased]

    async def find_revision(self, compaction_id: CompactionId) -> Compaction | None:
        """The newest compaction that replaced the digest of this one."""
        revisions = (
            compaction
            for compaction in reversed(self._tables.compactions.values())
            if compaction.revises == compaction_id
        )
        return next(revisions, None)
