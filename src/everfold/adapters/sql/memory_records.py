"""Topics, dreams, extractions and memory's own records in SQL."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain, groupby
from typing import cast

from everfold.adapters.sql.codec import blob_to_text, text_to_blob, to_micros
from everfold.adapters.sql.database import Bound, Database, Row, SqlValue
from everfold.adapters.sql.memory_items import check_follows, find_place, refuse_taken
from everfold.adapters.sql.owners import find_agent_key, find_user_key, get_agent_key, get_user_key
from everfold.adapters.sql.packing import pack_row, unpack_row
from everfold.core.memory.records import AuditAction, AuditEntry, AuditPlace, Extraction, MemoryVersion, SessionMemory
from everfold.core.memory.rows import (
    audit_from_bytes,
    audit_to_bytes,
    dream_from_bytes,
    dream_to_bytes,
    extraction_from_bytes,
    extraction_to_bytes,
    topic_from_bytes,
    topic_to_bytes,
)
from everfold.core.memory.topics import Dream, DreamId, Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError

NO_MOMENT = (1 << 63) - 1
"""Later than every moment, and higher than every ordinal, that a column holds."""

# --- topics -----------------------------------------------------------------------------------------------------------


def write_topic(database: Database, user_key: int, topic: Topic, *, forgets: bool) -> None:
    """One more revision of a topic; of what is erased all that was before goes, out of dreams too."""
    row = database.row("find_topic", topic_id=topic.id)
    if row is not None:
        topic_key, owner_key, revision = cast("tuple[int, int, int]", row)
        check_follows(topic.id, topic.revision, found=revision, is_own=owner_key == user_key)
        name = "delete_topic_revisions" if forgets else "keep_topic_revision"
        database.run(name, user_key=user_key, topic_key=topic_key)
    if forgets:
        database.run("forget_dreamt_topic", user_key=user_key, topic_id=topic.id)
    database.run(
        "insert_topic" if row is None else "update_topic",
        id=topic.id,
        user_key=user_key,
        place=0 if topic.tier == "user" else get_agent_key(database, topic.agent_id),
        status=topic.status,
        topic_name=text_to_blob(topic.name),
        revision=topic.revision,
        content=topic_to_bytes(topic),
    )


def list_topics(database: Database, user_id: UserId, agent_id: AgentId | None) -> list[Topic]:
    """See `TopicStore.list_topics`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    rows = database.rows("list_topics", user_key=user_key, place=find_place(database, agent_id))
    rows.sort(key=lambda row: cast("int", row[1]))
    topics = (topic_from_bytes(cast("bytes", row[0])) for row in rows)
    return sorted(topics, key=lambda topic: (topic.tier != "user", topic.name, topic.agent_id))


def list_topic_revisions(database: Database, user_id: UserId, agent_id: AgentId | None, name: str) -> list[Topic]:
    """See `TopicStore.list_topic_revisions`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    place = find_place(database, agent_id)
    rows = database.rows("list_named_topics", user_key=user_key, topic_name=text_to_blob(name), place=place)
    return list(chain.from_iterable(_read_histories(database, user_key, rows)))


def list_topic_histories(database: Database, user_id: UserId) -> list[list[Topic]]:
    """See `TopicStore.list_topic_histories`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    owner = {"user_key": user_key}
    topics, revisions = database.rows_all([("read_all_topics", owner), ("list_all_topic_revisions", owner)])
    revisions.sort(key=lambda row: cast("tuple[int, int]", row[:2]))
    older = {key: [content for *_, content in group] for key, group in groupby(revisions, key=lambda row: row[0])}
    return [_read_history(older.get(key, []), newest) for key, newest in topics]


def _read_histories(database: Database, user_key: int, rows: Sequence[Row]) -> list[list[Topic]]:
    """Every revision of each topic, the newest last, from rows of its key and its newest one."""
    keys: list[dict[str, SqlValue]] = [{"user_key": user_key, "topic_key": topic_key} for topic_key, _ in rows]
    older = database.rows_each("list_topic_revisions", keys)
    return [
        _read_history([content for (content,) in before], newest)
        for (_, newest), before in zip(rows, older, strict=True)
    ]


def _read_history(older: Sequence[SqlValue], newest: SqlValue) -> list[Topic]:
    return [topic_from_bytes(cast("bytes", content)) for content in (*older, newest)]


# --- dreams and what they read ----------------------------------------------------------------------------------------


def write_dream(database: Database, user_key: int, dream: Dream) -> None:
    """Store a dream, or replace the one with its id."""
    row = database.row("find_dream", dream_id=dream.id)
    if row is not None and row[1] != user_key:
        raise refuse_taken(dream.id)
    agent_key = get_agent_key(database, dream.agent_id)
    content = dream_to_bytes(dream)
    database.run(
        "insert_dream", id=dream.id, user_key=user_key, agent_key=agent_key, state=dream.state, content=content
    )
    keys = {"user_key": user_key, "dream_key": cast("tuple[int]", database.row("find_dream", dream_id=dream.id))[0]}
    database.run("delete_dream_topics", **keys)
    for position, topic in enumerate(dream.topics):
        database.run(
            "insert_dream_topic",
            **keys,
            position=position,
            topic_id=topic.id,
            content=topic_to_bytes(topic),
        )


