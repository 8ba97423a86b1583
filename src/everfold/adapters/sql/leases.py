"""Leases of context refreshes in SQL. Each function is one call of the port, inside the store's transaction."""

from datetime import datetime

from everfold.adapters.sql.codec import to_micros
from everfold.adapters.sql.database import Database
from everfold.adapters.sql.owners import get_agent_key, get_user_key
from everfold.core.primitives.ids import AgentId, UserId


def claim_refresh(
    database: Database, user_id: UserId, agent_id: AgentId, *, holder: str, now: datetime, lease_until: datetime
) -> bool:
    """See `RefreshLeaseStore.claim_refresh`."""
    owner = _owner(database, user_id, agent_id)
    return (
        database.run("claim_refresh", **owner, holder=holder, now=to_micros(now), lease_until=to_micros(lease_until))
        > 0
    )


def renew_refresh(
    database: Database, user_id: UserId, agent_id: AgentId, *, holder: str, lease_until: datetime
) -> bool:
    """See `RefreshLeaseStore.renew_refresh`."""
    owner = _owner(database, user_id, agent_id)
    return database.run("renew_refresh", **owner, holder=holder, lease_until=to_micros(lease_until)) > 0


def release_refresh(database: Database, user_id: UserId, agent_id: AgentId, *, holder: str) -> None:
    """See `RefreshLeaseStore.release_refresh`."""
    database.run("release_refresh", **_owner(database, user_id, agent_id), holder=holder)


def _owner(database: Database, user_id: UserId, agent_id: AgentId) -> dict[str, int]:
    return {"user_key": get_user_key(database, user_id), "agent_key": get_agent_key(database, agent_id)}
