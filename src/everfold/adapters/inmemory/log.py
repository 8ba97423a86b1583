"""Logs in memory: messages and the state of their session."""

from collections.abc import Sequence
from dataclasses import replace

from everfold.adapters.inmemory.tables import StoredMessage, Tables, TablesHolder, store_message
from everfold.core.log.appending import AppendPlan
from everfold.core.log.messages import Message, Note
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError, InvalidInputError, NotFoundError


class InMemoryLog(TablesHolder):
    """The log store's methods; see `everfold.ports.stores.LogStore`."""

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """Write an append plan: its messages with their search rows, settled messages, the new state."""
        tables = self._tables
        state = tables.check_revision(session_id, expected_revision)
        check_next_revision(session_id, plan.state, expected_revision)
        _check_follows(session_id, plan, state)
        _check_client_ids(tables, session_id, plan)
        write_plan(tables, session_id, plan)

    async def read_state(self, session_id: SessionId, *, known: SessionState | None = None) -> SessionState:
        """The session's state; `known` itself where the session is still at its revision."""
        tables = self._tables
        tables.get_session(session_id)
        state = tables.states[session_id]
        return state if known is None or known.revision != state.revision else known

    async def write_state(self, session_id: SessionId, state: SessionState, *, expected_revision: int) -> None:
        """Replace the session's state; `state.revision` is one more than expected."""
        tables = self._tables
        tables.check_revision(session_id, expected_revision)
        check_next_revision(session_id, state, expected_revision)
        tables.states[session_id] = state

    async def read_messages(
        self, session_id: SessionId, seqs: Sequence[int], *, retracted: bool = False
    ) -> list[Message]:
        """Messages by sequence number (rising), in that order. Erased and unknown ones are left out."""
        rows = self._tables.pick(session_id, seqs)
        return [row.read() for row in rows if not row.is_erased and (retracted or row.note.kind != "retracted")]

    async def read_notes(self, session_id: SessionId, seqs: Sequence[int]) -> list[Note]:
        """The same without content; of an erased message too, without its words and its hash."""
        return [mask(row.note) for row in self._tables.pick(session_id, seqs)]

    async def find_client_ids(self, session_id: SessionId, client_ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Sequence number and content hash of the messages that were appended under these client ids.

        An erased message keeps its client id, with an empty hash: a repeat of its append cannot bring it back.
        """
        tables = self._tables
        tables.get_session(session_id)
        found = ((client_id, _find_client_id(tables, session_id, client_id)) for client_id in client_ids)
        return {client_id: (row.note.seq, row.note.content_hash) for client_id, row in found if row is not None}

    async def find_boundary(self, session_id: SessionId, seq: int) -> int | None:
        """The first message at or after `seq` behind which the log may be cut."""
        tables = self._tables
        tables.get_session(session_id)
        rows = tables.walk(session_id, seq, tables.states[session_id].last_seq)
        return next((row.note.seq for row in rows if row.note.is_boundary), None)


def mask(note: Note) -> Note:
    """A note as planning reads it: of a retracted message there is nothing but its place."""
    return replace(note, name=None, content_hash="", calls=(), lines=()) if note.kind == "retracted" else note


def write_plan(tables: Tables, session_id: SessionId, plan: AppendPlan) -> None:
    """Write an append plan that was checked."""
    settled = [_settle(tables, session_id, message, sum_tokens) for message, sum_tokens in plan.settled]
    appended = [
        store_message(one, key=key, session_id=session_id) for key, one in enumerate(plan.appended, tables.last_key + 1)
    ]
    for row in (*settled, *appended):
        tables.put(row)
    tables.client_ids[session_id].update({row.client_id: row.note.seq for row in appended if row.client_id is not None})
    tables.last_key += len(appended)
    tables.states[session_id] = plan.state


def check_next_revision(session_id: SessionId, state: SessionState, expected_revision: int) -> None:
    """Refuse a new state that would break the row of revisions.

    Raises:
        InvalidInputError: the state's revision is not one more than expected.
    """
    if state.revision != expected_revision + 1:
        raise InvalidInputError(
            f"session {session_id}: a new state is of revision {state.revision}, expected {expected_revision + 1}; "
            "make it from the state that was read",
            session=session_id,
        )


def _check_follows(session_id: SessionId, plan: AppendPlan, state: SessionState) -> None:
    seqs = [one.message.seq for one in plan.appended]
    if seqs != list(range(state.last_seq + 1, plan.state.last_seq + 1)):
        raise ConflictError(
            f"session {session_id}: the log ends at {state.last_seq}, and the plan does not continue it without a gap; "
            "plan the append again from the stored state",
            session=session_id,
        )


def _check_client_ids(tables: Tables, session_id: SessionId, plan: AppendPlan) -> None:
    seen: set[str] = set()
    for one in plan.appended:
        client_id = one.client_id
        if client_id is None:
            continue
        if client_id in seen or _find_client_id(tables, session_id, client_id) is not None:
            raise ConflictError(
                f"session {session_id}: a message was appended under the client id {client_id!r} already; look it up "
                "and append only what is missing",
                session=session_id,
                client_id=client_id,
            )
        seen.add(client_id)


def check_own_client_ids(session_id: SessionId, plan: AppendPlan) -> None:
    """Refuse a plan in which a client id stands twice."""
    names = [one.client_id for one in plan.appended if one.client_id is not None]
    if len(set(names)) < len(names):
        raise ConflictError(f"session {session_id}: a client id stands twice in one append", session=session_id)


def _find_client_id(tables: Tables, session_id: SessionId, client_id: str) -> StoredMessage | None:
    """The message of the lineage that was appended under a client id."""
    for segment in tables.sessions[session_id].lineage:
        seq = tables.client_ids[segment.session_id].get(client_id)
        if seq is not None and (segment.last_seq is None or seq <= segment.last_seq):
            return tables.messages[segment.session_id][seq]
    return None


def _settle(tables: Tables, session_id: SessionId, message: Message, sum_tokens: int) -> StoredMessage:
    """The row of a stored message with its final derived columns; nothing else about it changes."""
    row = tables.messages[session_id].get(message.seq)
    if row is None:
        raise NotFoundError(
            f"session {session_id}: cannot settle message {message.seq}, which is not its own; "
            "plan the append again from the stored state",
            session=session_id,
            seq=message.seq,
        )
    note = replace(row.note, tokens=message.tokens, is_boundary=message.is_boundary, sum_tokens=sum_tokens)
    return replace(row, note=note, cuts=message.cuts)
