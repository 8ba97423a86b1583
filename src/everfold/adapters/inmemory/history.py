"""History in memory: search over messages, and the rare operations on what is stored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from everfold.adapters.inmemory.access import forget_answers
from everfold.adapters.inmemory.compaction import drop_drafts
from everfold.adapters.inmemory.memory_tables import MemoryTables, write_change
from everfold.adapters.inmemory.sessions import give_record
from everfold.adapters.inmemory.tables import StoredMessage, Tables, TablesHolder
from everfold.core.forgetting.messages import Erasure
from everfold.core.log.appending import NOT_INDEXED
from everfold.core.log.retracting import Retraction
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import NO_END, SessionRecord, find_holder, find_stretches
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchCandidate, SearchQuery, SearchText, order_hits, rank_documents
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Hit, StoredContent


class InMemoryHistory(TablesHolder):
    """The history store's methods; see `everfold.ports.stores.HistoryStore`."""

    async def search(
        self,
        query: SearchQuery,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        session_id: SessionId | None,
        limit_count: int,
        only: SearchFilter = ANY_MESSAGE,
    ) -> list[Hit]:
        """The best messages of one user, best first. O(all words of the user)."""
        tables = self._tables
        is_asked = _choose_scope(tables, agent_id, session_id, only)
        rows = _list_indexed(tables, user_id)
        ranked = rank_documents(query, [text for _, text in rows])
        asked = {rows[at][0].key: (rows[at][0], score) for at, score in ranked if is_asked(rows[at][0])}
        hits = order_hits(
            query,
            [
                SearchCandidate(key=key, score=score, speaker=row.speaker, role=row.role, tokens=row.note.raw_tokens)
                for key, (row, score) in asked.items()
            ],
        )
        return [
            Hit(session_id=asked[hit.key][0].session_id, seq=asked[hit.key][0].note.seq, score=hit.score)
            for hit in hits[: max(limit_count, 0)]
        ]

    async def read_contents(self, session_id: SessionId, first_seq: int, last_seq: int) -> list[StoredContent]:
        """The stored bytes of a range, for verification; a tombstone has none and no hash."""
        return [
            StoredContent(
                seq=row.note.seq,
                content=row.content,
                content_hash=row.note.content_hash,
                is_erased=row.is_erased,
                is_retracted=row.note.kind == "retracted",
            )
            for row in self._tables.walk(session_id, first_seq, last_seq)
        ]

    async def find_hashes(self, session_id: SessionId, hashes: Sequence[str]) -> dict[str, int]:
        """The newest message of a session's log with each of these content hashes; unknown ones are left out."""
        wanted = frozenset(hashes)
        rows = [row for row in self._tables.walk(session_id, 1, NO_END) if row.note.kind != "retracted"]
        return {row.note.content_hash: row.note.seq for row in rows if row.note.content_hash in wanted}

    async def list_sharing(self, session_id: SessionId, seq: int) -> list[SessionRecord]:
        """Every session whose log holds this message of a session's log, in the order of their creation."""
        return [give_record(record) for record in _list_sharing(self._tables, session_id, seq)]

    async def erase_message(self, erasure: Erasure, *, erased_at: datetime) -> None:
        """Remove a message's content, its extract lines and its search row, and replace what was made from it."""
        tables = self._tables
        row = _get_message(tables, erasure.session_id, erasure.seq)
        _check_sharing(tables, erasure)
        rewritten = [
            replace(_get_message(tables, near.session_id, near.seq), search=near.text) for near in erasure.search_rows
        ]
        compactions = [
            replace(tables.get_compaction(record.compaction_id), certificate=record.certificate)
            for record in erasure.records
        ]
        tables.memory = _change_memory(tables, erasure)
        for neighbour in rewritten:
            if not neighbour.is_erased:
                tables.put(neighbour)
        if not row.is_erased:
            tables.put(bury(row, erased_at))
        tables.compactions.update({compaction.id: compaction for compaction in compactions})
        tables.layouts.update({record.compaction_id: record.layout for record in erasure.records})
        tables.digests.update({digest.id: digest for digest in erasure.digests})
        tables.states.update(erasure.states)
        for session_id, _ in erasure.states:
            drop_drafts(tables, session_id)
        forget_answers(tables)

    async def retract_messages(self, retraction: Retraction) -> None:
        """Take back the newest messages: no search finds them, they count for nothing, and their content stays."""
        tables, session_id = self._tables, retraction.session_id
        tables.check_revision(session_id, retraction.state.revision - 1)
        for record in _list_sharing(tables, session_id, retraction.last_seq):
            if record.id != session_id:
                raise ConflictError(f"session {record.id} shares message {retraction.last_seq}", session=session_id)
        held = tables.memory
        for change in retraction.memory:
            held = write_change(held, change, owner_id=None)
        tables.memory = held
        for row in list(tables.walk(session_id, retraction.first_seq, retraction.last_seq)):
            tables.put(_retract(row, retraction))
        tables.states[session_id] = retraction.state
        drop_drafts(tables, session_id)

    async def check_integrity(self) -> list[str]:
        """Always empty: there are no files."""
        self._tables  # noqa: B018  # a closed store says so
        return []


