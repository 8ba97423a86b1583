"""Claim: have a compaction for one worker alone, keep it while the work lasts, and give it back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import Progress, WorkPolicy
from everfold.core.observation.events import CompactionClaimed, CompactionReady, CompactionRetried
from everfold.core.observation.spans import COMPACTION_CLAIM, describe_compaction
from everfold.errors import ConflictError, StoreError
from everfold.ports.stores import Store
from everfold.services.telling.stream import Stream

STOPPED = "it was stopped: the engine was closed, or its caller was cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The compactions that one worker has, each under a lease."""

    store: Store
    policy: WorkPolicy
    stream: Stream

    async def claim(self, compaction: Compaction) -> Compaction | None:
        """The compaction, running under a lease; None when it has ended or another worker has it."""
        try:
            with self.stream.tracer.span(COMPACTION_CLAIM, describe_compaction(compaction)):
                claimed = await self.store.claim_compaction(compaction.id, secs=self.policy.lease_secs)
        except ConflictError:
            return None
        self.stream.publish(
            CompactionClaimed(session_id=claimed.session_id, compaction_id=claimed.id, attempt=claimed.attempts)
        )
        return claimed

    @asynccontextmanager
    async def renewing(self, compaction: Compaction) -> AsyncIterator[None]:
        """Renew the lease meanwhile. When the work is stopped, the compaction is given back at once."""
        renewing = asyncio.create_task(self._renew(compaction))
        try:
            yield
        except asyncio.CancelledError:
            await asyncio.shield(self._release(compaction, STOPPED, wait_secs=None))
            raise
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing

    async def keep(self, compaction: Compaction, progress: Progress) -> bool:
        """Store a draft before it is committed, so that a crash does not cost the model's work.

        False when the compaction is not this worker's any more: another one decides what it came to.
        """
        if progress.draft is None:
            try:
                await self._extend(compaction)
            except ConflictError:
                return False
            return True
        try:
            await self.store.keep_draft(
                compaction.id, progress.draft, attempt=compaction.attempts, extraction=progress.extraction
            )
        except ConflictError:
            return False  # the lease was lost, or words of it were erased
        self.stream.publish(
            CompactionReady(session_id=compaction.session_id, compaction_id=compaction.id, generator="abstractive")
        )
        return True

    async def retry_later(self, compaction: Compaction, progress: Progress) -> None:
        """Give a compaction back after an attempt that did not end it."""
        await self.put_off(compaction, progress.problem)
        if progress.outcome is None:
            self.stream.publish(
                CompactionRetried(
                    session_id=compaction.session_id,
                    compaction_id=compaction.id,
                    attempt=compaction.attempts,
                    reason="digest" if progress.digest == "pending" else "extraction",
                )
            )

    async def put_off(self, compaction: Compaction, problem: str) -> None:
        """Give a compaction back; it is not to be claimed before the grace period is over."""
        await self._release(compaction, problem, wait_secs=self.policy.grace_secs)

    async def _release(self, compaction: Compaction, problem: str, *, wait_secs: float | None) -> None:
        """Give a compaction back; nothing where it has ended or is another worker's."""
        with suppress(ConflictError):
            await self.store.release_compaction(
                compaction.id, attempt=compaction.attempts, problem=problem, wait_secs=wait_secs
            )

    async def _renew(self, compaction: Compaction) -> None:
        """Have the compaction for longer, until the lease is lost."""
        with suppress(ConflictError):
            while True:
                await asyncio.sleep(self.policy.lease_secs / 3)
                with suppress(StoreError):  # the lease is longer than one wait: it is asked for again
                    await self._extend(compaction)

    async def _extend(self, compaction: Compaction) -> None:
        await self.store.renew_compaction(compaction.id, attempt=compaction.attempts, secs=self.policy.lease_secs)
