"""Clients' lists in SQL. Each function is one call of `ConversationStore`."""

from collections.abc import Mapping, Sequence
from typing import cast

from everfold.adapters.sql.database import Database, Row, SqlValue
from everfold.adapters.sql.log import find_erased
from everfold.adapters.sql.owners import find_agent_key, find_user_key
from everfold.adapters.sql.places import Places
from everfold.core.log.client_lists import ClientKind, ClientList, ClientListChange, ClientMessage
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError

MOST_FOUND = 16
"""So many sessions are given for one hash, the newest first. Source: own choice; more than a few are branches of one."""
_LOOKED_COUNT = 64
"""So many hashes are looked up at once. Source: own choice; the newest nearly always decide."""


def find_by_chain(database: Database, user_id: UserId, agent_id: AgentId, chains: Sequence[bytes]) -> list[SessionId]:
    """See `ConversationStore.find_by_chain`."""
    return _find(database, "find_client_chain", "chain", user_id, agent_id, chains)


def find_by_tail(database: Database, user_id: UserId, agent_id: AgentId, tails: Sequence[bytes]) -> list[SessionId]:
    """See `ConversationStore.find_by_tail`."""
    return _find(database, "find_client_tail", "tail", user_id, agent_id, tails)


def find_with_erased(database: Database, user_id: UserId, agent_id: AgentId, key_prefix: str) -> list[SessionId]:
    """See `ConversationStore.find_with_erased`."""
    user_key, agent_key = find_user_key(database, user_id), find_agent_key(database, agent_id)
    if user_key is None or agent_key is None:
        return []
    prefix: dict[str, SqlValue] = {"key_prefix": key_prefix, "prefix_chars": len(key_prefix)}
    rows = database.rows("find_client_erased", user_key=user_key, agent_key=agent_key, limit_count=MOST_FOUND, **prefix)
    return [SessionId(cast("str", id_)) for (id_,) in rows]


def _find(
    database: Database, query: str, name: str, user_id: UserId, agent_id: AgentId, hashes: Sequence[bytes]
) -> list[SessionId]:
    """The sessions of the last hash that there are any of."""
    user_key, agent_key = find_user_key(database, user_id), find_agent_key(database, agent_id)
    if user_key is None or agent_key is None:
        return []
    owner = {"user_key": user_key, "agent_key": agent_key, "limit_count": MOST_FOUND}
    for end in range(len(hashes), 0, -_LOOKED_COUNT):
        page = hashes[max(end - _LOOKED_COUNT, 0) : end][::-1]
        for rows in database.rows_each(query, [{name: one, **owner} for one in page]):
            if rows:
                return [SessionId(cast("str", id_)) for (id_,) in rows]
    return []


def read_client_list(database: Database, places: Places, session_id: SessionId) -> ClientList:
    """See `ConversationStore.read_client_list`."""
    place = places.place(session_id)
    keys = {"user_key": place.user_key, "session_key": place.session_key}
    tail = database.row("read_client_tail", **keys)
    return ClientList(
        messages=tuple([_read(*row) for row in database.rows("read_client_messages", **keys)]),
        tail=None if tail is None else cast("bytes", tail[0]),
    )


def _read(
    seq: object, kind: object, is_reply: object, is_optional: object, content: object, chain: object, attempt: object
) -> ClientMessage:
    return ClientMessage(
        content=cast("bytes | None", content),
        kind=cast("ClientKind", kind),
        seq=cast("int", seq),
        is_reply=bool(is_reply),
        is_optional=bool(is_optional),
        chain=cast("bytes | None", chain),
        attempt=cast("bytes | None", attempt),
    )


def write_client_list(database: Database, places: Places, session_id: SessionId, change: ClientListChange) -> None:
    """See `ConversationStore.write_client_list`."""
    place = places.place(session_id)
    database.lock_user(place.user_key)
    keys = {"user_key": place.user_key, "session_key": place.session_key}
    count = cast("tuple[int]", database.row("count_client_messages", **keys))[0]
    if count != change.expected_count:
        raise ConflictError(
            f"session {session_id}: its client's list has {count} messages, not {change.expected_count}; read it again",
            session=session_id,
        )
    before = database.row("read_client_chain", **keys, place=change.first_place - 1)
    if before is not None and before[0] != change.expected_chain:
        raise ConflictError(
            f"session {session_id}: a message of its client's list was erased; read the list again", session=session_id
        )
    put_client_list(database, place.user_key, place.session_key, change)
    held = sorted(message.seq for message in change.messages if message.content is not None)
    for seq in find_erased(database, places, session_id, held):
        forget_in_client_list(database, place.user_key, place.session_key, seq)


def put_client_list(database: Database, user_key: int, session_key: int, change: ClientListChange) -> None:
    """Replace a client's list from a place on."""
    keys = {"user_key": user_key, "session_key": session_key}
    database.run("delete_client_messages", **keys, first_place=change.first_place)
    rows = [
        _write(user_key, session_key, place, message)
        for place, message in enumerate(change.messages, change.first_place)
    ]
    database.run_each("insert_client_message", rows)
    if change.tail is None:
        database.run("delete_client_tail", **keys)
    else:
        database.run("write_client_tail", **keys, tail=change.tail)


def _write(user_key: int, session_key: int, place: int, message: ClientMessage) -> Row:
    return (
        user_key,
        session_key,
        place,
        message.seq,
        message.kind,
        int(message.is_reply),
        int(message.is_optional),
        message.content,
        message.chain,
        message.attempt,
    )


def forget_in_client_list(database: Database, user_key: int, session_key: int, seq: int) -> None:
    """Remove from a client's list what an erased message was hashed to: its own hash, and every one made with it."""
    place: dict[str, SqlValue] = {"user_key": user_key, "session_key": session_key, "seq": seq}
    if database.run("forget_client_content", **place):
        forget_client_chains(database, [place])


def forget_client_chains(database: Database, places: Sequence[Mapping[str, SqlValue]]) -> None:
    """Remove from clients' lists every hash that was made with a message of theirs that is forgotten, and with its place."""
    names = ("forget_client_tail", "forget_client_chains")
    database.run_all([(name, place) for place in places for name in names])


def erase_client_list(database: Database, user_key: int, session_key: int) -> None:
    """Remove a client's list."""
    database.run("delete_client_messages", user_key=user_key, session_key=session_key, first_place=0)
    database.run("delete_client_tail", user_key=user_key, session_key=session_key)