def _change_memory(tables: Tables, erasure: Erasure) -> MemoryTables:
    held = tables.memory
    for change in erasure.memory:
        owner_id = None if change.session is None else tables.get_session(change.session.session_id).user_id
        held = write_change(held, change, owner_id=owner_id)
    return held


def _get_message(tables: Tables, session_id: SessionId, seq: int) -> StoredMessage:
    row = next(tables.walk(session_id, seq, seq), None)
    if row is None:
        raise NotFoundError(
            f"session {session_id} has no message {seq}; its log ends at {tables.states[session_id].last_seq}",
            session=session_id,
            seq=seq,
        )
    return row


def _list_sharing(tables: Tables, session_id: SessionId, seq: int) -> list[SessionRecord]:
    holder = find_holder(tables.get_session(session_id).lineage, seq)
    return [record for record in tables.sessions.values() if find_holder(record.lineage, seq) == holder]


def _check_sharing(tables: Tables, erasure: Erasure) -> None:
    for session_id, state in erasure.states:
        tables.check_revision(session_id, state.revision - 1)
    if {record.id for record in _list_sharing(tables, erasure.session_id, erasure.seq)} != dict(erasure.states).keys():
        raise ConflictError(
            f"session {erasure.session_id}: the sessions that hold message {erasure.seq} are others than when its erase "
            "was planned; plan it again",
            session=erasure.session_id,
            seq=erasure.seq,
        )


def _retract(row: StoredMessage, retraction: Retraction) -> StoredMessage:
    note = replace(
        row.note,
        kind="retracted",
        tokens=0,
        sum_tokens=retraction.sum_tokens,
        turn_seq=retraction.turn_seq,
        turns_count=retraction.turns_count,
        is_boundary=retraction.is_boundary,
        keep=False,
        calls=(),
        lines=(),
    )
    return replace(row, note=note, cuts=(), search=None if row.is_erased else NOT_INDEXED)


def bury(row: StoredMessage, erased_at: datetime) -> StoredMessage:
    """What is left of an erased message: its number, its time, its place among the blocks and its sizes."""
    note = replace(row.note, name=None, content_hash="", calls=(), lines=())
    return replace(row, note=note, content=b"", cuts=(), speaker="", search=None, erased_at=erased_at)


def _list_indexed(tables: Tables, user_id: UserId) -> list[tuple[StoredMessage, SearchText]]:
    """Every search row of a user, in the order of their keys."""
    rows = [
        (row, row.search)
        for record in tables.sessions.values()
        if record.user_id == user_id
        for row in tables.messages[record.id].values()
        if row.search is not None
    ]
    return sorted(rows, key=lambda each: each[0].key)


def _choose_scope(
    tables: Tables, agent_id: AgentId | None, session_id: SessionId | None, only: SearchFilter
) -> Callable[[StoredMessage], bool]:
    """Whether a row lies within what a search asks for."""
    stretches = None
    if session_id is not None:
        lineage = tables.get_session(session_id).lineage
        stretches = find_stretches(lineage, 1, tables.states[session_id].last_seq)

    def is_asked(row: StoredMessage) -> bool:
        if not only.admits(row.role, row.note.said_at):
            return False
        if agent_id is not None and tables.sessions[row.session_id].agent_id != agent_id:
            return False
        return stretches is None or any(
            part.session_id == row.session_id and part.first_seq <= row.note.seq <= part.last_seq for part in stretches
        )

    return is_asked
