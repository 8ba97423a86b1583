"""Calls of a model in memory."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from everfold.adapters.inmemory.tables import TablesHolder
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError


class InMemoryUsage(TablesHolder):
    """The usage store's methods; see `everfold.ports.usage.UsageStore`."""

    async def record_call(self, call: ModelCall) -> None:
        """Keep one attempt."""
        calls = self._tables.calls
        if call.id in calls:
            raise ConflictError(f"call {call.id} is recorded already; give the new one an id of its own", call=call.id)
        calls[call.id] = call

    async def sum_cost_usd(self, *, since: datetime | None = None, compaction_id: CompactionId | None = None) -> float:
        """The known cost of calls since a moment, of one compaction, or both."""
        return sum(
            (
                call.cost_usd or 0.0
                for call in self._tables.calls.values()
                if (since is None or call.started_at >= since) and compaction_id in (None, call.compaction_id)
            ),
            0.0,
        )

    async def list_calls(
        self,
        *,
        user_id: UserId | None = None,
        session_id: SessionId | None = None,
        compaction_id: CompactionId | None = None,
        after: str | None = None,
        limit_count: int,
    ) -> list[ModelCall]:
        """Calls in the order of their recording, after the given one."""
        calls = _list_after(self._tables.calls, after)
        matching = (
            call
            for call in calls
            if user_id in (None, call.user_id)
            and session_id in (None, call.session_id)
            and compaction_id in (None, call.compaction_id)
        )
        return list(islice(matching, limit_count))


def _list_after(calls: dict[str, ModelCall], after: str | None) -> Iterator[ModelCall]:
    rest = iter(calls.values())
    if after is not None:
        if after not in calls:
            raise NotFoundError(f"no call has the id {after!r}; use one that was listed", call=after)
        next(call for call in rest if call.id == after)
    return rest
