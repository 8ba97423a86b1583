"""Messages and session states in SQL."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

from everfold.adapters.sql import sessions
from everfold.adapters.sql.codec import (
    cuts_to_blob,
    make_mark,
    message_row,
    read_message,
    read_note,
    settings_to_text,
    text_to_blob,
)
from everfold.adapters.sql.database import Database, Row, SqlValue
from everfold.adapters.sql.matching import key_words, write_scope
from everfold.adapters.sql.packing import pack_row, unpack_row
from everfold.adapters.sql.places import Place, Places
from everfold.adapters.sql.quoted_lines import LONG_BYTES
from everfold.core.log.appending import AppendPlan
from everfold.core.log.messages import Message, Note
from everfold.core.log.sessions import NO_END, SessionRecord, SessionSettings, find_stretches
from everfold.core.log.state import SessionState, state_from_bytes, state_to_bytes
from everfold.core.memory.records import TurnRecall
from everfold.core.memory.rows import turn_recall_from_bytes, turn_recall_to_bytes
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError, NotFoundError


def create_session(
    database: Database, record: SessionRecord, state: SessionState, *, first: AppendPlan | None = None
) -> None:
    """See `SessionStore.create_session`. Its place is not remembered before it is stored."""
    sessions.create_session(database, record, state)
    if first is not None:
        append(database, Places(database), record.id, first, state.revision)


def append(database: Database, places: Places, session_id: SessionId, plan: AppendPlan, expected_revision: int) -> None:
    """See `LogStore.append`."""
    place = places.place(session_id)
    _refuse_shared_client_ids(database, places, session_id, plan)
    write_state(database, places, session_id, plan.state, expected_revision=expected_revision)
    scope = write_scope(place.user_key, agent_key=place.agent_key, session_key=place.session_key)
    words = [
        (key_words(place.user_key, one.search_text), key_words(place.user_key, one.context_text), scope)
        for one in plan.appended
    ]
    database.words.insert_messages(_write_rows(database, place, plan), words)
    if plan.recall is not None:
        _write_turn_recall(database, place, plan.recall)
    database.run_each("settle_message", [_settle(place, message, sum_tokens) for message, sum_tokens in plan.settled])


def _settle(place: Place, message: Message, sum_tokens: int) -> dict[str, SqlValue]:
    return {
        **place.keys,
        "seq": message.seq,
        "tokens": message.tokens,
        "sum_tokens": sum_tokens,
        "is_boundary": int(message.is_boundary),
        "cuts": cuts_to_blob(message.cuts),
    }


def _write_rows(database: Database, place: Place, plan: AppendPlan) -> list[Row]:
    """The rows of new messages. Where an answer can be lost, the first without a client id carries the mark of this append."""
    marked = next((one for one in plan.appended if one.client_id is None), None) if database.loses_answers else None
    mark = None if marked is None else make_mark()
    by_mark = ("find_client", {**place.keys, "client_id": mark, "last_seq": NO_END})
    database.prove_by(*([] if mark is None else [by_mark]))
    return [
        message_row(place.user_key, place.session_key, one, mark=mark if one is marked else None)
        for one in plan.appended
    ]


def _refuse_shared_client_ids(database: Database, places: Places, session_id: SessionId, plan: AppendPlan) -> None:
    """Of its own messages the unique index tells; those that a session shares are looked up."""
    client_ids = [appended.client_id for appended in plan.appended if appended.client_id is not None]
    if not client_ids or len(places.place(session_id).lineage) == 1:
        return
    for client_id, (seq, _) in find_client_ids(database, places, session_id, client_ids).items():
        raise ConflictError(
            f"session {session_id} has the client id {client_id!r} already, at message {seq}", session=session_id
        )


def _write_turn_recall(database: Database, place: Place, shown: TurnRecall) -> None:
    """Store what a turn shows, unless something of the user's memory that it may quote was erased since."""
    expected = shown.turn.memory_epoch
    if expected is not None and expected != _hold_memory_epoch(database, place.user_key):
        return
    content = pack_row(turn_recall_to_bytes(shown))
    database.run("write_turn_recall", **place.keys, content=content)


def _hold_memory_epoch(database: Database, user_key: int) -> int:
    """The epoch of a user's memory, which no erase raises before this transaction ends.

    What makes an erase wait is a lock on the user's row, so a user without one gets it.
    """
    row = database.row("hold_memory_epoch", user_key=user_key)
    if row is None:
        database.run("begin_memory", user_key=user_key)
        row = database.row("hold_memory_epoch", user_key=user_key)
    return cast("tuple[int]", row)[0]


def read_turn_recall(database: Database, places: Places, session_id: SessionId) -> TurnRecall | None:
    """See `LogStore.read_turn_recall`."""
    row = database.row("read_turn_recall", **places.place(session_id).keys)
    return None if row is None else turn_recall_from_bytes(unpack_row(cast("bytes", row[0])))


