"""Whole sessions and users leave a database, and a memory comes back from a document."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from everfold.adapters.sql.access import begin_erase
from everfold.adapters.sql.clients import erase_client_list, put_client_list
from everfold.adapters.sql.codec import (
    find_moment,
    from_micros,
    lineage_from_text,
    read_client_id,
    to_micros,
)
from everfold.adapters.sql.database import NO_USER, Database
from everfold.adapters.sql.files import write_file
from everfold.adapters.sql.following import keep_followed, leave_followed, restore_followed
from everfold.adapters.sql.log import append
from everfold.adapters.sql.memory import change_memory, count_all_vectors, move_version, wipe_memory
from everfold.adapters.sql.memory_items import refuse_taken, write_item
from everfold.adapters.sql.memory_records import (
    find_session_keys,
    insert_extraction,
    keep_session_memory,
    record_audit,
    write_cursor,
    write_dream,
    write_topic,
)
from everfold.adapters.sql.owners import get_user_key
from everfold.adapters.sql.packed_messages import unpack_message
from everfold.adapters.sql.places import Places
from everfold.adapters.sql.sessions import create_session, find_current_session
from everfold.core.log.client_lists import ClientListChange
from everfold.core.log.messages import Kind, WireFormat
from everfold.core.memory.records import AuditEntry, Extraction, MemoryChange, MemoryVersion, SessionMemory
from everfold.core.portability.documents import PortableMemory
from everfold.core.portability.restoring import RestoredSession
from everfold.core.portability.sessions import PortableMessage
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import Origin, Source
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.forgetting import WipedUser

_BUCKETS = ("sessions", "messages", "compactions", "digests")


def list_branches(database: Database, session_id: SessionId) -> list[SessionId]:
    """See `ForgettingStore.list_branches`."""
    row = database.row("find_keys", session_id=session_id)
    if row is None:
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    rows = database.rows("list_session_lineages", user_key=row[1])
    return [
        SessionId(cast("str", id_))
        for _, id_, _, lineage in rows
        if id_ != session_id and any(part.session_id == session_id for part in lineage_from_text(lineage))
    ]


def erase_sessions(database: Database, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
    """See `ForgettingStore.erase_sessions`."""
    for session_id in session_ids:
        _, user_key = find_session_keys(database, session_id)
        database.lock_user(user_key)
        others = [id_ for id_ in list_branches(database, session_id) if id_ not in session_ids]
        if others:
            raise ConflictError(
                f"session {session_id}: {', '.join(others)} share messages of it by now; decide again",
                session=session_id,
            )
    counts = dict.fromkeys(_BUCKETS, 0)
    begin_erase(database)
    change_memory(database, change)
    for session_id in session_ids:
        session_key, user_key = find_session_keys(database, session_id)
        for bucket, count in _erase_session(database, session_id, user_key, session_key).items():
            counts[bucket] += count
    database.words.merge_messages()
    return counts


def _erase_session(database: Database, session_id: SessionId, user_key: int, session_key: int) -> dict[str, int]:
    """Remove the rows of one session, those that point to others first."""
    keys = {"user_key": user_key, "session_key": session_key}
    database.run("bury_session", **keys)
    database.run("erase_session_words", **keys)
    database.run("anonymise_session_calls", session_id=session_id)
    counts = {
        "digests": database.run("erase_session_digests", **keys),
        "compactions": database.run("erase_session_events", **keys),
        "messages": database.run("erase_session_messages", **keys),
    }
    database.run("erase_session_state", **keys)
    database.run("erase_session_memory", **keys)
    database.run("erase_turn_recall", **keys)
    erase_client_list(database, user_key, session_key)
    leave_followed(database, user_key, session_key)
    return {**counts, "sessions": database.run("erase_session_row", **keys)}


def wipe_user(database: Database, user_id: UserId, expected: MemoryVersion, entry: AuditEntry) -> WipedUser:
    """See `ForgettingStore.wipe_user`."""
    user_key = get_user_key(database, user_id)
    database.lock_user(user_key)
    rows = database.rows("list_session_lineages", user_key=user_key)
    kept = dict.fromkeys(("transcripts", *_BUCKETS[1:]), 0)
    snapshots = cast("tuple[int]", database.row("count_snapshots", user_key=user_key))[0]
    vectors = count_all_vectors(database, user_key)
    calls = database.run("anonymise_user_calls", user_id=user_id)
    for session_key, id_, _, _ in rows:
        erased = _erase_session(database, SessionId(cast("str", id_)), user_key, cast("int", session_key))
        for bucket, count in erased.items():
            kept["transcripts" if bucket == "sessions" else bucket] += count
    if rows:
        database.words.merge_messages()
    more = {"sessions": snapshots, "vectors": vectors, **kept, "calls": calls}
    return WipedUser(
        counts=wipe_memory(database, user_id, expected, entry, more=more),
        sessions={SessionId(cast("str", id_)): AgentId(cast("str", agent_id)) for _, id_, agent_id, _ in rows},
    )


def list_stored(
    database: Database, session_id: SessionId, *, after_seq: int, limit_count: int
) -> list[PortableMessage]:
    """See `ForgettingStore.list_stored`."""
    session_key, user_key = find_session_keys(database, session_id)
    rows = database.rows(
        "list_stored_messages", user_key=user_key, session_key=session_key, after_seq=after_seq, limit_count=limit_count
    )
    return [
        PortableMessage(
            seq=cast("int", seq),
            kind=cast("Kind", kind),
            origin=cast("Origin", origin),
            source=cast("Source", source),
            format=cast("WireFormat", wire_format),
            said_at=from_micros(said_at),
            client_id=read_client_id(client_id),
            content=cast("bytes", unpack_message(content) or b""),
            erased_at=find_moment(erased_at),
            is_boundary=bool(is_boundary),
        )
        for seq, kind, origin, source, wire_format, said_at, client_id, content, erased_at, is_boundary in rows
    ]


def import_memory(
    database: Database,
    memory: PortableMemory,
    *,
    expected: MemoryVersion,
    entry: AuditEntry,
    sessions: Sequence[RestoredSession] = (),
) -> MemoryVersion:
    """See `ForgettingStore.import_memory`."""
    user_key = get_user_key(database, memory.user_id)
    database.lock_user(user_key)
    database.lock_user(NO_USER)  # the ids of a document may be brought for two users at once
    for session in sessions:
        _restore_session(database, session)
    if cast("tuple[int]", database.row("count_memory", user_key=user_key))[0]:
        raise ConflictError(f"user {memory.user_id} has a memory already; wipe it first", user=memory.user_id)
    version = MemoryVersion(revision=expected.revision + 1, epoch=expected.epoch)
    move_version(database, user_key, memory.user_id, expected, version)
    for item in (one for revisions in memory.items for one in revisions):
        database.run_all(write_item(database, user_key, item, written_revision=version.revision, forgets=False))
    for topic in (one for revisions in memory.topics for one in revisions):
        write_topic(database, user_key, topic, forgets=False)
    for dream in memory.dreams:
        if database.row("find_dream", dream_id=dream.id) is not None:
            raise refuse_taken(dream.id)
        write_dream(database, user_key, dream)
    _restore_extractions(database, user_key, memory.extractions)
    for agent_id, read_through in memory.cursors:
        write_cursor(database, user_key, agent_id, read_through)
    for file in memory.files:
        write_file(database, user_key, file)
    for followed in memory.followed:
        restore_followed(database, followed)
    record_audit(database, (*memory.audit, entry))
    return version


def _restore_extractions(database: Database, user_key: int, extractions: Sequence[Extraction]) -> None:
    last_ordinal = _read_last_ordinal(database, user_key)
    for extraction in extractions:
        if database.row("find_extraction", extraction_id=extraction.id) is not None:
            raise refuse_taken(extraction.id)
        database.run("put_ordinal", user_key=user_key, ordinal=extraction.ordinal)
        database.run_all(insert_extraction(database, user_key, extraction))
    database.run("raise_ordinal", user_key=user_key, ordinal=last_ordinal)


def _restore_session(database: Database, session: RestoredSession) -> None:
    record = session.record
    if database.row("find_session", session_id=record.id) is not None:
        raise ConflictError(f"session {record.id} exists already; give the new one an id of its own", session=record.id)
    current = find_current_session(database, record.user_id, record.agent_id, record.session_key)
    is_current = record.is_current and current is None
    # It replaces no current session, so none is checked.
    create_session(database, replace(record, is_current=False), session.state)
    if is_current:
        database.run("set_current", session_id=record.id)
    places = Places(database)
    for plan in session.plans:
        append(database, places, record.id, plan, plan.state.revision - 1)
    session_key, user_key = find_session_keys(database, record.id)
    for seq, erased_at in session.tombstones:
        row = database.row("find_message_id", user_key=user_key, session_key=session_key, seq=seq)
        at = {"user_key": user_key, "message_id": cast("tuple[int, ...]", row)[0]}
        database.run("erase_message", **at, erased_at=to_micros(erased_at))
        database.run("delete_search_row", **at)
    if session.client_list.messages:
        change = ClientListChange(
            first_place=1, messages=session.client_list.messages, expected_count=0, tail=session.client_list.tail
        )
        put_client_list(database, user_key, session_key, change)
    if session.memory != SessionMemory(session_id=record.id):
        keep_session_memory(database, session_key, user_key, session.memory)
    for followed in session.followed:
        keep_followed(database, followed)


def _read_last_ordinal(database: Database, user_key: int) -> int:
    row = database.row("read_version_of_memory", user_key=user_key)
    return 0 if row is None else cast("int", row[3])