def get_dream(database: Database, dream_id: DreamId) -> Dream:
    """See `TopicStore.get_dream`."""
    row = database.row("find_dream", dream_id=dream_id)
    if row is None:
        raise NotFoundError(f"there is no dream {dream_id!r}; use the id of one that was listed", dream=dream_id)
    rows = database.rows("list_dreamt_topics", dream_key=row[0], user_key=row[1])
    return _make_dream(row[2], [topic for (topic,) in rows])


def list_dreams(database: Database, user_id: UserId, agent_id: AgentId | None, *, limit_count: int) -> list[Dream]:
    """See `TopicStore.list_dreams`."""
    rows = _list_owned(database, "list_dreams", "list_agent_dreams", user_id, agent_id, limit_count=limit_count)
    return [
        _make_dream(content, [topic for *_, topic in sorted(written, key=_position) if topic is not None])
        for (_, content), written in groupby(rows, key=lambda row: row[:2])
    ]


def _position(row: Row) -> int:
    """Where a topic stands among those of its dream; 0 in the row of a dream without one."""
    return cast("int", row[2] or 0)


def _make_dream(content: SqlValue, topics: Sequence[SqlValue]) -> Dream:
    return dream_from_bytes(cast("bytes", content), [topic_from_bytes(cast("bytes", topic)) for topic in topics])


def add_extraction(database: Database, user_key: int, extraction: Extraction) -> Sequence[Bound]:
    """What is to be run to store an extraction under the user's next ordinal; one that is stored is refused by its id."""
    return [("count_extraction", {"user_key": user_key}), *insert_extraction(database, user_key, extraction)]


def insert_extraction(database: Database, user_key: int, extraction: Extraction) -> Sequence[Bound]:
    """What is to be run to store an extraction under the user's last ordinal."""
    owner: dict[str, SqlValue] = {"user_key": user_key, "agent_key": get_agent_key(database, extraction.agent_id)}
    content = pack_row(extraction_to_bytes(extraction))
    stored = {**owner, "id": extraction.id, "session_id": extraction.session_id, "content": content}
    return [("insert_extraction", stored), ("note_waiting", {**owner, "made_at": to_micros(extraction.made_at)})]


def list_dreamable(database: Database, idle_before: datetime, limit_count: int) -> list[tuple[UserId, AgentId]]:
    """See `ExtractionStore.list_dreamable`."""
    rows = database.rows("list_dreamable", idle_before=to_micros(idle_before), limit_count=limit_count)
    return [(UserId(cast("str", user_id)), AgentId(cast("str", agent_id))) for user_id, agent_id, *_ in rows]


def list_extractions(
    database: Database, user_id: UserId, agent_id: AgentId | None, *, after_ordinal: int, limit_count: int
) -> list[Extraction]:
    """See `ExtractionStore.list_extractions`."""
    rows = _list_owned(
        database,
        "list_extractions",
        "list_agent_extractions",
        user_id,
        agent_id,
        after_ordinal=after_ordinal,
        limit_count=limit_count,
    )
    return _read_extractions(rows)


def list_latest_extractions(
    database: Database, user_id: UserId, agent_id: AgentId | None, *, before_ordinal: int | None, limit_count: int
) -> list[Extraction]:
    """See `ExtractionStore.list_latest_extractions`."""
    rows = _list_owned(
        database,
        "list_latest_extractions",
        "list_latest_agent_extractions",
        user_id,
        agent_id,
        before_ordinal=NO_MOMENT if before_ordinal is None else before_ordinal,
        limit_count=limit_count,
    )
    return _read_extractions(rows)


def _read_extractions(rows: Sequence[tuple[SqlValue, ...]]) -> list[Extraction]:
    return [
        extraction_from_bytes(
            unpack_row(cast("bytes", content)), ordinal=cast("int", ordinal), is_session_gone=bool(is_gone)
        )
        for ordinal, content, is_gone in rows
    ]


def _list_owned(
    database: Database, of_user: str, of_agent: str, user_id: UserId, agent_id: AgentId | None, **values: SqlValue
) -> list[tuple[SqlValue, ...]]:
    """The rows of a query for each question, so that each has its index."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    if agent_id is None:
        return database.rows(of_user, user_key=user_key, **values)
    agent_key = find_agent_key(database, agent_id)
    return [] if agent_key is None else database.rows(of_agent, user_key=user_key, agent_key=agent_key, **values)


def write_cursor(database: Database, user_key: int, agent_id: AgentId, read_through: int) -> None:
    """Move the dreamer's cursor of a user and an agent."""
    agent_key = get_agent_key(database, agent_id)
    database.run("write_cursor", user_key=user_key, agent_key=agent_key, read_through=read_through)


