"""A user's memory, and their sessions where they were asked for, as one JSON document, and back.

The document is JSON values in which every string keeps its code points, lone surrogates too; written with `json.dumps`
and its default escapes it survives any file. What is read from one is checked in full before anything is stored: types,
ids, numbers and names, the order of revisions, and whose it is.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final, TypeVar, cast

from everfold.core.log.following import FollowedTranscript
from everfold.core.memory.files import MemoryFile, read_new_path
from everfold.core.memory.items import Item
from everfold.core.memory.records import AuditEntry, Extraction
from everfold.core.memory.rows import (
    audit_from_bytes,
    audit_to_bytes,
    dream_from_bytes,
    dream_to_bytes,
    extraction_from_bytes,
    extraction_to_bytes,
    item_from_bytes,
    item_to_bytes,
    topic_from_bytes,
    topic_to_bytes,
)
from everfold.core.memory.topics import Dream, Topic
from everfold.core.portability.possible_values import ID_FORM, find_impossible, is_id, require_agent
from everfold.core.portability.sessions import PortableMessage, PortableSession, read_sessions, write_sessions
from everfold.core.primitives.field_types import MOST_WHOLE, broken, check_fields, require_text
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.errors import InvalidInputError

FORMAT: Final = "everfold.user"
VERSION: Final = 1

T = TypeVar("T")
Row = TypeVar("Row", Item, Topic)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableMemory:
    """All that memory has of one user, in the order in which memory first had it.

    Attributes:
        items: Every item with all its revisions, oldest first.
        topics: The same for topics.
        dreams: Oldest first.
        extractions: By ordinal.
        cursors: Up to where the dreams of each agent have read.
        audit: Oldest first.
        files: By agent and path.
        followed: Positions in clients' transcripts that hold what was erased; see `everfold.core.log.following`.
        sessions: In the order of their creation; None where they were not asked for.
    """

    user_id: UserId
    items: tuple[tuple[Item, ...], ...] = ()
    topics: tuple[tuple[Topic, ...], ...] = ()
    dreams: tuple[Dream, ...] = ()
    extractions: tuple[Extraction, ...] = ()
    cursors: tuple[tuple[AgentId, int], ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    files: tuple[MemoryFile, ...] = ()
    followed: tuple[FollowedTranscript, ...] = ()
    sessions: tuple[PortableSession, ...] | None = None


def write_document(memory: PortableMemory) -> JsonObject:
    """A memory as a document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "user_id": memory.user_id,
        "items": [[_to_json(item_to_bytes(item)) for item in revisions] for revisions in memory.items],
        "topics": [[_to_json(topic_to_bytes(topic)) for topic in revisions] for revisions in memory.topics],
        "dreams": [_write_dream(dream) for dream in memory.dreams],
        "extractions": [_write_extraction(one) for one in memory.extractions],
        "cursors": {str(agent_id): read_through for agent_id, read_through in memory.cursors},
        "audit": [_to_json(audit_to_bytes(entry)) for entry in memory.audit],
        **({"files": [_write_file(file) for file in memory.files]} if memory.files else {}),
        **({"followed": [_write_followed(one) for one in memory.followed]} if memory.followed else {}),
        **({} if memory.sessions is None else {"transcripts": write_sessions(memory.sessions)}),
    }


