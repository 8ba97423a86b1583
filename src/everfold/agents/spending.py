"""What the answers of a chat use: one record for each request, and the cap of a day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from everfold.agents.speaking import Draft
from everfold.core.log.sessions import SessionRecord
from everfold.core.observation.usage import ModelCall
from everfold.ports.system import Clock, Ids
from everfold.ports.usage import UsageStore
from everfold.services.models.spending import require_day_budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Records what a chat's model is asked. `per_day_usd` is None for no cap."""

    usage: UsageStore
    clock: Clock
    ids: Ids
    per_day_usd: float | None = None

    async def require_budget(self) -> None:
        """Refuse to ask when today's money is spent.

        Raises:
            OverBudgetError: it is.
        """
        await require_day_budget(self.usage, self.clock, self.per_day_usd)

    async def record(
        self, session: SessionRecord, draft: Draft, *, model: str, call_number: int, started_at: datetime, outcome: str
    ) -> None:
        """Keep what one request used, however it ended."""
        took = max(self.clock.now() - started_at, timedelta(0))
        await self.usage.record_call(
            ModelCall(
                id=self.ids.new_id("call_"),
                user_id=session.user_id,
                session_id=session.id,
                compaction_id=None,
                purpose="chat",
                model=model,
                answered_by=draft.answered_by,
                call_number=call_number,
                started_at=started_at,
                duration_ms=took // timedelta(milliseconds=1),
                outcome=outcome,
                input_tokens=draft.input_tokens,
                cached_tokens=draft.cached_tokens,
                output_tokens=draft.output_tokens,
                cost_usd=draft.cost_usd,
                is_uncounted=self.per_day_usd is not None and bool(draft.answered_by) and draft.cost_usd is None,
            )
        )
