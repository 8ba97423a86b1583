"""The keys of users and agents."""

from typing import Literal, cast

from everfold.adapters.sql.database import Database
from everfold.core.primitives.ids import AgentId, UserId


def find_user_key(database: Database, user_id: UserId) -> int | None:
    """The key of a user that something was stored for."""
    return _find_key(database, "user", user_id)


def find_agent_key(database: Database, agent_id: AgentId) -> int | None:
    """The key of an agent that something was stored for."""
    return _find_key(database, "agent", agent_id)


def _find_key(database: Database, kind: Literal["user", "agent"], id_: str) -> int | None:
    key = database.keys.find(kind, id_)
    if key is None:
        row = database.row("find_user", user_id=id_) if kind == "user" else database.row("find_agent", agent_id=id_)
        if row is None:
            return None
        key = cast("int", row[0])
        database.keys.keep(kind, id_, key)
    return key


def get_user_key(database: Database, user_id: UserId) -> int:
    """The key of a user, whose row is made when it is missing."""
    found = find_user_key(database, user_id)
    if found is None:
        database.run("insert_user_now", user_id=user_id)  # unless another transaction was first
        found = find_user_key(database, user_id)
    return cast("int", found)


def get_agent_key(database: Database, agent_id: AgentId) -> int:
    """The key of an agent, whose row is made when it is missing."""
    found = find_agent_key(database, agent_id)
    if found is None:
        database.run("insert_agent", agent_id=agent_id)
        found = find_agent_key(database, agent_id)
    return cast("int", found)
