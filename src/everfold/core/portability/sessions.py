"""A user's sessions in their document: what clients sent, message by message, and where each session came from.

A message stands there in its wire form. What is made from it (estimates, extract lines, search rows, compactions) is
not in the document: it is made again. Of an erased message there is what its tombstone says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar, cast

from everfold.core.log.client_lists import NO_LIST, ClientList
from everfold.core.log.messages import Kind, WireFormat
from everfold.core.log.sessions import StartedBy, parse_session_key
from everfold.core.portability.client_lists import read_client_list, write_client_list
from everfold.core.portability.possible_values import require_agent
from everfold.core.primitives.field_types import broken, check_fields, require_text
from everfold.core.primitives.ids import AgentId, SessionId
from everfold.core.primitives.json_values import JsonObject, JsonValue, decode_json, encode_json
from everfold.core.primitives.origins import Origin, Source
from everfold.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableMessage:
    """One message that a session stores itself.

    Attributes:
        client_id: The id that its client gave it.
        content: The stored bytes of its wire form; empty where only a tombstone is left.
        erased_at: When it was erased; None where it was not.
        is_boundary: As in `everfold.core.log.messages.Message`; None in a document of an older release.
    """

    seq: int
    kind: Kind
    origin: Origin
    source: Source
    format: WireFormat
    said_at: datetime
    client_id: str | None = None
    content: bytes = b""
    erased_at: datetime | None = None
    is_boundary: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableFollowed:
    """How far a client's transcript was imported into a session; see `everfold.core.log.following.FollowedTranscript`."""

    name: str
    path: str
    file_id: str
    read_bytes: int
    left_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableSession:
    """One session with the messages that it stores itself; a branch shares the ones up to `branch_seq` with its parent.

    Attributes:
        client_list: What a client of the gateway holds of it, as hashes.
        session_key: As in `everfold.core.log.sessions.SessionRecord`; a document may leave it out where it is empty.
        system: Its system prompt.
        tools: Its tool schemas, a JSON list in bytes.
        extracted_seq: Up to where memory has looked at it; the next three as in `everfold.core.memory.records.SessionMemory`.
        title: As in `everfold.core.log.sessions.SessionRecord`; a document may leave it out where it is empty.
        followed: The clients' transcripts that are imported into it; a document may leave them out where there are none.
        pending_calls: Call ids as in `everfold.core.log.state.OpenStep`, as the next; empty where no step is open. A document
            may leave the three lists of calls out.
        closed_calls: As in `everfold.core.log.state.SessionState`; None where a document leaves them out.
    """

    id: SessionId
    agent_id: AgentId
    parent_id: SessionId | None
    branch_seq: int
    started_by: StartedBy
    created_at: datetime
    is_current: bool
    limit_tokens: int
    system: str | None
    tools: bytes
    extracted_seq: int
    model_seq: int
    tokens_count: int
    calls_count: int
    messages: tuple[PortableMessage, ...] = ()
    session_key: str = ""
    client_list: ClientList = NO_LIST
    followed: tuple[PortableFollowed, ...] = ()
    title: str = ""
    pending_calls: tuple[str, ...] = ()
    answered_calls: tuple[str, ...] = ()
    closed_calls: tuple[str, ...] | None = None


Row = TypeVar("Row", PortableMessage, PortableSession, PortableFollowed)

_OF_SESSION: Final = frozenset(PortableSession.__dataclass_fields__)
_ADDED: Final[JsonObject] = {
    "session_key": "",
    "client_list": None,
    "followed": [],
    "title": "",
    "pending_calls": [],
    "answered_calls": [],
    "closed_calls": None,
}
"""What documents of older releases do not have, and what it stands for there."""

_OF_FOLLOWED: Final = frozenset(PortableFollowed.__dataclass_fields__)
_OF_MESSAGE: Final = frozenset(PortableMessage.__dataclass_fields__) - {"content"} | {"wire"}


def write_sessions(sessions: Sequence[PortableSession]) -> list[JsonValue]:
    """Sessions as JSON."""
    return [_write_session(one) for one in sessions]


def read_sessions(values: object, at: str) -> tuple[PortableSession, ...]:
    """The sessions that `write_sessions` wrote, checked one by one and against each other.

    Raises:
        InvalidInputError: something in them is not as it must be; says what and where.
    """
    if not isinstance(values, list):
        raise broken(at, f"expected a list, got {type(values).__name__}")
    sessions = tuple(_read_session(value, f"{at}[{index}]") for index, value in enumerate(values))
    known: set[SessionId] = set()
    current: set[tuple[AgentId, str]] = set()
    for index, session in enumerate(sessions):
        if session.id in known:
            raise broken(f"{at}[{index}]", f"the id {session.id!r} stands twice")
        if session.branch_seq and session.parent_id not in known:
            raise broken(
                f"{at}[{index}]", f"it shares messages of {session.parent_id!r}, which does not stand before it"
            )
        place = (session.agent_id, session.session_key)
        if session.is_current and place in current:
            raise broken(
                f"{at}[{index}]", f"a second current session of agent {session.agent_id!r} and its session key"
            )
        known.add(session.id)
        current |= {place} if session.is_current else set()
    return sessions


