"""Commit: what a compaction begins, and every way in which it ends, one transaction each.

Whatever loses to another writer reads the session again and decides again; it gives None when what it wanted to do was
done or made moot by another writer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from everfold.core.compaction.folding import Fold, fold_stepwise, report_later
from everfold.core.compaction.late_digests import find_shown, fold_late_digest, plan_late_digest
from everfold.core.compaction.planning import (
    BREAKER_COUNT,
    CompactionPlan,
    measure_let_go,
    measure_trigger,
    measure_window,
)
from everfold.core.compaction.record import Compaction, Outcome, drop_jobs, find_next_state
from everfold.core.compaction.transitions import COMPACTION, WorkState
from everfold.core.digests.drafts import Draft
from everfold.core.digests.pools import RollupPool
from everfold.core.log.messages import Note
from everfold.core.log.state import Awaited, SessionState
from everfold.core.observation.events import (
    BreakerOpened,
    CompactionBegun,
    CompactionCancelled,
    CompactionCommitted,
    CompactionDegraded,
    Event,
    LateDigestCommitted,
)
from everfold.core.observation.spans import COMPACTION_BEGIN, COMPACTION_COMMIT, describe_compaction, describe_report
from everfold.core.primitives.ids import CompactionId
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.pausing import finish_pausing
from everfold.services.telling.stream import Stream
from everfold.services.telling.tries import Tries

Base = tuple[str, int]
"""The compaction whose layout is in force, and the epoch."""

MOST_PREPARED = 256
"""How many folds are kept ahead in one process; each takes some ten kilobytes."""


@dataclass(slots=True, kw_only=True)
class Committer:
    """Begins and ends the compactions of one session.

    Attributes:
        prepared: Extractive folds of pending compactions that were made ahead, of all sessions, with what they were made over.
        is_preview: Change what is remembered, never the store.
        is_beside_turns: Let others through between the steps of a fold.
    """

    store: Store
    live: LiveSession
    clock: Clock
    ids: Ids
    stream: Stream = field(default_factory=Stream)
    prepared: dict[str, tuple[Base, Fold]] = field(default_factory=dict)
    is_preview: bool = False
    is_beside_turns: bool = False

    async def begin(self, plan: CompactionPlan, *, digest: WorkState, extraction: WorkState) -> Compaction:
        """Store a compaction that holds its messages in the window until it is committed.

        Raises:
            ConflictError: the session has moved on since the plan was made.
        """
        live = self.live
        ordinal = live.state.compactions_count + len(live.state.pending_compactions) + 1
        compaction = Compaction(
            id=CompactionId(f"preview_{ordinal}" if self.is_preview else self.ids.new_id("evt_")),
            session_id=live.record.id,
            ordinal=ordinal,
            state=COMPACTION["begin"][None],
            plan=plan,
            begun_at=self.clock.now(),
            digest=digest,
            extraction=extraction,
        )
        state = replace(
            live.state,
            revision=live.state.revision + 1,
            pending_compactions=(*live.state.pending_compactions, compaction.id),
        )
        if not self.is_preview:
            with self.stream.tracer.span(COMPACTION_BEGIN, describe_compaction(compaction)):
                await self.store.begin_compaction(compaction, state, expected_revision=live.state.revision)
        live.state = state
        live.held[compaction.id] = compaction
        self._tell(
            CompactionBegun(
                session_id=live.record.id,
                compaction_id=compaction.id,
                ordinal=ordinal,
                trigger=plan.trigger,
                first_seq=plan.first_seq,
                last_seq=plan.last_seq,
                folded_count=len(plan.folded),
            )
        )
        return compaction

    def _tell(self, compaction: Event) -> None:
        if not self.is_preview:
            self.stream.publish(compaction)

    async def commit(
        self,
        compaction: Compaction,
        *,
        outcome: Outcome | None,
        draft: Draft | None = None,
        notes: Sequence[Note] = (),
        is_patient: bool = False,
    ) -> Fold | None:
        """Put the first pending compaction's layout in force. None when it is not the first held one any more.

        Args:
            compaction: The compaction.
            outcome: How it ends; None when its range stands under a continuity note from now on.
            draft: The model's digest; an extractive one is made when left out.
            notes: Notes that are known already.
            is_patient: Whether the model's digest, where it is still to come, waits for the next break.
        """
        if self.is_preview:
            return await self._commit(compaction, outcome, draft, notes, is_patient=is_patient)
        with self.stream.tracer.span(COMPACTION_COMMIT, describe_compaction(compaction)) as span:
            done = await self._commit(compaction, outcome, draft, notes, is_patient=is_patient)
            span.set_attributes({} if done is None else describe_report(done.report.counted))
        return done

    async def _commit(
        self,
        compaction: Compaction,
        outcome: Outcome | None,
        draft: Draft | None,
        notes: Sequence[Note],
        *,
        is_patient: bool,
    ) -> Fold | None:
        live = self.live
        done: Fold | None = None
        base: object = None
        while live.state.pending_compactions[:1] == (compaction.id,):
            if draft is not None and draft.epoch != live.state.epoch:
                return None  # it may hold words that were erased since
            if done is None or base != self._base:
                base = self._base
                done = self._take_prepared(compaction, draft) or await self._fold(compaction, notes, draft)
            done = report_later(
                done,
                compaction.plan,
                live.layout,
                tokens_before=measure_window(live.state, live.layout),
                replaced_tokens=measure_let_go(
                    live.state, live.layout, done.layout.held, through=compaction.plan.last_seq
                ),
                calibration=live.state.calibration,
            )
            state = self._state_after(done, compaction, draft)
            if outcome is None:
                one = Awaited(compaction.id, compaction.plan.first_seq, compaction.plan.last_seq, is_patient)
                state = replace(state, awaited=(*state.awaited, one))
            if self.is_preview or await self._try_commit(compaction, done, state, outcome):
                cost_usd = None if draft is None else draft.cost_usd
                self._tell_committed(compaction, done, before=live.state, after=state, cost_usd=cost_usd)
                self._take(done, state)
                if outcome is not None:
                    self._tell_degraded(compaction, outcome)
                return done
            notes = ()
        return None

    def _tell_committed(
        self,
        compaction: Compaction,
        done: Fold,
        *,
        before: SessionState,
        after: SessionState,
        cost_usd: float | None,
    ) -> None:
        live = self.live
        fine = next((digest for digest in done.digests if digest.kind == "digest"), None)
        self._tell(
            CompactionCommitted(
                session_id=live.record.id,
                compaction_id=compaction.id,
                generator=fine.generator if fine else "extractive",
                report=done.report.counted,
                elapsed_secs=(self.clock.now() - compaction.begun_at).total_seconds(),
                cost_usd=cost_usd,
            )
        )
        if before.stuck_count < BREAKER_COUNT <= after.stuck_count:
            self._tell(
                BreakerOpened(
                    session_id=live.record.id,
                    window_tokens=done.report.counted.tokens_after,
                    trigger_tokens=live.budget().count(before.calibration).trigger_tokens,
                )
            )

    def _tell_degraded(self, compaction: Compaction, outcome: Outcome) -> None:
        if outcome.state == "degraded":
            reason = "digest" if outcome.digest == "failed" else "extraction"
            self._tell(
                CompactionDegraded(
                    session_id=compaction.session_id,
                    compaction_id=compaction.id,
                    attempts_count=compaction.attempts,
                    reason=reason,
                )
            )

    async def _try_commit(
        self, compaction: Compaction, done: Fold, state: SessionState, outcome: Outcome | None
    ) -> bool:
        try:
            await self.store.commit_compaction(
                compaction.id,
                done,
                state,
                expected_revision=self.live.state.revision,
                committed_at=self.clock.now(),
                outcome=outcome,
            )
        except ConflictError:
            await self.live.reload(self.store)
            return False
        return True

    def _state_after(self, done: Fold, compaction: Compaction, draft: Draft | None) -> SessionState:
        live, report = self.live, done.report
        state = live.state
        grown = max(report.tokens_before - compaction.plan.tokens_before, 0)
        stuck = state.stuck_count
        if compaction.plan.trigger != "manual":
            trigger_tokens = measure_trigger(live.state, live.settings.policy, live.budget())
            stuck = stuck + 1 if report.tokens_after - grown >= trigger_tokens else 0
        return replace(
            state.without_replaced(compaction.plan.last_seq).with_cache_break(
                f"compaction: {compaction.plan.trigger}", report.resent_tokens
            ),
            revision=state.revision + 1,
            compaction_id=compaction.id,
            compactions_count=state.compactions_count + 1,
            pending_compactions=tuple(id_ for id_ in state.pending_compactions if id_ != compaction.id),
            succeeded_at=state.succeeded_at if self.is_preview else self.clock.now(),
            growth=state.growth if draft is None else state.growth.digested(draft.digest_secs),
            stuck_count=stuck,
        )

    @property
    def _base(self) -> Base:
        """What a fold is carried out over: it stands as long as this does."""
        return self.live.state.compaction_id, self.live.state.epoch

    async def prepare(self, compaction: Compaction) -> None:
        """Make the extractive fold of the first pending compaction ahead, so that an overflow has only to write it."""
        base = self._base
        if (
            self.live.state.pending_compactions[:1] != (compaction.id,)
            or self.prepared.get(compaction.id, (None,))[0] == base
        ):
            return
        if len(self.prepared) >= MOST_PREPARED:
            self.prepared.pop(next(iter(self.prepared)))
        self.prepared[compaction.id] = (base, await self._fold(compaction, (), None))

    def _take_prepared(self, compaction: Compaction, draft: Draft | None) -> Fold | None:
        base, prepared = self.prepared.pop(compaction.id, (None, None))
        return prepared if draft is None and base == self._base else None

    async def _fold(self, compaction: Compaction, known: Sequence[Note], draft: Draft | None) -> Fold:
        """The compaction's plan carried out over the layout in force; notes that are known are not read again."""
        live, plan = self.live, compaction.plan
        rollup = live.layout.rollup
        joined_from = rollup.last_seq + 1 if rollup else 1
        seqs = {*plan.leaving, *(held.seq for held in plan.held), *range(plan.first_seq, plan.last_seq + 1)}
        seqs.update(held.asked.seq for held in plan.held if held.asked)
        seqs.update(range(joined_from, plan.join_through + 1))
        seqs.update(seq - 1 for seq in (plan.first_seq, *plan.leaving) if seq > 1)
        notes = {note.seq: note for note in known if note.seq in seqs}
        missing = sorted(seqs - notes.keys())
        if missing:
            notes.update({note.seq: note for note in await self.store.read_notes(live.record.id, missing)})
        pool = await self._pool(plan)
        steps = fold_stepwise(plan, live.layout, notes, pool, compaction_id=compaction.id, draft=draft)
        return await finish_pausing(steps)

    async def _pool(self, plan: CompactionPlan) -> RollupPool | None:
        rollup = self.live.layout.rollup
        if rollup is None or not plan.join_through:
            return None
        digests = await self.live.load_digests(self.store, [rollup.digest_id])
        return digests[rollup.digest_id].pool

    def _take(self, done: Fold, state: SessionState) -> None:
        self.live.layout = done.layout
        self.live.state = state
        self.live.digests.update({digest.id: digest for digest in done.digests})

    async def revise(self, compaction: Compaction, draft: Draft, *, outcome: Outcome | None) -> Fold | None:
        """Put the model's digest in the place of the one that stands for the compaction's range.

        Without an outcome the compaction stays open for its extraction. None when the digest has joined the rollup, or
        words of it were erased: then nothing is changed.
        """
        with self.stream.tracer.span(COMPACTION_COMMIT, describe_compaction(compaction)) as span:
            done = await self._revise(compaction, draft, outcome)
            span.set_attributes({} if done is None else describe_report(done.report.counted))
        return done

    async def _revise(self, compaction: Compaction, draft: Draft, outcome: Outcome | None) -> Fold | None:
        live = self.live
        while draft.epoch == live.state.epoch and compaction.certificate is not None:
            shown = find_shown(live.layout, compaction.plan.first_seq, compaction.plan.last_seq)
            if shown is None or not shown.digest_id:
                return None
            before = (await live.load_digests(self.store, [shown.digest_id]))[shown.digest_id]
            plan = plan_late_digest(
                compaction.plan,
                live.layout,
                tokens_before=measure_window(live.state, live.layout),
            )
            revision = self._revision(compaction, plan)
            done = fold_late_digest(plan, live.layout, draft, before, compaction.certificate, compaction_id=revision.id)
            done = replace(done, report=replace(done.report, calibration=live.state.calibration.factor))
            state = self._state_revised(done, revision, compaction if outcome else None, draft)
            try:
                await self.store.revise_compaction(
                    compaction.id, revision, done, state, expected_revision=live.state.revision, outcome=outcome
                )
            except ConflictError:
                revision_before = live.state.revision
                await live.reload(self.store)
                if live.state.revision == revision_before:
                    return None  # another worker has ended the compaction
                continue
            live.held.clear()  # pending compactions have moved up behind the revision
            self._take(done, state)
            self._tell(
                LateDigestCommitted(
                    session_id=live.record.id,
                    compaction_id=compaction.id,
                    tokens_before=done.report.counted.tokens_before,
                    tokens_after=done.report.counted.tokens_after,
                    resent_tokens=done.report.counted.resent_tokens,
                    cost_usd=draft.cost_usd,
                )
            )
            if outcome is not None:
                self._tell_degraded(compaction, outcome)
            return done
        return None

    def _revision(self, compaction: Compaction, plan: CompactionPlan) -> Compaction:
        now = self.clock.now()
        return Compaction(
            id=CompactionId(self.ids.new_id("evt_")),
            session_id=self.live.record.id,
            ordinal=self.live.state.compactions_count + 1,
            state=COMPACTION["revise"][None],
            plan=plan,
            begun_at=now,
            ended_at=now,
            digest="done",
            revises=compaction.id,
        )

    def _state_revised(
        self, done: Fold, revision: Compaction, settled: Compaction | None, draft: Draft
    ) -> SessionState:
        state = self.live.state
        awaited = state.awaited
        if settled is not None:
            awaited = tuple(one for one in awaited if one.compaction_id != settled.id)
        return replace(
            state.with_cache_break("compaction: revision", done.report.resent_tokens),
            revision=state.revision + 1,
            compaction_id=revision.id,
            compactions_count=revision.ordinal,
            awaited=awaited,
            growth=state.growth.digested(draft.digest_secs),
        )

    async def settle(self, compaction: Compaction, outcome: Outcome) -> bool:
        """End a committed compaction; the digest that stands for its range is final, and the next turn does not name it.

        False when another writer has ended it.

        Raises:
            ConflictError: other writers of the session were first until the deadline; recovery tries it again.
        """
        live = self.live
        tries = Tries(f"compaction {compaction.id}", session=live.record.id, compaction=compaction.id)
        while True:
            await tries.begin()
            awaited = tuple(one for one in live.state.awaited if one.compaction_id != compaction.id)
            state = replace(live.state, revision=live.state.revision + 1, awaited=awaited)
            if await self._try_end(compaction.id, outcome, state):
                self._tell_degraded(compaction, outcome)
                return True
            if (await self.store.get_compaction(compaction.id)).has_ended:
                return False

    async def reopen(self, compaction_id: str) -> Compaction:
        """Have a degraded compaction tried again; its range stands under a continuity note meanwhile.

        Raises:
            ConflictError: it is not degraded, its range has joined the rollup since, or other writers of the session were
                first until the deadline.
        """
        live = self.live
        tries = Tries(f"compaction {compaction_id}", session=live.record.id, compaction=compaction_id)
        while True:
            await tries.begin()
            await live.reload(self.store)
            compaction = await self.store.get_compaction(CompactionId(compaction_id))
            self._require_retryable(compaction)
            one = Awaited(compaction.id, compaction.plan.first_seq, compaction.plan.last_seq)
            state = replace(live.state, revision=live.state.revision + 1, awaited=(*live.state.awaited, one))
            try:
                await self.store.reopen_compaction(compaction.id, state, expected_revision=live.state.revision)
            except ConflictError:
                continue
            live.state = state
            return await self.store.get_compaction(compaction.id)

    def _require_retryable(self, compaction: Compaction) -> None:
        problem = ""
        if compaction.session_id != self.live.record.id:
            problem = f"it is a compaction of session {compaction.session_id}; retry it there"
        elif find_next_state(compaction, "reopen") is None:
            problem = f"it is {compaction.state}; only a degraded compaction can be tried again"
        elif find_shown(self.live.layout, compaction.plan.first_seq, compaction.plan.last_seq) is None:
            problem = "its range has joined the rollup since, which is always extractive"
        if problem:
            raise ConflictError(
                f"Compaction {compaction.id} of session {self.live.record.id}: {problem}",
                session=self.live.record.id,
                compaction=compaction.id,
            )

    async def cancel(self, compaction_id: str) -> list[CompactionId]:
        """Cancel a pending compaction and those after it, the last first. Gives those cancelled.

        Raises:
            ConflictError: it is not pending: it has ended, or its layout is in force, also by a commit that came first;
                or other writers of the session were first until the deadline.
        """
        live = self.live
        await live.reload(self.store)
        cancelled: list[CompactionId] = []
        tries = Tries(f"compaction {compaction_id}", session=live.record.id, compaction=compaction_id)
        while compaction_id in live.state.pending_compactions:
            await tries.begin()
            last = CompactionId(live.state.pending_compactions[-1])
            outcome = drop_jobs(await self.store.get_compaction(last), "cancelled")
            state = replace(
                live.state, revision=live.state.revision + 1, pending_compactions=live.state.pending_compactions[:-1]
            )
            if await self._try_end(last, outcome, state):
                cancelled.append(last)
                self._tell(CompactionCancelled(session_id=live.record.id, compaction_id=last, reason="asked"))
        if compaction_id not in cancelled:
            compaction = await self.store.get_compaction(CompactionId(compaction_id))
            raise ConflictError(
                f"Compaction {compaction_id} of session {live.record.id} is {compaction.state}"
                f"{' and committed' if compaction.is_committed else ''}. Only a pending compaction can be cancelled.",
                session=live.record.id,
                compaction=compaction_id,
            )
        return cancelled

    async def close_breaker(self) -> None:
        """Count no stuck compaction any more; left to the next window when another writer is first."""
        await self.write_state(replace(self.live.state, revision=self.live.state.revision + 1, stuck_count=0))

    async def write_state(self, state: SessionState) -> None:
        """Replace the state; where another writer was first it is read again instead."""
        live = self.live
        try:
            await self.store.write_state(live.record.id, state, expected_revision=live.state.revision)
        except ConflictError:
            await live.reload(self.store)
            return
        live.state = state

    async def _try_end(self, compaction_id: CompactionId, outcome: Outcome, state: SessionState) -> bool:
        try:
            await self.store.end_compaction(
                compaction_id,
                outcome,
                state,
                expected_revision=self.live.state.revision,
                ended_at=self.clock.now(),
            )
        except ConflictError:
            await self.live.reload(self.store)
            return False
        self.live.state = state
        return True
