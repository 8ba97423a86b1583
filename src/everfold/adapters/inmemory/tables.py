"""What the in-memory store holds, and how it is found along a lineage.

Rows are immutable and are replaced whole. A method of the store reads and checks everything first and changes the
tables last, with nothing in between that could fail or wait: that is what makes it atomic on one event loop.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from everfold.adapters.inmemory.item_lookup import ItemLookup
from everfold.adapters.inmemory.memory_tables import MemoryTables
from everfold.core.access.api_keys import ApiKey, ApiKeyId
from everfold.core.access.repeats import IdempotencyKey, KnownRequest
from everfold.core.access.users import User
from everfold.core.compaction.folding import Digest
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.record import Compaction
from everfold.core.log.appending import Appended
from everfold.core.log.messages import Cut, Message, Note, Role, WireFormat
from everfold.core.log.sessions import SessionRecord, find_stretches
from everfold.core.log.state import SessionState
from everfold.core.log.wire import read_wire
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, decode_json
from everfold.core.primitives.origins import Source
from everfold.core.recall.vectors import Space, Vector, VectorRef
from everfold.core.text.searching import SearchText
from everfold.errors import ConflictError, NotFoundError, StoreUnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message as it is stored: its bytes and what was noted of it.

    Attributes:
        key: Grows with every message of the store, over all sessions.
        note: What planning needs; an erased message keeps its place and its sizes.
        format: The form that the wire message was read in.
        search: The row of the index; None for an erased message.
    """

    key: int
    session_id: SessionId
    note: Note
    source: Source
    format: WireFormat
    role: Role
    speaker: str
    content: bytes
    cuts: tuple[Cut, ...]
    client_id: str | None
    search: SearchText | None
    erased_at: datetime | None = None

    @property
    def is_erased(self) -> bool:
        """Only a tombstone is left."""
        return self.erased_at is not None

    def read(self) -> Message:
        """The message, made afresh from its bytes: changing it changes nothing here."""
        wire = cast("JsonObject", decode_json(self.content))
        note = self.note
        return Message(
            seq=note.seq,
            kind=note.kind,
            origin=note.origin,
            source=self.source,
            said_at=note.said_at,
            wire=wire,
            view=read_wire(wire, wire_format=self.format),
            tokens=note.tokens,
            raw_tokens=note.raw_tokens,
            is_boundary=note.is_boundary,
            content_hash=note.content_hash,
            keep=note.keep,
            cuts=self.cuts,
            lines=note.lines,
        )


def store_message(appended: Appended, *, key: int, session_id: SessionId) -> StoredMessage:
    """The row of a new message."""
    message = appended.message
    return StoredMessage(
        key=key,
        session_id=session_id,
        note=_note(appended),
        source=message.source,
        format=message.view.format,
        role=message.view.role,
        speaker=message.view.name or message.view.role,
        content=appended.content,
        cuts=message.cuts,
        client_id=appended.client_id,
        search=SearchText(own=appended.search_text, before=appended.context_text),
    )


