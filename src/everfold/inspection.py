"""The Inspection handle: what an operator does with one session, and no turn needs."""

from collections.abc import Sequence

from everfold.core.compaction.planning import list_noted
from everfold.core.compaction.record import Compaction
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.state import SessionState
from everfold.core.log.transcripts import TranscriptMessage
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.ids import CompactionId
from everfold.core.primitives.listing import require_page_size
from everfold.core.text.frames import continuity_note
from everfold.core.windows.rendering import Provider
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.check_arguments import checked
from everfold.services.inspection.inspect_session import Inspector, LogStrips
from everfold.services.inspection.replay import Replay
from everfold.services.inspection.strips import preview_strip
from everfold.services.inspection.trace import Trace, trace_session
from everfold.services.memory.explain_recall import RecallExplained, explain_recall
from everfold.services.memory.recollect import Recollector, list_shown
from everfold.services.sessions.import_transcript import read_messages
from everfold.services.sessions.list_compactions import find_own_compaction
from everfold.services.sessions.live import LiveSession
from everfold.services.turns.background import Background


@checked
class Inspection(Inspector):
    """One session for operators: its state, compactions and calls, with retry, cancel and replay.

    Get one from `Session.inspect`.
    """

    def __init__(
        self,
        *,
        store: Store,
        live: LiveSession,
        background: Background,
        clock: Clock,
        recollector: Recollector | None = None,
    ) -> None:
        super().__init__(store=store, live=live)
        self._background = background
        self._clock = clock
        self._recollector = recollector  # for a replay's windows, as for the session's own; None where recall is off

    @property
    def calibration(self) -> Calibration:
        """The calibration as it was when the session was last read."""
        return self._live.state.calibration

    def budget(self, limit: int | None = None) -> UsableBudget:
        """The parts of the context limit, or of a lower one, in the provider's tokens.

        Raises:
            InvalidInputError: the limit is not a positive whole number.
        """
        return self._live.budget(limit).count(self.calibration)

    async def state(self) -> SessionState:
        """The state of the session, read now."""
        await self._live.reload(self._store)
        return self._live.state

    async def explain_recall(self, question: str) -> RecallExplained:
        """Tell which messages recall would bring into the next window for a question, and why not the others.

        Args:
            question: What the user would say next.
        """
        await self._live.reload(self._store)
        policy = self._recollector.policy if self._recollector is not None else None
        return await explain_recall(
            self._store,
            question,
            policy,
            shown=await list_shown(self._store, self._live),
            now=self._clock.now(),
            has_folded=any(shown.digest_id for shown in self._live.layout.ranges),
        )

    async def note(self) -> str:
        """The continuity note of the next turn; empty when no digest is being written."""
        await self._live.reload(self._store)
        noted = list_noted(self._live.state.awaited, self._live.layout)
        return continuity_note([(one.first_seq, one.last_seq) for one in noted])

    async def hurry(self) -> None:
        """Stop an append that waits for context sources; late answers join the next turn."""
        if (refresher := self._background.worker.refresher) is not None:
            refresher.hurry(self._live.record.id)

    async def trace(self) -> Trace:
        """What became of every message at every compaction, for pictures and reviews. O(messages x compactions)."""
        return await trace_session(self._store, self._live)

    async def preview_strips(self, *, limit: int) -> LogStrips:
        """The log as a lower context limit would fold it, as one strip. Nothing is written, and no model is called.

        Raises:
            InvalidInputError: the limit is no positive whole number.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        strip = await preview_strip(self._store, self._live, self._background.worker, limit_tokens=limit)
        return LogStrips(last_seq=self._live.state.last_seq, strips=(strip,))

    async def compactions(self, *, after_ordinal: int = 0, limit: int = 100) -> list[Compaction]:
        """The compactions of this session, oldest first.

        Args:
            after_ordinal: The ordinal of the last compaction of the page before.
            limit: How many; more where the last ones have one ordinal, as cancelled ones have with the one after them.
        """
        return await self._store.list_compactions(
            self._live.record.id, after_ordinal=after_ordinal, limit_count=require_page_size(limit)
        )

    async def calls(
        self, *, compaction: str | None = None, after: str | None = None, limit: int = 100
    ) -> list[ModelCall]:
        """List the model calls for this session, oldest first: tokens, cost, and how each call ended.

        Args:
            compaction: Only calls for this compaction.
            after: The last id of the page before.
            limit: How many at most.

        Raises:
            NotFoundError: no call has the id `after`.
        """
        record = self._live.record
        return await self._store.list_calls(
            user_id=record.user_id,
            session_id=record.id if compaction is None else None,
            compaction_id=None if compaction is None else CompactionId(compaction),
            after=after,
            limit_count=require_page_size(limit),
        )

    async def retry(self, compaction_id: str) -> Compaction:
        """Write the digest of a degraded compaction again, now, and return the compaction.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not degraded, was begun by another session, or its range has joined the rollup
                since.
        """
        await find_own_compaction(self._store, self._live.record, compaction_id)
        worker = self._background.worker
        await worker.compactor(self._live).committer.reopen(compaction_id)
        await worker.work(self._live)
        return await self._store.get_compaction(CompactionId(compaction_id))

    async def cancel(self, compaction_id: str) -> list[CompactionId]:
        """Cancel a pending compaction and those after it. No message was removed.

        Raises:
            NotFoundError: the session's log has no such compaction.
            ConflictError: it is not held: it has ended, or its digest is shown already.
        """
        await find_own_compaction(self._store, self._live.record, compaction_id)
        return await self._background.worker.compactor(self._live).committer.cancel(compaction_id)

    def replay(self, messages: Sequence[TranscriptMessage], *, provider: Provider = "openai") -> Replay:
        """Replay a transcript into this session message by message, and measure the result.

        Run `turns()` of the result to its end, then call `report()`.

        Raises:
            InvalidInputError: one of them is no message; with `line`. Or there is no such provider.
        """
        require_choice("provider", provider, Provider)
        return Replay(
            self._store,
            self._live,
            self._background,
            read_messages(messages, now=self._clock.now()),
            provider=provider,
            recollector=self._recollector,
        )
