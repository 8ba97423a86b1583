"""Calling an embedder: one attempt, bounded in time and money, and recorded with what it used.

Source: `everfold.services.models.call_model`, whose rules for records and caps hold here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import UserId
from everfold.core.recall.vectors import Vector
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import ModelReplyError
from everfold.ports.embedders import Embedded, Embedder
from everfold.ports.system import Clock, Ids
from everfold.ports.usage import UsageStore
from everfold.services.models.answer_in_time import answer_in_time
from everfold.services.models.spending import record_attempt, require_day_budget


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCaller:
    """Calls one embedder for a user.

    Attributes:
        per_day_usd: The cap on what all calls recorded in the store since midnight UTC may cost; none when None.
    """

    embedder: Embedder
    store: UsageStore
    clock: Clock
    ids: Ids
    per_day_usd: float | None = None

    async def call(
        self, texts: Sequence[str], *, user_id: UserId, is_query: bool, secs: float, attempt: int = 1
    ) -> list[Vector]:
        """A vector for each text, or one of our errors, whatever the embedder raises, sleeps or gives.

        Raises:
            OverBudgetError: the cap is reached; the embedder was not called.
            ModelUnavailableError: it could not be reached, or did not answer in time.
            RateLimitedError: the provider wants fewer requests.
            ContextLengthError: the texts are larger than it takes.
            ModelReplyError: the provider refused, or what came are not these vectors.
            StoreError: the attempt could not be recorded.
        """
        await require_day_budget(self.store, self.clock, self.per_day_usd)
        started_at = self.clock.now()

        async def record(outcome: str, reply: Embedded | None) -> None:
            await self.store.record_call(self._make_record(texts, user_id, attempt, started_at, outcome, reply))

        reply = await record_attempt(
            lambda: self._ask(texts, is_query=is_query, secs=secs), record, lambda _: "complete"
        )
        return reply.vectors

    async def _ask(self, texts: Sequence[str], *, is_query: bool, secs: float) -> Embedded:
        name = self.embedder.name

        async def embed() -> Embedded:
            reply = await self.embedder.embed(texts, is_query=is_query)
            _require_vectors(name, given_count=len(reply.vectors), asked_count=len(texts))
            return reply

        return await answer_in_time(embed, secs=secs, asked="the embedder", name=name, expected="vectors")

    def _make_record(
        self,
        texts: Sequence[str],
        user_id: UserId,
        attempt: int,
        started_at: datetime,
        outcome: str,
        reply: Embedded | None,
    ) -> ModelCall:
        tokens = 0
        if reply is not None:
            tokens = sum(map(estimate_text_tokens, texts)) if reply.input_tokens is None else reply.input_tokens
        return ModelCall(
            id=self.ids.new_id("call_"),
            user_id=user_id,
            session_id=None,
            compaction_id=None,
            purpose="embed",
            model=self.embedder.name,
            answered_by=reply.model if reply else "",
            call_number=attempt,
            started_at=started_at,
            duration_ms=max(self.clock.now() - started_at, timedelta(0)) // timedelta(milliseconds=1),
            outcome=outcome,
            input_tokens=tokens,
            cost_usd=reply.cost_usd if reply else None,
            is_uncounted=self.per_day_usd is not None and reply is not None and reply.cost_usd is None,
        )


def _require_vectors(name: str, *, given_count: int, asked_count: int) -> None:
    if given_count != asked_count:
        raise ModelReplyError(
            f"the embedder {name} gave {given_count} vectors for {asked_count} texts; expected one for each", model=name
        )
