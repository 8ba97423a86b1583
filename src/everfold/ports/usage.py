"""Usage: where calls of a model are recorded, so that spending can be seen and capped."""

from datetime import datetime
from typing import Protocol

from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId, SessionId, UserId


class UsageStore(Protocol):
    """What calls of a model used. Records are never changed, and hold no text of messages."""

    async def record_call(self, call: ModelCall) -> None:
        """Store the record of one call.

        Raises:
            ConflictError: a call with this id was recorded before.
        """
        ...

    async def sum_cost_usd(self, *, since: datetime | None = None, compaction_id: CompactionId | None = None) -> float:
        """The known cost of all calls since a moment, of one compaction, or both; 0 when there are none.

        A call of unknown cost counts 0.
        """
        ...

    async def list_calls(
        self,
        *,
        user_id: UserId | None = None,
        session_id: SessionId | None = None,
        compaction_id: CompactionId | None = None,
        after: str | None = None,
        limit_count: int,
    ) -> list[ModelCall]:
        """Calls in the order of their recording, after the one with the given id.

        Raises:
            NotFoundError: no such call has the id `after`.
        """
        ...
