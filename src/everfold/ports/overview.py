"""Overviews: what an operator asks a store as a whole. Errors are those of `everfold.ports.stores`."""

from datetime import datetime
from typing import Protocol

from everfold.core.compaction.record import Compaction
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.primitives.ids import AgentId


class OverviewStore(Protocol):
    """Questions over all users; the answers hold no text of messages."""

    async def count_work(self) -> WorkCounts:
        """How much is stored, and how much work is pending."""
        ...

    async def list_agents(self) -> list[AgentId]:
        """Every agent with a session, by name."""
        ...

    async def list_unfinished(self, *, limit_count: int) -> list[Compaction]:
        """Compactions that have not ended, with or without a worker, oldest first."""
        ...

    async def list_degraded(self, *, limit_count: int) -> list[Compaction]:
        """Compactions that ended degraded, newest first."""
        ...

    async def sum_spend(self, *, since: datetime) -> list[Spend]:
        """What calls of models that started at or after a moment came to, by model and purpose, in that order."""
        ...