def _write_session(session: PortableSession) -> JsonObject:
    return {
        "id": session.id,
        "agent_id": session.agent_id,
        "parent_id": session.parent_id,
        "branch_seq": session.branch_seq,
        "started_by": session.started_by,
        "created_at": session.created_at.isoformat(),
        "is_current": session.is_current,
        "session_key": session.session_key,
        "title": session.title,
        "limit_tokens": session.limit_tokens,
        "system": session.system,
        "tools": decode_json(session.tools),
        "extracted_seq": session.extracted_seq,
        "model_seq": session.model_seq,
        "tokens_count": session.tokens_count,
        "calls_count": session.calls_count,
        "followed": [asdict(one) for one in session.followed],
        "pending_calls": [*session.pending_calls],
        "answered_calls": [*session.answered_calls],
        "closed_calls": None if session.closed_calls is None else [*session.closed_calls],
        "messages": [_write_message(message) for message in session.messages],
        **({"client_list": write_client_list(session.client_list)} if session.client_list.messages else {}),
    }


def _write_message(message: PortableMessage) -> JsonObject:
    return {
        "seq": message.seq,
        "kind": message.kind,
        "origin": message.origin,
        "source": message.source,
        "format": message.format,
        "said_at": message.said_at.isoformat(),
        "client_id": message.client_id,
        "erased_at": None if message.erased_at is None else message.erased_at.isoformat(),
        "is_boundary": message.is_boundary,
        "wire": decode_json(message.content) if message.erased_at is None else None,
    }


def _read_session(value: object, at: str) -> PortableSession:
    fields = _read_object({**_ADDED, **value} if isinstance(value, dict) else value, _OF_SESSION, at)
    if any(not isinstance(fields[name], list) for name in ("tools", "messages", "followed")):
        raise broken(at, "expected lists of tools, messages and followed transcripts")
    messages = [_read_message(one, f"{at}.messages[{index}]") for index, one in _list_at(fields, "messages")]
    followed = [_read_followed(one, f"{at}.followed[{index}]") for index, one in _list_at(fields, "followed")]
    rest = {
        **fields,
        "created_at": _read_moment(fields["created_at"], f"{at}.created_at"),
        "tools": _encode(fields["tools"], f"{at}.tools"),
        "messages": tuple(messages),
        "client_list": read_client_list(fields["client_list"], f"{at}.client_list"),
        "followed": tuple(followed),
        **{name: _as_tuple(fields[name]) for name in ("pending_calls", "answered_calls", "closed_calls")},
    }
    session = _checked(PortableSession(**rest), at)  # type: ignore[arg-type]  # it is checked then
    _check_session(session, at)
    return session


def _list_at(fields: dict[str, object], name: str) -> Iterator[tuple[int, object]]:
    return enumerate(cast("list[object]", fields[name]))


def _read_followed(value: object, at: str) -> PortableFollowed:
    followed = _checked(PortableFollowed(**_read_object(value, _OF_FOLLOWED, at)), at)  # type: ignore[arg-type]  # it is checked then
    require_text(followed.name, f"{at}.name")
    if min(followed.read_bytes, followed.left_seq) < 0:
        raise broken(at, "expected positions that are not below 0")
    return followed


def _check_session(session: PortableSession, at: str) -> None:
    require_agent(session.agent_id, f"{at}.agent_id")
    if session.session_key:
        _require_session_key(session.session_key, f"{at}.session_key")
    if session.parent_id is not None:
        require_text(session.parent_id, f"{at}.parent_id")
    for index, message in enumerate(session.messages):
        if message.seq != session.branch_seq + index + 1:
            raise broken(
                f"{at}.messages[{index}]", f"expected message {session.branch_seq + index + 1}, got {message.seq}"
            )
    last_seq = session.branch_seq + len(session.messages)
    if session.limit_tokens < 1 or session.branch_seq < 0:
        raise broken(at, "expected a limit above 0, and a branch point that is not below it")
    if not 0 <= session.extracted_seq <= last_seq or not 0 <= session.model_seq <= last_seq:
        raise broken(at, f"memory cannot have looked past its last message, {last_seq}")
    if named := [message.seq for message in session.client_list.messages if message.seq > last_seq]:
        raise broken(f"{at}.client_list", f"it names message {named[0]}, past the last one, {last_seq}")
    if min(session.tokens_count, session.calls_count) < 0:
        raise broken(at, "expected counts that are not below 0")


def _read_message(value: object, at: str) -> PortableMessage:
    fields = _read_object({"is_boundary": None, **value} if isinstance(value, dict) else value, _OF_MESSAGE, at)
    wire, erased_at = fields.pop("wire"), fields["erased_at"]
    if (erased_at is None) != isinstance(wire, dict):
        raise broken(at, "expected the wire form of a message as an object, or when it was erased")
    fields["said_at"] = _read_moment(fields["said_at"], f"{at}.said_at")
    if erased_at is not None:
        fields["erased_at"] = _read_moment(erased_at, f"{at}.erased_at")
    content = b"" if erased_at is not None else _encode(wire, f"{at}.wire")
    return _checked(PortableMessage(content=content, **fields), at)  # type: ignore[arg-type]  # it is checked then


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _read_object(value: object, names: frozenset[str], at: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise broken(at, f"expected an object, got {type(value).__name__}")
    if value.keys() != names:
        odd = sorted(map(str, value.keys() ^ names))
        raise broken(at, f"it lacks, or has beyond what is known: {', '.join(odd)}")
    return dict(value)


def _read_moment(value: object, at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        if moment is not None and moment.utcoffset() is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise broken(at, f"expected a moment with its offset from UTC, got {value!r}")


def _encode(value: object, at: str) -> bytes:
    try:
        return encode_json(cast("JsonValue", value), at=at)
    except InvalidInputError as error:
        raise broken(at, str(error)) from error


def _checked(row: Row, at: str) -> Row:
    problem = check_fields(row, type(row))
    if problem:
        raise broken(at, problem)
    return row


def _require_session_key(value: object, at: str) -> None:
    try:
        parse_session_key(value)
    except InvalidInputError as error:
        raise broken(at, str(error)) from error
