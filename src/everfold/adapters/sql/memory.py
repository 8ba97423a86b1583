"""Memory in SQL: its versions, and what changes all of it at once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from everfold.adapters.sql.access import begin_erase
from everfold.adapters.sql.database import Bound, Database
from everfold.adapters.sql.files import delete_file, write_file
from everfold.adapters.sql.memory_items import read_version, write_item
from everfold.adapters.sql.memory_records import (
    add_extraction,
    find_session_keys,
    keep_session_memory,
    list_audit_rows,
    record_audit,
    write_cursor,
    write_dream,
    write_topic,
)
from everfold.adapters.sql.owners import find_user_key, get_user_key
from everfold.core.memory.items import ItemId
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion, SessionMemory
from everfold.core.primitives.ids import UserId
from everfold.errors import ConflictError


def read_memory_version(database: Database, user_id: UserId) -> MemoryVersion:
    """See `ItemStore.read_memory_version`."""
    user_key = find_user_key(database, user_id)
    return (
        MemoryVersion()
        if user_key is None
        else read_version(database.rows("read_version_of_memory", user_key=user_key))
    )


def change_memory(database: Database, change: MemoryChange) -> MemoryVersion:
    """See `ItemStore.change_memory`."""
    user_key = get_user_key(database, change.user_id)
    database.lock_user(user_key)
    version = change.next_version
    if change.is_forgetting:
        begin_erase(database)
    move_version(database, user_key, change.user_id, change.expected, version)
    asked = [*_write_rows(database, user_key, change)]
    if change.extraction is not None:
        asked += add_extraction(database, user_key, change.extraction)
    database.run_all([*asked, *list_audit_rows(database, change.audit)])
    if change.session is not None:
        _keep_session(database, user_key, change.session)
    if change.dream is not None:
        write_dream(database, user_key, change.dream)
    for dream in change.scrubbed:
        write_dream(database, user_key, dream)
    if change.read_through is not None:
        write_cursor(database, user_key, change.agent_id, change.read_through)
    return version


def _write_rows(database: Database, user_key: int, change: MemoryChange) -> list[Bound]:
    """Write items, topics and files, what memory says, and give what is to be run of it in the end."""
    revision = change.next_version.revision
    asked: list[Bound] = []
    written: set[ItemId] = set()
    for item in change.items:
        if item.id in written:  # the words of its revision before are to be there, so that they are taken away
            database.run_all(asked)
            asked, written = [], set()
        written.add(item.id)
        asked += write_item(database, user_key, item, written_revision=revision, forgets=change.forgets(item))
    for topic in change.topics:
        write_topic(database, user_key, topic, forgets=change.forgets(topic))
    for place in change.gone_files:
        delete_file(database, user_key, place)
    for file in change.files:
        write_file(database, user_key, file)
    return asked


def move_version(
    database: Database, user_key: int, user_id: UserId, expected: MemoryVersion, version: MemoryVersion
) -> None:
    """Put the new version in place of the expected one; a new epoch lets go of every frozen snapshot and turn's recall."""
    has_erased = version.epoch > expected.epoch
    is_moved = database.run(
        "write_memory_head",
        user_key=user_key,
        revision=version.revision,
        epoch=version.epoch,
        erased_revision=version.revision if has_erased else 0,
        expected_revision=expected.revision,
        expected_epoch=expected.epoch,
    )
    if not is_moved:
        found = read_memory_version(database, user_id)
        raise ConflictError(
            f"the memory of user {user_id} is at revision {found.revision} and epoch {found.epoch}, expected "
            f"{expected.revision} and {expected.epoch}; read it and decide again",
            user=user_id,
        )
    if has_erased:
        owner = {"user_key": user_key}
        database.run_all([("forget_snapshots", {**owner, "snapshot": b""}), ("forget_turn_recalls", owner)])


def _keep_session(database: Database, user_key: int, memory: SessionMemory) -> None:
    session_key, owner_key = find_session_keys(database, memory.session_id)
    if owner_key != user_key:
        raise ConflictError(
            f"session {memory.session_id} is of another user; write a change of its own user's memory",
            session=memory.session_id,
        )
    keep_session_memory(database, session_key, user_key, memory)


def wipe_memory(
    database: Database,
    user_id: UserId,
    expected: MemoryVersion,
    entry: AuditEntry,
    more: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """See `MemoryRecordStore.wipe_memory`. O(what the user has). `more` are counts of what went with it."""
    user_key = get_user_key(database, user_id)
    database.lock_user(user_key)
    version = MemoryVersion(revision=expected.revision + 1, epoch=expected.epoch + 1)
    snapshots = cast("tuple[int]", database.row("count_snapshots", user_key=user_key))[0]
    cursors = cast("tuple[int]", database.row("count_cursors", user_key=user_key))[0]
    vectors = count_all_vectors(database, user_key)
    begin_erase(database)
    move_version(database, user_key, user_id, expected, version)
    database.words.wipe_items(user_key)
    revisions = sum(database.run(name, user_key=user_key) for name in ("wipe_item_revisions", "wipe_topic_revisions"))
    quotes = database.run("wipe_evidence", user_key=user_key)
    for name in ("wipe_dreamt_topics", "wipe_cursors", "wipe_dream_leases", "wipe_session_memory"):
        database.run(name, user_key=user_key)
    database.run("pass_over_log", user_key=user_key, revision=version.revision, snapshot=b"")
    counts = {
        "items": database.run("wipe_items", user_key=user_key),
        "topics": database.run("wipe_topics", user_key=user_key),
        "agent_topics": database.run("wipe_agent_topics", user_key=user_key),
        "extractions": database.run("wipe_extractions", user_key=user_key),
        "dreams": database.run("wipe_dreams", user_key=user_key),
        "sessions": snapshots,
        "revisions": revisions,
        "quotes": quotes,
        "cursors": cursors,
        "files": database.run("wipe_files", user_key=user_key),
    }
    counts |= {
        "vectors": vectors - count_all_vectors(database, user_key),
        **(more or {}),
    }
    record_audit(database, [replace(entry, counts=tuple(counts.items()))])
    return counts


def count_all_vectors(database: Database, user_key: int) -> int:
    """How many vectors a user has, in every space. They go with what they stand for, by triggers."""
    return cast("tuple[int]", database.row("count_all_vectors", user_key=user_key))[0]
