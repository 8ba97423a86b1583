"""Overviews in memory."""

from collections import Counter
from datetime import datetime

from everfold.adapters.inmemory.tables import TablesHolder
from everfold.core.events import CompactionEvent
from everfold.core.overview import Spend, WorkCounts
from everfold.core.sessions import AgentId
from everfold.core.usage import ModelCall


class InMemoryOverview(TablesHolder):
    """The overview store's methods; see `everfold.ports.overview.OverviewStore`."""

    async def count_work(self) -> WorkCounts:
        """How much there is, and how much waits."""
        tables = self._tables
        events = list(tables.events.values())
        waiting = [event for event in events if not event.has_ended]
        return WorkCounts(
            users_count=len(tables.users),
            sessions_count=len(tables.sessions),
            events_count=len(events),
            waiting=tuple(sorted(Counter(event.state for event in waiting).items())),
            degraded_count=sum(event.state == "degraded" for event in events),
            oldest_at=min((event.begun_at for event in waiting), default=None),
        )

    async def list_agents(self) -> list[AgentId]:
        """Every agent that anybody has spoken to, by name."""
        return sorted({record.agent_id for record in self._tables.sessions.values()})

    async def list_unfinished(self, *, limit_count: int) -> list[CompactionEvent]:
        """Events that have not ended, whoever works on them, oldest first."""
        found = [event for event in self._tables.events.values() if not event.has_ended]
        return sorted(found, key=lambda event: event.begun_at)[: max(limit_count, 0)]

    async def list_degraded(self, *, limit_count: int) -> list[CompactionEvent]:
        """Events that ended degraded, newest first."""
        found = [event for event in reversed(self._tables.events.values()) if event.state == "degraded"]
        return sorted(found, key=lambda event: event.begun_at, reverse=True)[: max(limit_count, 0)]

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
