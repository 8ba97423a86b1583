"""Sessions in SQL. Each function is one call of the port, inside the transaction that the store opened."""

import json
import re
from collections.abc import Sequence
from typing import cast

from everfold.adapters.sql.codec import lineage_to_text, read_session, settings_to_text, to_micros
from everfold.adapters.sql.database import Database
from everfold.adapters.sql.listing import find_settled_key
from everfold.core.access.users import fold_name
from everfold.core.log.search_filters import ANY_SESSION, SessionFilter
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.log.state import SessionState, state_from_bytes, state_to_bytes
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError


def create_session(database: Database, record: SessionRecord, state: SessionState) -> None:
    """See `SessionStore.create_session`."""
    database.run("insert_user", user_id=record.user_id, created_at=to_micros(record.created_at))
    database.run("insert_agent", agent_id=record.agent_id)
    owner = database.row("find_owner", user_id=record.user_id, agent_id=record.agent_id)
    user_key, agent_key = cast("tuple[int, int]", owner)
    database.lock_user(user_key)
    _expect_epoch(database, record, state)
    _refuse_erased(database, record)
    if record.is_current:
        current = find_current_session(database, record.user_id, record.agent_id, record.session_key)
        _expect_current(record, current)
        database.run("clear_current", user_key=user_key, agent_key=agent_key, thread=record.session_key)
    database.run(
        "insert_session",
        id=record.id,
        user_key=user_key,
        agent_key=agent_key,
        parent_id=record.parent_id,
        branch_seq=record.branch_seq,
        started_by=record.started_by,
        created_at=to_micros(record.created_at),
        is_current=int(record.is_current),
        thread=record.session_key,
        title=record.title,
        folded_title=fold_name(record.title),
        lineage=lineage_to_text(record.lineage),
        settings=settings_to_text(record.settings),
    )
    database.prove_by(("find_keys", {"session_id": record.id}))
    database.run("insert_state", session_id=record.id, revision=state.revision, state=state_to_bytes(state))


def _refuse_erased(database: Database, record: SessionRecord) -> None:
    """An erased session's id is not used again, and nothing of it can be shared."""
    for session_id in {record.id, *(part.session_id for part in record.lineage)}:
        if database.row("find_erased_session", session_id=session_id) is not None:
            raise ConflictError(f"session {session_id} was erased; create one with another id", session=session_id)


def _expect_current(record: SessionRecord, current: SessionRecord | None) -> None:
    if record.started_by in {"branch", "rewind"}:
        return
    found = current.id if current else None
    if found != record.parent_id:
        raise ConflictError(
            f"session {record.id}: its parent {record.parent_id} is not the current session of this user, agent and session key, "
            f"which is {found}; read the current session and try again",
            session=record.id,
        )


def _expect_epoch(database: Database, record: SessionRecord, state: SessionState) -> None:
    if not record.branch_seq:
        return
    row = database.row("find_parent_state", session_id=record.parent_id)
    if row is not None and state_from_bytes(cast("bytes", row[0]), revision=0).epoch != state.epoch:
        raise ConflictError(
            f"session {record.id}: a message of its parent {record.parent_id} was erased after the parent's state was "
            "read; read it again",
            session=record.id,
        )


def get_session(database: Database, session_id: SessionId) -> SessionRecord:
    """See `SessionStore.get_session`."""
    row = database.row("find_session", session_id=session_id)
    if row is None:
        raise NotFoundError(f"there is no session {session_id!r}; `everfold sessions` lists them", session=session_id)
    return read_session(row)


def find_current_session(
    database: Database, user_id: UserId, agent_id: AgentId, session_key: str = ""
) -> SessionRecord | None:
    """See `SessionStore.find_current_session`."""
    row = database.row("find_current_session", user_id=user_id, agent_id=agent_id, thread=session_key)
    return None if row is None else read_session(row)


def list_sessions(
    database: Database,
    *,
    user_id: UserId | None,
    agent_id: AgentId | None,
    after: SessionId | None,
    limit_count: int,
    only: SessionFilter = ANY_SESSION,
) -> list[SessionRecord]:
    """See `SessionStore.list_sessions`."""
    after_key = 0 if after is None else find_place(database, after)
    owner = find_owner_keys(database, user_id, agent_id)
    last_key = NO_END if user_id is not None else find_settled_key(database, "sessions")
    return read_sessions(database, "list_sessions", owner, only, limit_count, after_key=after_key, last_key=last_key)


Owner = tuple[int | None, int | None]
"""The keys of a user and of an agent; None for any."""


def find_owner_keys(database: Database, user_id: UserId | None, agent_id: AgentId | None) -> Owner | None:
    """The keys of whose sessions are asked for; None where there is no such user or agent."""
    user = (None,) if user_id is None else database.row("find_user", user_id=user_id)
    agent = (None,) if agent_id is None else database.row("find_agent", agent_id=agent_id)
    return None if user is None or agent is None else cast("Owner", (user[0], agent[0]))


def find_place(database: Database, session_id: SessionId) -> int:
    """The key of a session, by which all of them are in the order of their creation."""
    row = database.row("find_keys", session_id=session_id)
    if row is None:
        get_session(database, session_id)
        return 0
    return cast("int", row[0])


def read_sessions(
    database: Database, query: str, owner: Owner | None, only: SessionFilter, limit_count: int, **cursor: int
) -> list[SessionRecord]:
    """The sessions of an owner that a query lists and a filter lets through."""
    if owner is None:
        return []
    rows = database.rows(
        query,
        user_key=owner[0],
        agent_key=owner[1],
        since=-NO_END if only.since is None else to_micros(only.since),
        until=NO_END if only.until is None else to_micros(only.until),
        title_pattern=_write_pattern(only.title),
        limit_count=limit_count,
        **cursor,
    )
    return [read_session(row) for row in rows]


def _write_pattern(title: str) -> str:
    """What `LIKE` finds a part of a folded title by, with `!` before a sign that it reads; empty for no title."""
    folded = re.sub("([!%_])", r"!\1", fold_name(title))
    return f"%{folded}%" if folded else ""


def make_current(database: Database, session_id: SessionId) -> SessionRecord:
    """See `SessionStore.make_current`."""
    record = get_session(database, session_id)
    owner = database.row("find_owner", user_id=record.user_id, agent_id=record.agent_id)
    user_key, agent_key = cast("tuple[int, int]", owner)
    database.lock_user(user_key)
    database.run("clear_current", user_key=user_key, agent_key=agent_key, thread=record.session_key)
    database.run("set_current", session_id=session_id)
    return get_session(database, session_id)


def list_used(database: Database, session_ids: Sequence[SessionId]) -> dict[SessionId, bool]:
    """See `SessionStore.list_used`."""
    rows = database.rows("list_used_sessions", ids=json.dumps(list(session_ids)))
    return {SessionId(cast("str", id_)): bool(is_there) for id_, is_there in rows}


def set_title(database: Database, session_id: SessionId, title: str) -> None:
    """See `SessionStore.set_title`."""
    if not database.run("set_title", session_id=session_id, title=title, folded_title=fold_name(title)):
        get_session(database, session_id)
    database.run("raise_revision", session_id=session_id)