def read_state(
    database: Database, places: Places, session_id: SessionId, *, known: SessionState | None = None
) -> SessionState:
    """See `LogStore.read_state`."""
    keys = places.place(session_id).keys
    known_revision = None if known is None else known.revision
    row = database.row("read_state", **keys, known_revision=known_revision)
    if row is None:  # its place is remembered, but it was erased
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    revision, text = cast("tuple[int, bytes | None]", row)
    if type(revision) is not int:
        raise ValueError(f"a state of revision {revision!r}")
    if known is not None and revision == known_revision:
        return known
    return state_from_bytes(cast("bytes", text), revision=revision)


def write_state(
    database: Database, places: Places, session_id: SessionId, state: SessionState, *, expected_revision: int
) -> None:
    """See `LogStore.write_state`."""
    is_first = database.claim(
        "write_state",
        **places.place(session_id).keys,
        revision=state.revision,
        state=state_to_bytes(state),
        expected_revision=expected_revision,
    )
    if not is_first:
        raise ConflictError(
            f"session {session_id} is no longer at revision {expected_revision}: another writer was first; read it again",
            session=session_id,
        )


def change_settings(
    database: Database,
    places: Places,
    session_id: SessionId,
    settings: SessionSettings,
    state: SessionState,
    *,
    expected_revision: int,
) -> None:
    """See `SessionStore.change_settings`."""
    write_state(database, places, session_id, state, expected_revision=expected_revision)
    database.run("update_settings", session_id=session_id, settings=settings_to_text(settings))


def read_messages(
    database: Database, places: Places, session_id: SessionId, seqs: Sequence[int], *, retracted: bool = False
) -> list[Message]:
    """See `LogStore.read_messages`."""
    found = _read_ranges(database, places, "read_messages", session_id, seqs, retracted=int(retracted))
    return [read_message(row) for row in found]


def read_notes(database: Database, places: Places, session_id: SessionId, seqs: Sequence[int]) -> list[Note]:
    """See `LogStore.read_notes`."""
    found = _read_ranges(database, places, "read_notes", session_id, seqs, long_bytes=LONG_BYTES)
    return [read_note(row) for row in found]


def find_erased(database: Database, places: Places, session_id: SessionId, seqs: Sequence[int]) -> list[int]:
    """Which of the messages with these numbers (rising) are erased."""
    return [cast("int", seq) for (seq,) in _read_ranges(database, places, "list_erased", session_id, seqs, retracted=0)]


def _read_ranges(
    database: Database, places: Places, name: str, session_id: SessionId, seqs: Sequence[int], **values: SqlValue
) -> Iterator[Row]:
    """The rows of a query over every run of neighbours among the sequence numbers, in order."""
    ranges = [{**bound, **values} for bound in places.ranges(session_id, seqs)]
    return chain.from_iterable(database.rows_each(name, ranges))


def find_client_ids(
    database: Database, places: Places, session_id: SessionId, client_ids: Sequence[str]
) -> dict[str, tuple[int, str]]:
    """See `LogStore.find_client_ids`."""
    keys = [{"client_id": text_to_blob(client_id)} for client_id in client_ids]
    rows = find_named(database, places, "find_client", session_id, keys)
    return {
        client_ids[index]: (cast("int", seq), content_hash.hex() if isinstance(content_hash, bytes) else "")
        for index, (seq, content_hash) in rows.items()
    }


def find_named(
    database: Database, places: Places, query: str, session_id: SessionId, names: Sequence[Mapping[str, SqlValue]]
) -> dict[int, Row]:
    """The row that a query gives for each of several bindings along the lineage of a session, by their index; one round trip.

    Of a row in several stretches the last one counts.
    """
    stretches = [
        {**places.place(stretch.session_id).keys, "last_seq": stretch.last_seq}
        for stretch in find_stretches(places.place(session_id).lineage, 1, NO_END)
    ]
    asked = [(index, {**stretch, **name}) for stretch in stretches for index, name in enumerate(names)]
    answers = database.rows_each(query, [bound for _, bound in asked])
    return {index: rows[0] for (index, _), rows in zip(asked, answers, strict=True) if rows}


def find_boundary(database: Database, places: Places, session_id: SessionId, seq: int) -> int | None:
    """See `LogStore.find_boundary`."""
    state = read_state(database, places, session_id)
    for stretch in find_stretches(places.place(session_id).lineage, seq, state.last_seq):
        keys = places.place(stretch.session_id).keys
        row = database.row("find_boundary", **keys, first_seq=stretch.first_seq, last_seq=stretch.last_seq)
        if row is not None:
            return cast("int", row[0])
    return None
