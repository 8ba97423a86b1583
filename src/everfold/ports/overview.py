"""Overviews: what an operator asks a store as a whole. Errors are those of `everfold.ports.stores`."""

from datetime import datetime
from typing import Protocol

from everfold.core.compaction.record import Compaction
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.primitives.ids import AgentId


class OverviewStore(Protocol):
    """Questions over all users; nothing of what was said is in the answers."""

    async def count_work(self) -> WorkCounts:
        """How much there is, and how much waits."""
        ...

    async def list_agents(self) -> list[AgentId]:
        """Every agent that anybody has spoken to, by name."""
        ...

    async def list_unfinished(self, *, limit_count: int) -> list[Compaction]:
        """Events that have not ended, whoever works on them, oldest first."""
        ...

    async def list_degraded(self, *, limit_count: int) -> list[Compaction]:
        """Events that ended degraded, newest first."""
        ...

    async def sum_spend(self, *, since: datetime) -> list[Spend]:
        """What calls of models that started at or after a moment came to, by model and purpose, in that order."""
        ...
