"""Calling a model: bounded in time and money, retried once, and every attempt recorded.

A model is another program: whatever it raises, sleeps or answers, this gives a reply or one of our errors, and
leaves nothing running. The time limit holds for one attempt, so a call with one retry takes at most twice as long and
the wait between.

Caps are compared before each attempt with what the records say was spent: a call may pass a cap by its own cost, and
calls that run at once by theirs; none begins after that. A call of unknown cost counts nothing; where a cap is set, its
record says so (`is_uncounted`).
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import anyio

from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.errors import (
    EverfoldError,
    ModelError,
    RateLimitedError,
)
from everfold.ports.models import Model, ModelReply, ModelRequest
from everfold.ports.system import Clock, Ids
from everfold.ports.usage import UsageStore
from everfold.services.models.answer_in_time import answer_in_time
from everfold.services.models.ask_model import ask_model
from everfold.services.models.spending import record_attempt, refuse_above, require_day_budget
from everfold.services.telling.stream import Stream

BACKOFF_SECS = 1.0
"""The longest wait before the first retry; it doubles with each. About as long as providers ask for when they are busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCaller:
    """Calls one model for a session.

    Attributes:
        timeout_secs: How long one attempt may take.
        retries: How many attempts may follow the first, each only after an error that is `retryable`.
        per_compaction_usd: The cap on what one compaction may cost; none when None.
        per_day_usd: The cap on what all calls recorded in the store since midnight UTC may cost; none when None.
        sleep: Waits so many seconds between attempts.
        jitter: A number from 0 to 1, so that many callers do not come back at once.
    """

    model: Model
    store: UsageStore
    clock: Clock
    ids: Ids
    timeout_secs: float = 90.0
    retries: int = 1
    per_compaction_usd: float | None = None
    per_day_usd: float | None = None
    stream: Stream = field(default_factory=Stream)
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random

    async def call(
        self,
        request: ModelRequest,
        *,
        user_id: UserId,
        session_id: SessionId | None = None,
        compaction_id: CompactionId | None = None,
    ) -> ModelReply:
        """Ask the model; the reply may be cut off, refused or empty, which its `finish` and `text` say.

        Raises:
            OverBudgetError: a spend cap is reached; the model was not called.
            ModelUnavailableError: no attempt reached it, or none was answered in time.
            RateLimitedError: the provider wants fewer requests, also after the wait.
            ContextLengthError: the request is larger than the model takes.
            ModelReplyError: the provider refused it, or what came was no answer.
            StoreError: an attempt could not be recorded.
        """
        subject = _Subject(user_id=user_id, session_id=session_id, compaction_id=compaction_id)
        attempt = 1
        while True:
            await self._check_caps(compaction_id)
            try:
                return await self._attempt(request, subject, attempt)
            except EverfoldError as error:
                if not _may_come_back(error) or attempt > self.retries:
                    raise
            await self.sleep(BACKOFF_SECS * 2 ** (attempt - 1) * (1 + self.jitter()) / 2)
            attempt += 1

    async def _check_caps(self, compaction_id: CompactionId | None) -> None:
        if self.per_compaction_usd is not None and compaction_id is not None:
            spent = await self.store.sum_cost_usd(compaction_id=compaction_id)
            refuse_above("spend.per_compaction_usd", self.per_compaction_usd, spent, f"compaction {compaction_id}")
        await require_day_budget(self.store, self.clock, self.per_day_usd)

    async def _attempt(self, request: ModelRequest, subject: "_Subject", attempt: int) -> ModelReply:
        started_at = self.clock.now()

        async def record(outcome: str, reply: ModelReply | None) -> None:
            await self.store.record_call(self._make_record(request, subject, attempt, started_at, outcome, reply))

        return await record_attempt(lambda: self._ask(request, subject), record, lambda reply: reply.finish)

    async def _ask(self, request: ModelRequest, subject: "_Subject") -> ModelReply:
        ask = partial(
            ask_model,
            self.stream,
            self.model,
            request,
            session_id=subject.session_id,
            compaction_id=subject.compaction_id,
        )
        return await answer_in_time(
            ask, secs=self.timeout_secs, asked="the model", name=self.model.name, expected="an answer"
        )

    def _make_record(
        self,
        request: ModelRequest,
        subject: "_Subject",
        attempt: int,
        started_at: datetime,
        outcome: str,
        reply: ModelReply | None,
    ) -> ModelCall:
        is_capped = self.per_compaction_usd is not None or self.per_day_usd is not None
        took = max(self.clock.now() - started_at, timedelta(0))
        return ModelCall(
            id=self.ids.new_id("call_"),
            user_id=subject.user_id,
            session_id=subject.session_id,
            compaction_id=subject.compaction_id,
            purpose=request.purpose,
            model=self.model.name,
            answered_by=reply.model if reply else "",
            call_number=attempt,
            started_at=started_at,
            duration_ms=took // timedelta(milliseconds=1),
            outcome=outcome,
            input_tokens=reply.input_tokens if reply else 0,
            cached_tokens=reply.cached_tokens if reply else 0,
            output_tokens=reply.output_tokens if reply else 0,
            cost_usd=reply.cost_usd if reply else None,
            is_uncounted=is_capped and reply is not None and reply.cost_usd is None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What a call is made for."""

    user_id: UserId
    session_id: SessionId | None
    compaction_id: CompactionId | None


def _may_come_back(error: EverfoldError) -> bool:
    """Whether the same attempt may succeed later; a store that did not take its record is not the model's failure."""
    return error.retryable and isinstance(error, ModelError | RateLimitedError)