def read_document(document: object) -> PortableMemory:
    """The memory that a document holds.

    Raises:
        InvalidInputError: it is no such document, or of a newer version, or something in it is not as it must be; says
            what and where.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidInputError(f"this is not a user export: expected a JSON object with the format {FORMAT!r}")
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise InvalidInputError(
            f"the export is of version {version!r}, this release reads up to {VERSION}; import it with the release that "
            "wrote it, or a newer one"
        )
    user_id = UserId(require_text(document.get("user_id"), "user_id"))
    memory = PortableMemory(
        user_id=user_id,
        items=tuple(
            _read_revisions(revisions, at, item_from_bytes, Item) for at, revisions in _list_at(document, "items")
        ),
        topics=tuple(
            _read_revisions(revisions, at, topic_from_bytes, Topic) for at, revisions in _list_at(document, "topics")
        ),
        dreams=tuple(_read_dream(value, at) for at, value in _list_at(document, "dreams")),
        extractions=tuple(_read_extraction(value, at) for at, value in _list_at(document, "extractions")),
        cursors=_read_cursors(document.get("cursors")),
        audit=tuple(_read_row(value, at, audit_from_bytes, AuditEntry) for at, value in _list_at(document, "audit")),
        files=tuple(_read_file(value, at, user_id) for at, value in _list_at(document, "files", or_none=True)),
        followed=tuple(
            _read_followed(value, at, user_id) for at, value in _list_at(document, "followed", or_none=True)
        ),
        sessions=read_sessions(document["transcripts"], "transcripts") if "transcripts" in document else None,
    )
    _check_owners(memory)
    _check_order(memory)
    _check_references(memory)
    _check_quotes(memory)
    return memory


def give_memory(memory: PortableMemory, user_id: UserId) -> PortableMemory:
    """The same memory as another user's."""
    return PortableMemory(
        user_id=user_id,
        items=tuple(tuple(replace(one, user_id=user_id) for one in revisions) for revisions in memory.items),
        topics=tuple(tuple(replace(one, user_id=user_id) for one in revisions) for revisions in memory.topics),
        dreams=tuple(
            replace(dream, user_id=user_id, topics=tuple(replace(one, user_id=user_id) for one in dream.topics))
            for dream in memory.dreams
        ),
        extractions=tuple(replace(one, user_id=user_id) for one in memory.extractions),
        cursors=memory.cursors,
        audit=tuple(replace(entry, user_id=user_id) for entry in memory.audit),
        files=tuple(replace(file, user_id=user_id) for file in memory.files),
        followed=tuple(replace(one, user_id=user_id) for one in memory.followed),
        sessions=memory.sessions,
    )


def rename_sessions(memory: PortableMemory, names: Mapping[SessionId, SessionId]) -> PortableMemory:
    """The same memory with other ids of sessions: of the sessions themselves, and wherever memory names them."""
    if not names:
        return memory
    return replace(
        memory,
        items=tuple(tuple(_rename_evidence(item, names) for item in revisions) for revisions in memory.items),
        extractions=tuple(
            replace(one, session_id=names.get(one.session_id, one.session_id)) for one in memory.extractions
        ),
        audit=tuple(
            replace(entry, about=tuple(_rename_about(id_, names) for id_ in entry.about)) for entry in memory.audit
        ),
        sessions=None
        if memory.sessions is None
        else tuple(
            replace(
                one,
                id=names.get(one.id, one.id),
                parent_id=None if one.parent_id is None else names.get(one.parent_id, one.parent_id),
            )
            for one in memory.sessions
        ),
    )


def _rename_about(id_: str, names: Mapping[SessionId, SessionId]) -> str:
    """What an audit entry is about: an id, or that of a session with the number of one of its messages behind a colon."""
    session_id, colon, seq = id_.rpartition(":")
    return names.get(SessionId(id_)) or names.get(SessionId(session_id), session_id) + colon + seq


def _rename_evidence(item: Item, names: Mapping[SessionId, SessionId]) -> Item:
    evidence = tuple(one._replace(session_id=names.get(one.session_id, one.session_id)) for one in item.evidence)
    return replace(item, evidence=evidence)


# --- writing


def _to_json(content: bytes) -> JsonValue:
    return cast("JsonValue", json.loads(content.decode("utf-8", "surrogatepass")))


def _write_dream(dream: Dream) -> JsonObject:
    topics: list[JsonValue] = [_to_json(topic_to_bytes(topic)) for topic in dream.topics]
    return {**cast("JsonObject", _to_json(dream_to_bytes(dream))), "topics": topics}


def _write_extraction(extraction: Extraction) -> JsonObject:
    return {**cast("JsonObject", _to_json(extraction_to_bytes(extraction))), "ordinal": extraction.ordinal}


def _write_file(file: MemoryFile) -> JsonObject:
    return {
        "agent_id": str(file.agent_id),
        "path": file.path,
        "content": file.content,
        "written_at": file.written_at.isoformat(),
    }


