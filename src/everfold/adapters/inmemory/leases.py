"""Leases of context refreshes in memory."""

from datetime import datetime

from everfold.adapters.inmemory.tables import TablesHolder
from everfold.core.primitives.ids import AgentId, UserId


class InMemoryRefreshLeases(TablesHolder):
    """The methods of `everfold.ports.leases.RefreshLeaseStore`."""

    async def claim_refresh(
        self, user_id: UserId, agent_id: AgentId, *, holder: str, now: datetime, lease_until: datetime
    ) -> bool:
        """Take the lease if it is free or has expired."""
        leases, pair = self._tables.refresh_leases, (user_id, agent_id)
        if pair in leases and leases[pair][1] >= now:
            return False
        leases[pair] = (holder, lease_until)
        return True

    async def renew_refresh(self, user_id: UserId, agent_id: AgentId, *, holder: str, lease_until: datetime) -> bool:
        """Have one's own lease for longer."""
        leases, pair = self._tables.refresh_leases, (user_id, agent_id)
        if pair not in leases or leases[pair][0] != holder:
            return False
        leases[pair] = (holder, lease_until)
        return True

    async def release_refresh(self, user_id: UserId, agent_id: AgentId, *, holder: str) -> None:
        """Give one's own lease back."""
        leases, pair = self._tables.refresh_leases, (user_id, agent_id)
        if pair in leases and leases[pair][0] == holder:
            del leases[pair]