def _note(appended: Appended) -> Note:
    message = appended.message
    return Note(
        seq=message.seq,
        kind=message.kind,
        origin=message.origin,
        name=message.view.name,
        said_at=message.said_at,
        tokens=message.tokens,
        raw_tokens=message.raw_tokens,
        is_boundary=message.is_boundary,
        keep=message.keep,
        content_hash=message.content_hash,
        sum_tokens=appended.sum_tokens,
        turn_seq=appended.turn_seq,
        turns_count=appended.turns_count,
        calls=tuple(call.name for call in message.view.calls),
        lines=message.lines,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVector:
    """A vector of length 1 with whose it is and what it was made of."""

    user_id: UserId
    content_hash: str
    vector: Vector


@dataclass(slots=True, kw_only=True)
class Tables:
    """All rows. A session's own messages are in rising order of their sequence numbers; compactions by id."""

    users: dict[UserId, User] = field(default_factory=dict)
    sessions: dict[SessionId, SessionRecord] = field(default_factory=dict)
    current: dict[tuple[UserId, AgentId, str], SessionId] = field(default_factory=dict)
    states: dict[SessionId, SessionState] = field(default_factory=dict)
    messages: dict[SessionId, dict[int, StoredMessage]] = field(default_factory=dict)
    client_ids: dict[SessionId, dict[str, int]] = field(default_factory=dict)
    compactions: dict[CompactionId, Compaction] = field(default_factory=dict)
    layouts: dict[CompactionId, Layout] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    calls: dict[str, ModelCall] = field(default_factory=dict)
    memory: MemoryTables = field(default_factory=MemoryTables)
    lookup: ItemLookup = field(default_factory=ItemLookup)
    refresh_leases: dict[tuple[UserId, AgentId], tuple[str, datetime]] = field(default_factory=dict)
    erased: set[SessionId] = field(default_factory=set)
    vectors: dict[tuple[Space, VectorRef], StoredVector] = field(default_factory=dict)
    keys: dict[ApiKeyId, ApiKey] = field(default_factory=dict)
    requests: dict[IdempotencyKey, KnownRequest] = field(default_factory=dict)
    bodiless: set[IdempotencyKey] = field(default_factory=set)
    last_key: int = 0

    def get_session(self, session_id: SessionId) -> SessionRecord:
        """The session with this id."""
        record = self.sessions.get(session_id)
        if record is None:
            raise NotFoundError(
                f"session {session_id!r} is unknown; use the id of a session that was created", session=session_id
            )
        return record

    def get_compaction(self, compaction_id: CompactionId) -> Compaction:
        """The compaction with this id."""
        compaction = self.compactions.get(compaction_id)
        if compaction is None:
            raise NotFoundError(
                f"compaction {compaction_id!r} is unknown; use the id of a compaction that was begun",
                compaction=compaction_id,
            )
        return compaction

    def check_revision(self, session_id: SessionId, expected_revision: int) -> SessionState:
        """The session's state, when it is of the expected revision."""
        self.get_session(session_id)
        state = self.states[session_id]
        if state.revision != expected_revision:
            raise ConflictError(
                f"session {session_id}: its state is of revision {state.revision}, expected {expected_revision}; "
                "read the state again and decide again",
                session=session_id,
            )
        return state

    def walk(self, session_id: SessionId, first_seq: int, last_seq: int) -> Iterator[StoredMessage]:
        """The rows of a range of the session's lineage in order, tombstones included. O(range)."""
        for stretch in find_stretches(self.get_session(session_id).lineage, first_seq, last_seq):
            own = self.messages[stretch.session_id]
            newest = next(reversed(own), 0)
            for seq in range(stretch.first_seq, min(stretch.last_seq, newest) + 1):
                if seq in own:
                    yield own[seq]

    def pick(self, session_id: SessionId, seqs: Sequence[int]) -> list[StoredMessage]:
        """The rows of the given messages that are there, tombstones included, in that order."""
        record = self.get_session(session_id)
        if not seqs:
            return []
        stretches = find_stretches(record.lineage, min(seqs), max(seqs))
        found: list[StoredMessage] = []
        for seq in seqs:
            for stretch in stretches:
                if stretch.first_seq <= seq <= stretch.last_seq:
                    row = self.messages[stretch.session_id].get(seq)
                    if row is not None:
                        found.append(row)
        return found

    def put(self, row: StoredMessage) -> None:
        """Write a row, in place of the one before."""
        self.messages[row.session_id][row.note.seq] = row


class TablesHolder:
    """What every part of the store shares: the tables, until it is closed."""

    def __init__(self, tables: Tables) -> None:
        self._held = tables
        self._is_closed = False

    @property
    def _tables(self) -> Tables:
        if self._is_closed:
            raise StoreUnavailableError("this in-memory store is closed and what it held is gone; open another one")
        return self._held