def _write_followed(followed: FollowedTranscript) -> JsonObject:
    return {"agent_id": str(followed.agent_id), "name": followed.name, "read_bytes": followed.read_bytes}


# --- reading


def _to_bytes(value: object, at: str) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"the export is broken at {at}: {error}; nothing was stored", at=at) from error


def _list_at(document: dict[str, object], name: str, *, or_none: bool = False) -> list[tuple[str, object]]:
    values = document.get(name, [] if or_none else None)
    if not isinstance(values, list):
        raise broken(name, f"expected a list, got {type(values).__name__}")
    return [(f"{name}[{index}]", value) for index, value in enumerate(values)]


def _read_row(value: object, at: str, read: Callable[[bytes], T], row_type: type[T]) -> T:
    if not isinstance(value, dict):
        raise broken(at, f"expected an object, got {type(value).__name__}")
    content = _to_bytes(value, at)
    try:
        row = read(content)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, InvalidInputError) as error:
        raise broken(at, f"{type(error).__name__}: {error}") from error
    problem = check_fields(row, row_type) or find_impossible(row)
    if problem:
        raise broken(at, problem)
    return row


def _read_revisions(values: object, at: str, read: Callable[[bytes], Row], row_type: type[Row]) -> tuple[Row, ...]:
    if not isinstance(values, list) or not values:
        raise broken(at, "expected a list of revisions that is not empty")
    rows = tuple(_read_row(value, f"{at}[{index}]", read, row_type) for index, value in enumerate(values))
    for index, (before, row) in enumerate(pairwise(rows), 1):
        if row.id != before.id or row.revision <= before.revision:
            raise broken(f"{at}[{index}]", "expected a later revision of the same id")
    return rows


def _read_dream(value: object, at: str) -> Dream:
    topics = value.get("topics") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(topics, list):
        raise broken(at, "expected an object with a list of topics")
    read = tuple(
        _read_row(topic, f"{at}.topics[{index}]", topic_from_bytes, Topic) for index, topic in enumerate(topics)
    )
    rest = {name: one for name, one in value.items() if name != "topics"}
    return _read_row(rest, at, lambda content: dream_from_bytes(content, read), Dream)


def _read_extraction(value: object, at: str) -> Extraction:
    ordinal = value.get("ordinal") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(ordinal, int) or isinstance(ordinal, bool):
        raise broken(at, "expected an object with a whole ordinal")
    rest = {name: one for name, one in value.items() if name != "ordinal"}
    return _read_row(
        rest, at, lambda content: extraction_from_bytes(content, ordinal=ordinal, is_session_gone=False), Extraction
    )


def _read_file(value: object, at: str, user_id: UserId) -> MemoryFile:
    def read(content: bytes) -> MemoryFile:
        row = json.loads(content)
        return MemoryFile(
            user_id=user_id,
            agent_id=AgentId(row["agent_id"]),
            path=read_new_path(row["path"]),
            content=row["content"],
            written_at=datetime.fromisoformat(row["written_at"]),
        )

    return _read_row(value, at, read, MemoryFile)


def _read_followed(value: object, at: str, user_id: UserId) -> FollowedTranscript:
    def read(content: bytes) -> FollowedTranscript:
        row = json.loads(content)
        return FollowedTranscript(
            user_id=user_id,
            agent_id=AgentId(row["agent_id"]),
            name=row["name"],
            session_id=None,
            read_bytes=row["read_bytes"],
        )

    followed = _read_row(value, at, read, FollowedTranscript)
    require_text(followed.name, f"{at}.name")
    return followed


def _read_cursors(value: object) -> tuple[tuple[AgentId, int], ...]:
    if not isinstance(value, dict):
        raise broken("cursors", "expected an object of whole numbers by agent")
    for agent_id, read_through in value.items():
        require_agent(agent_id, f"cursors.{agent_id!r:.60}")
        if not isinstance(read_through, int) or isinstance(read_through, bool) or not 0 <= read_through <= MOST_WHOLE:
            raise broken(f"cursors.{agent_id}", f"expected a whole number, got {read_through!r}")
    return tuple((AgentId(agent_id), read_through) for agent_id, read_through in value.items())


