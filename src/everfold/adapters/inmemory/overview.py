"""Overviews in memory."""

from collections import Counter
from datetime import datetime

from everfold.adapters.inmemory.tables import TablesHolder
from everfold.core.compaction.record import Compaction
from everfold.core.observation.overview import Spend, WorkCounts
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import AgentId


class InMemoryOverview(TablesHolder):
    """The overview store's methods; see `everfold.ports.overview.OverviewStore`."""

    async def count_work(self) -> WorkCounts:
        """How much there is, and how much waits."""
        tables = self._tables
        compactions = list(tables.compactions.values())
        waiting = [compaction for compaction in compactions if not compaction.has_ended]
        return WorkCounts(
            users_count=len(tables.users),
            sessions_count=len(tables.sessions),
            compactions_count=len(compactions),
            waiting=tuple(sorted(Counter(compaction.state for compaction in waiting).items())),
            degraded_count=sum(compaction.state == "degraded" for compaction in compactions),
            oldest_at=min((compaction.begun_at for compaction in waiting), default=None),
        )

    async def list_agents(self) -> list[AgentId]:
        """Every agent with a session, by name."""
        return sorted({record.agent_id for record in self._tables.sessions.values()})

    async def list_unfinished(self, *, limit_count: int) -> list[Compaction]:
        """Compactions that have not ended, with or without a worker, oldest first."""
        found = [compaction for compaction in self._tables.compactions.values() if not compaction.has_ended]
        return sorted(found, key=lambda compaction: compaction.begun_at)[: max(limit_count, 0)]

    async def list_degraded(self, *, limit_count: int) -> list[Compaction]:
        """Compactions that ended degraded, newest first."""
        found = [
            compaction for compaction in reversed(self._tables.compactions.values()) if compaction.state == "degraded"
        ]
        return sorted(found, key=lambda compaction: compaction.begun_at, reverse=True)[: max(limit_count, 0)]

    async def sum_spend(self, *, since: datetime) -> list[Spend]:
        """What calls of models that started at or after a moment came to, by model and purpose, in that order."""
        groups: dict[tuple[str, str], list[ModelCall]] = {}
        for call in self._tables.calls.values():
            if call.started_at >= since:
                groups.setdefault((call.model, call.purpose), []).append(call)
        return [_sum(groups[pair]) for pair in sorted(groups)]


def _sum(calls: list[ModelCall]) -> Spend:
    return Spend(
        model=calls[0].model,
        purpose=calls[0].purpose,
        calls_count=len(calls),
        input_tokens=sum(call.input_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost_usd=sum(call.cost_usd or 0.0 for call in calls),
        uncounted_count=sum(call.is_uncounted for call in calls),
    )
