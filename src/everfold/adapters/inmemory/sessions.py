"""Sessions in memory: who has which."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice

from everfold.adapters.inmemory.log import check_own_client_ids, write_plan
from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.access.users import User
from everfold.core.log.appending import AppendPlan
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError


class InMemorySessions(TablesHolder):
    """The session store's methods; see `everfold.ports.stores.SessionStore`."""

    async def create_session(
        self, record: SessionRecord, state: SessionState, *, first: AppendPlan | None = None
    ) -> None:
        """Store a session with its first state, and its first messages with it."""
        tables = self._tables
        _check_new(tables, record)
        _check_epoch(tables, record, state)
        if first is not None:
            check_own_client_ids(record.id, first)
        put_session(tables, record, state)
        if first is not None:
            write_plan(tables, record.id, first)
        if record.is_current:
            put_current(tables, record)

    async def get_session(self, session_id: SessionId) -> SessionRecord:
        """The session with this id."""
        return give_record(self._tables.get_session(session_id))

    async def find_current_session(
        self, user_id: UserId, agent_id: AgentId, session_key: str = ""
    ) -> SessionRecord | None:
        """The current session of a user and an agent under a session key."""
        tables = self._tables
        session_id = tables.current.get((user_id, agent_id, session_key))
        return None if session_id is None else give_record(tables.sessions[session_id])

    async def list_sessions(
        self, *, user_id: UserId | None, agent_id: AgentId | None, after: SessionId | None, limit_count: int
    ) -> list[SessionRecord]:
        """Sessions in the order of their creation, after the given one."""
        tables = self._tables
        records = iter(tables.sessions.values())
        if after is not None:
            tables.get_session(after)
            next(record for record in records if record.id == after)
        matching = (
            give_record(record)
            for record in records
            if user_id in (None, record.user_id) and agent_id in (None, record.agent_id)
        )
        return list(islice(matching, limit_count))

    async def make_current(self, session_id: SessionId) -> SessionRecord:
        """Make a session the current one of its user, agent and session key, and give it."""
        tables = self._tables
        put_current(tables, tables.get_session(session_id))
        return give_record(tables.sessions[session_id])

    async def change_settings(self, session_id: SessionId, settings: SessionSettings) -> None:
        """Replace what the session holds from its opening, and raise the revision of its state by one."""
        tables = self._tables
        record = tables.get_session(session_id)
        state = tables.states[session_id]
        tables.states[session_id] = replace(state, revision=state.revision + 1)
        tables.sessions[session_id] = replace(record, settings=deepcopy(settings))

    async def list_used(self, session_ids: Sequence[SessionId]) -> dict[SessionId, bool]:
        """Those of the ids that no new session can have, and for each whether its session is there."""
        tables = self._tables
        return {id_: id_ in tables.sessions for id_ in session_ids if id_ in tables.sessions or id_ in tables.erased}


def put_session(tables: Tables, record: SessionRecord, state: SessionState) -> None:
    """Write a new session and its first state."""
    tables.users.setdefault(record.user_id, User(id=record.user_id, name="", created_at=record.created_at))
    tables.sessions[record.id] = replace(record, settings=deepcopy(record.settings))
    tables.states[record.id] = state
    tables.messages[record.id] = {}
    tables.client_ids[record.id] = {}


def give_record(record: SessionRecord) -> SessionRecord:
    """The record with tool schemas of its own: changing them changes nothing here."""
    return replace(record, settings=deepcopy(record.settings))


def _check_new(tables: Tables, record: SessionRecord) -> None:
    for session_id in {record.id, *(part.session_id for part in record.lineage)} & tables.erased:
        raise ConflictError(f"session {session_id} was erased; begin one of another id", session=session_id)
    if record.id in tables.sessions:
        raise ConflictError(f"session {record.id} exists already; give the new one an id of its own", session=record.id)
    for shared in (*([record.parent_id] if record.parent_id else []), *(part.session_id for part in record.lineage)):
        if shared != record.id:
            tables.get_session(shared)
    current = tables.current.get(find_place_of(record))
    if record.is_current and record.started_by not in {"branch", "rewind"} and current != record.parent_id:
        raise ConflictError(
            f"session {record.id}: its parent {record.parent_id} is not the current session of this user, agent and session key, "
            f"which is {current}; read the current session and try again",
            session=record.id,
        )


def _check_epoch(tables: Tables, record: SessionRecord, state: SessionState) -> None:
    if record.branch_seq and record.parent_id and tables.states[record.parent_id].epoch != state.epoch:
        raise ConflictError(
            f"session {record.id}: a message of its parent {record.parent_id} was erased after the parent's state was "
            "read; read it again",
            session=record.id,
        )


def put_current(tables: Tables, record: SessionRecord) -> None:
    """Make a session the current one of its user, agent and session key."""
    place = find_place_of(record)
    before = tables.current.get(place)
    if before is not None:
        tables.sessions[before] = replace(tables.sessions[before], is_current=False)
    tables.sessions[record.id] = replace(tables.sessions[record.id], is_current=True)
    tables.current[place] = record.id


def find_place_of(record: SessionRecord) -> tuple[UserId, AgentId, str]:
    """What one session at a time is the current one of."""
    return record.user_id, record.agent_id, record.session_key