def _check_owners(memory: PortableMemory) -> None:
    rows: list[tuple[str, Sequence[object]]] = [
        *((f"items[{at}]", revisions) for at, revisions in enumerate(memory.items)),
        *((f"topics[{at}]", revisions) for at, revisions in enumerate(memory.topics)),
        *((f"dreams[{at}]", (dream, *dream.topics)) for at, dream in enumerate(memory.dreams)),
        *((f"extractions[{at}]", (one,)) for at, one in enumerate(memory.extractions)),
        *((f"audit[{at}]", (entry,)) for at, entry in enumerate(memory.audit)),
        *((f"files[{at}]", (file,)) for at, file in enumerate(memory.files)),
    ]
    for at, owned in rows:
        others = {cast("Item", one).user_id for one in owned} - {memory.user_id}
        if others:
            raise broken(at, f"it is of user {', '.join(sorted(others))}, expected {memory.user_id}")


def _check_order(memory: PortableMemory) -> None:
    for name, ids in (
        ("items", [revisions[0].id for revisions in memory.items]),
        ("topics", [revisions[0].id for revisions in memory.topics]),
        ("dreams", [dream.id for dream in memory.dreams]),
        ("extractions", [one.id for one in memory.extractions]),
        ("transcripts", [one.id for one in memory.sessions or ()]),
    ):
        seen: set[str] = set()
        for id_ in ids:
            if not is_id(id_):
                raise broken(name, f"the id {id_!r} is not {ID_FORM}")
            if id_ in seen:
                raise broken(name, f"the id {id_!r} stands twice")
            seen.add(id_)
    if len({file.place for file in memory.files}) < len(memory.files):
        raise broken("files", "a path of an agent stands twice")
    if len({(one.agent_id, one.name) for one in memory.followed}) < len(memory.followed):
        raise broken("followed", "a name of an agent stands twice")
    ordinals = [one.ordinal for one in memory.extractions]
    if any(later <= former for former, later in pairwise([0, *ordinals])):
        raise broken("extractions", "expected ordinals that rise from 1 on")


def _check_references(memory: PortableMemory) -> None:
    """Refuse an item that names an item of which the document has none: what was erased is there without its words."""
    ids = {revisions[0].id for revisions in memory.items}
    for at, revisions in enumerate(memory.items):
        for number, item in enumerate(revisions):
            for name, other in (("supersedes", item.supersedes), ("superseded_by", item.superseded_by)):
                if other is not None and (other not in ids or other == item.id):
                    problem = f"{name} of {item.id} is {other!r}, expected another item of the document; correct it"
                    raise broken(f"items[{at}][{number}]", problem)


def _check_quotes(memory: PortableMemory) -> None:
    """Refuse an item that quotes a message of the document otherwise than it is there. O(messages and quotes)."""
    sessions = {session.id: session for session in memory.sessions or ()}
    hashes: dict[tuple[SessionId, int], str] = {}
    for at, revisions in enumerate(memory.items):
        for one in revisions[-1].evidence:
            message = _find_message(sessions, one.session_id, one.seq)
            if message is None or message.erased_at is not None:
                continue
            place = (one.session_id, one.seq)
            found = hashes.setdefault(place, hashlib.sha256(message.content).hexdigest())
            if found != one.content_hash:
                raise broken(f"items[{at}]", f"message {one.seq} of {one.session_id} is not the one that it quotes")


def _find_message(
    sessions: Mapping[SessionId, PortableSession], session_id: SessionId, seq: int
) -> PortableMessage | None:
    """A message of a session of the document, its own or one that it shares; None where it is not there."""
    session = sessions.get(session_id)
    while session is not None and seq <= session.branch_seq:
        session = None if session.parent_id is None else sessions.get(session.parent_id)
    if session is None or not 0 < seq - session.branch_seq <= len(session.messages):
        return None
    return session.messages[seq - session.branch_seq - 1]
