"""The keys of users and agents."""

from typing import cast

from everfold.adapters.sql.database import Database
from everfold.core.primitives.ids import AgentId, UserId


def find_user_key(database: Database, user_id: UserId) -> int | None:
    """The key of a user that something was stored for."""
    row = database.row("find_user", user_id=user_id)
    return None if row is None else cast("int", row[0])


def find_agent_key(database: Database, agent_id: AgentId) -> int | None:
    """The key of an agent that something was stored for."""
    row = database.row("find_agent", agent_id=agent_id)
    return None if row is None else cast("int", row[0])


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
