"""Leases: who refreshes the context of a user and an agent now."""

from datetime import datetime
from typing import Protocol

from everfold.core.primitives.ids import AgentId, UserId


class RefreshLeaseStore(Protocol):
    """Who asks the context sources for a user and an agent now: one at a time, in whatever process."""

    async def claim_refresh(
        self, user_id: UserId, agent_id: AgentId, *, holder: str, now: datetime, lease_until: datetime
    ) -> bool:
        """Take the lease of a user and an agent if it is free or has expired; whether it was taken."""
        ...

    async def renew_refresh(self, user_id: UserId, agent_id: AgentId, *, holder: str, lease_until: datetime) -> bool:
        """Have the lease for longer; False where the holder has it no more."""
        ...

    async def release_refresh(self, user_id: UserId, agent_id: AgentId, *, holder: str) -> None:
        """Give the lease back; nothing happens where the holder has it no more."""
        ...
