"""The methods of the SQLite store that overviews are asked by."""

from datetime import datetime

from everfold.adapters.sqlite import overview
from everfold.adapters.sqlite.lanes import Lanes
from everfold.core.events import CompactionEvent
from everfold.core.overview import Spend, WorkCounts
from everfold.core.sessions import AgentId


class SqliteOverview(Lanes):
    """The overview store's methods; see `everfold.ports.overview.OverviewStore`."""

    async def count_work(self) -> WorkCounts:
        """See the port."""
        return await self._read(overview.count_work)

    async def list_agents(self) -> list[AgentId]:
        """See the port."""
        return await self._read(overview.list_agents)

    async def list_unfinished(self, *, limit_count: int) -> list[CompactionEvent]:
        """See the port."""
        return await self._read(overview.list_unfinished, limit_count)

    async def list_degraded(self, *, limit_count: int) -> list[CompactionEvent]:
        """See the port."""
        return await self._read(overview.list_degraded, limit_count)

    async def sum_spend(self, *, since: datetime) -> list[Spend]:
        """See the port."""
        return await self._read(overview.sum_spend, since)