def read_cursor(database: Database, user_id: UserId, agent_id: AgentId) -> int:
    """See `ExtractionStore.read_cursor`."""
    rows = _list_owned(database, "", "read_cursor", user_id, agent_id)
    return cast("int", rows[0][0]) if rows else 0


# --- what sessions keep, and the audit --------------------------------------------------------------------------------


def read_session_memory(database: Database, session_id: SessionId) -> SessionMemory:
    """See `MemoryRecordStore.read_session_memory`."""
    return read_memory_of(database, session_id)[1]


def read_memory_of(database: Database, session_id: SessionId) -> tuple[MemoryVersion, SessionMemory]:
    """See `MemoryRecordStore.read_memory_of`."""
    row = database.row("read_session_memory", session_id=session_id)
    if row is None:
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    revision, epoch, *kept = row
    version = MemoryVersion(revision=cast("int", revision or 0), epoch=cast("int", epoch or 0))
    return version, _read_kept(session_id, kept)


def find_session_keys(database: Database, session_id: SessionId) -> tuple[int, int]:
    """The keys of a session and of its user."""
    row = database.row("find_keys", session_id=session_id)
    if row is None:
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    return cast("int", row[0]), cast("int", row[1])


def _read_kept(session_id: SessionId, row: Sequence[SqlValue]) -> SessionMemory:
    if row[0] is None:
        return SessionMemory(session_id=session_id)
    (
        extracted_seq,
        model_seq,
        tokens_count,
        calls_count,
        snapshot,
        snapshot_revision,
        snapshot_compaction,
        has_snapshot,
    ) = row
    return SessionMemory(
        session_id=session_id,
        extracted_seq=cast("int", extracted_seq),
        model_seq=cast("int", model_seq),
        tokens_count=cast("int", tokens_count),
        calls_count=cast("int", calls_count),
        snapshot=blob_to_text(snapshot) or "",
        snapshot_revision=cast("int", snapshot_revision),
        snapshot_compaction=cast("str", snapshot_compaction),
        has_snapshot=bool(has_snapshot),
    )


def write_session_memory(database: Database, memory: SessionMemory, *, expected: SessionMemory) -> None:
    """See `MemoryRecordStore.write_session_memory`."""
    session_key, user_key = find_session_keys(database, memory.session_id)
    database.lock_user(user_key)
    if read_session_memory(database, memory.session_id) != expected:
        raise ConflictError(
            f"session {memory.session_id}: its memory has changed; read it again",
            session=memory.session_id,
        )
    keep_session_memory(database, session_key, user_key, memory)


def keep_session_memory(database: Database, session_key: int, user_key: int, memory: SessionMemory) -> None:
    """Replace what is kept for a session; a snapshot from before the last erase is refused."""
    version = database.row("read_version_of_memory", user_key=user_key)
    erased_revision = 0 if version is None else cast("int", version[2])
    if memory.snapshot and memory.snapshot_revision < erased_revision:
        raise ConflictError(
            f"session {memory.session_id}: its snapshot shows memory at revision {memory.snapshot_revision}, but "
            f"something was erased at {erased_revision}; make it again",
            session=memory.session_id,
        )
    database.run(
        "write_session_memory",
        session_key=session_key,
        user_key=user_key,
        extracted_seq=memory.extracted_seq,
        model_seq=memory.model_seq,
        tokens_count=memory.tokens_count,
        calls_count=memory.calls_count,
        snapshot=text_to_blob(memory.snapshot),
        snapshot_revision=memory.snapshot_revision,
        snapshot_compaction=memory.snapshot_compaction,
        has_snapshot=int(memory.has_snapshot),
    )


def record_audit(database: Database, entries: Sequence[AuditEntry]) -> None:
    """See `MemoryRecordStore.record_audit`."""
    database.run_all(list_audit_rows(database, entries))


def list_audit_rows(database: Database, entries: Sequence[AuditEntry]) -> Sequence[Bound]:
    """What is to be run to keep entries of the audit."""
    return [
        (
            "insert_audit",
            {
                "user_key": get_user_key(database, entry.user_id),
                "at": to_micros(entry.at),
                "action": entry.action,
                "content": pack_row(audit_to_bytes(entry)),
            },
        )
        for entry in entries
    ]


def list_audit(
    database: Database,
    user_id: UserId,
    *,
    action: AuditAction | None = None,
    before: AuditPlace | None = None,
    limit_count: int,
) -> list[AuditEntry]:
    """See `MemoryRecordStore.list_audit`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return []
    before_micros, ordinal = (NO_MOMENT, 0) if before is None else (to_micros(before.at), before.ordinal)
    rows = database.rows(
        "list_audit" if action is None else "list_audit_of_action",
        user_key=user_key,
        action=action,
        before=before_micros,
        ordinal=ordinal,
        limit_count=limit_count,
    )
    return [audit_from_bytes(unpack_row(cast("bytes", content)), ordinal=cast("int", key)) for content, key in rows]
