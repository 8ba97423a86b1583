"""Commit: what a compaction begins, and every way in which it ends, one transaction each.

Whatever loses to another writer reads the session again and decides again; it gives None when what it wanted to do was
done or made moot by somebody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from everfold.core.drafts import Draft
from everfold.core.events import CompactionEvent, Outcome, WorkState
from everfold.core.folding import Fold, fold, fold_stepwise, report_later
from everfold.core.happenings import (
    CompactionBegun,
    CompactionCancelled,
    CompactionCommitted,
    CompactionDegraded,
    CompactionRevised,
    Happening,
    LatchSet,
)
from everfold.core.messages import Note
from everfold.core.planning import LATCH_COUNT, CompactionPlan, measure_notes, measure_replaced, measure_window
from everfold.core.pools import CoarsePool
from everfold.core.revising import find_shown, fold_revision, measure_ahead, plan_revision
from everfold.core.sessions import EventId
from everfold.core.spans import COMPACTION_BEGIN, COMPACTION_COMMIT, describe_event, describe_report
from everfold.core.state import Awaited, SessionState
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.live import LiveSession
from everfold.services.observers import Observers
from everfold.services.pausing import finish_pausing

Base = tuple[str, int]
"""The event whose layout is in force, and the epoch."""

MOST_PREPARED = 256
"""How many folds are kept ahead in one process; each takes some ten kilobytes."""


@dataclass(slots=True, kw_only=True)
class Committer:
    """Begins and ends the events of one session.

    Attributes:
        prepared: Extractive folds of held events that were made ahead, of all sessions, with what they were made over.
        is_preview: Change what is remembered, never the store.
        is_beside_turns: Let others through between the steps of a fold.
    """

    store: Store
    live: LiveSession
    clock: Clock
    ids: Ids
    observers: Observers = field(default_factory=Observers)
    prepared: dict[str, tuple[Base, Fold]] = field(default_factory=dict)
    is_preview: bool = False
    is_beside_turns: bool = False

    async def begin(self, plan: CompactionPlan, *, digest: WorkState, extraction: WorkState) -> CompactionEvent:
        """Store an event that holds its messages in the window until it is committed.

        Raises:
            ConflictError: the session has moved on since the plan was made.
        """
        live = self.live
        ordinal = live.state.events_count + len(live.state.held_events) + 1
        event = CompactionEvent(
            id=EventId(f"preview_{ordinal}" if self.is_preview else self.ids.new_id("evt_")),
            session_id=live.record.id,
            ordinal=ordinal,
            state="pending",
            plan=plan,
            begun_at=self.clock.now(),
            digest=digest,
            extraction=extraction,
        )
        state = replace(live.state, revision=live.state.revision + 1, held_events=(*live.state.held_events, event.id))
        if not self.is_preview:
            with self.observers.tracer.span(COMPACTION_BEGIN, describe_event(event)):
                await self.store.begin_compaction(event, state, expected_revision=live.state.revision)
        live.state = state
        live.held[event.id] = event
        self._tell(
            CompactionBegun(
                session_id=live.record.id,
                event_id=event.id,
                ordinal=ordinal,
                trigger=plan.trigger,
                first_seq=plan.first_seq,
                last_seq=plan.last_seq,
                folded_count=len(plan.folded),
            )
        )
        return event

    def _tell(self, happening: Happening) -> None:
        if not self.is_preview:
            self.observers.feed.publish(happening)

    async def commit(
        self,
        event: CompactionEvent,
        *,
        outcome: Outcome | None,
        draft: Draft | None = None,
        notes: Sequence[Note] = (),
        is_patient: bool = False,
    ) -> Fold | None:
        """Put the first held event's layout in force. None when it is not the first held one any more.

        Args:
            event: The event.
            outcome: How it ends; None when its range stands under a continuity note from now on.
            draft: The model's digest; an extractive one is made when left out.
            notes: Notes that are known already.
            is_patient: Whether the model's digest, where it is still to come, waits for the next break.
        """
        if self.is_preview:
            return await self._commit(event, outcome, draft, notes, is_patient=is_patient)
        with self.observers.tracer.span(COMPACTION_COMMIT, describe_event(event)) as span:
            done = await self._commit(event, outcome, draft, notes, is_patient=is_patient)
            span.set_attributes({} if done is None else describe_report(done.report))
        return done

    async def _commit(
        self,
        event: CompactionEvent,
        outcome: Outcome | None,
        draft: Draft | None,
        notes: Sequence[Note],
        *,
        is_patient: bool,
    ) -> Fold | None:
        live = self.live
        done: Fold | None = None
        base: object = None
        while live.state.held_events[:1] == (event.id,):
            if draft is not None and draft.epoch != live.state.epoch:
                return None  # it may hold words that were erased since
            if done is None or base != self._base:
                base = self._base
                done = self._take_prepared(event, draft) or await self._fold(event, notes, draft)
            done = report_later(
                done,
                event.plan,
                live.layout,
                tokens_before=measure_window(live.state, live.layout),
                replaced_tokens=measure_replaced(live.state, live.layout, through=event.plan.last_seq),
            )
            state = self._state_after(done, event, draft)
            if outcome is None:
                one = Awaited(event.id, event.plan.first_seq, event.plan.last_seq, is_patient)
                state = replace(state, awaited=(*state.awaited, one))
            if self.is_preview or await self._try_commit(event, done, state, outcome):
                cost_usd = None if draft is None else draft.cost_usd
                self._tell_committed(event, done, before=live.state, after=state, cost_usd=cost_usd)
                self._take(done, state)
                if outcome is not None:
                    self._tell_degraded(event, outcome)
                return done
            notes = ()
        return None

    def _tell_committed(
        self,
        event: CompactionEvent,
        done: Fold,
        *,
        before: SessionState,
        after: SessionState,
        cost_usd: float | None,
    ) -> None:
        live = self.live
        fine = next((digest for digest in done.digests if digest.kind == "fine"), None)
        self._tell(
            CompactionCommitted(
                session_id=live.record.id,
                event_id=event.id,
                generator=fine.generator if fine else "extractive",
                report=done.report,
                elapsed_secs=(self.clock.now() - event.begun_at).total_seconds(),
                cost_usd=cost_usd,
            )
        )
        if before.stuck_count < LATCH_COUNT <= after.stuck_count:
            self._tell(
                LatchSet(
                    session_id=live.record.id,
                    window_tokens=done.report.tokens_after,
                    trigger_tokens=live.room().trigger_tokens,
                )
            )

    def _tell_degraded(self, event: CompactionEvent, outcome: Outcome) -> None:
        if outcome.state == "degraded":
            reason = "digest" if outcome.digest == "failed" else "extraction"
            self._tell(
                CompactionDegraded(
                    session_id=event.session_id, event_id=event.id, attempts_count=event.attempts, reason=reason
                )
            )

    async def _try_commit(
        self, event: CompactionEvent, done: Fold, state: SessionState, outcome: Outcome | None
    ) -> bool:
        try:
            await self.store.commit_compaction(
                event.id,
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

    def _state_after(self, done: Fold, event: CompactionEvent, draft: Draft | None) -> SessionState:
        live, report = self.live, done.report
        state = live.state
        grown = max(report.tokens_before - event.plan.tokens_before, 0)
        stuck = state.stuck_count
        if event.plan.trigger != "manual":
            stuck = stuck + 1 if report.tokens_after - grown >= live.room().trigger_tokens else 0
        return replace(
            state.without_replaced(event.plan.last_seq).with_break(
                f"compaction: {event.plan.trigger}", report.break_cost_tokens
            ),
            revision=state.revision + 1,
            event_id=event.id,
            events_count=state.events_count + 1,
            held_events=tuple(id_ for id_ in state.held_events if id_ != event.id),
            succeeded_at=state.succeeded_at if self.is_preview else self.clock.now(),
            growth=state.growth if draft is None else state.growth.digested(draft.digest_secs),
            stuck_count=stuck,
        )

    @property
    def _base(self) -> Base:
        """What a fold is carried out over: it stands as long as this does."""
        return self.live.state.event_id, self.live.state.epoch

    async def prepare(self, event: CompactionEvent) -> None:
        """Make the extractive fold of the first held event ahead, so that an overflow has only to write it."""
        base = self._base
        if self.live.state.held_events[:1] != (event.id,) or self.prepared.get(event.id, (None,))[0] == base:
            return
        if len(self.prepared) >= MOST_PREPARED:
            self.prepared.pop(next(iter(self.prepared)))
        self.prepared[event.id] = (base, await self._fold(event, (), None))

    def _take_prepared(self, event: CompactionEvent, draft: Draft | None) -> Fold | None:
        base, prepared = self.prepared.pop(event.id, (None, None))
        return prepared if draft is None and base == self._base else None

    async def _fold(self, event: CompactionEvent, known: Sequence[Note], draft: Draft | None) -> Fold:
        """The event's plan carried out over the layout in force; notes that are known are not read again."""
        live, plan = self.live, event.plan
        coarse = live.layout.coarse
        joined_from = coarse.last_seq + 1 if coarse else 1
        seqs = {*plan.leaving, *range(plan.first_seq, plan.last_seq + 1)}
        seqs.update(range(joined_from, plan.join_through + 1))
        notes = {note.seq: note for note in known if note.seq in seqs}
        missing = sorted(seqs - notes.keys())
        if missing:
            notes.update({note.seq: note for note in await self.store.read_notes(live.record.id, missing)})
        pool = await self._pool(plan)
        if not self.is_beside_turns:
            return fold(plan, live.layout, notes, pool, event_id=event.id, draft=draft)
        steps = fold_stepwise(plan, live.layout, notes, pool, event_id=event.id, draft=draft)
        return await finish_pausing(steps)

    async def _pool(self, plan: CompactionPlan) -> CoarsePool | None:
        coarse = self.live.layout.coarse
        if coarse is None or not plan.join_through:
            return None
        digests = await self.live.load_digests(self.store, [coarse.digest_id])
        return digests[coarse.digest_id].pool

    def _take(self, done: Fold, state: SessionState) -> None:
        self.live.layout = done.layout
        self.live.state = state
        self.live.digests.update({digest.id: digest for digest in done.digests})

    async def revise(self, event: CompactionEvent, draft: Draft, *, outcome: Outcome | None) -> Fold | None:
        """Put the model's digest in the place of the one that stands for the event's range.

        Without an outcome the event goes on for its extraction. None when the digest has been rolled up, or words of it
        were erased: then nothing is changed.
        """
        with self.observers.tracer.span(COMPACTION_COMMIT, describe_event(event)) as span:
            done = await self._revise(event, draft, outcome)
            span.set_attributes({} if done is None else describe_report(done.report))
        return done

    async def _revise(self, event: CompactionEvent, draft: Draft, outcome: Outcome | None) -> Fold | None:
        live = self.live
        while draft.epoch == live.state.epoch and event.certificate is not None:
            shown = find_shown(live.layout, event.plan.first_seq, event.plan.last_seq)
            if shown is None or not shown.digest_id:
                return None
            before = (await live.load_digests(self.store, [shown.digest_id]))[shown.digest_id]
            plan = plan_revision(
                event.plan,
                live.layout,
                tokens_before=measure_window(live.state, live.layout),
                replaced_tokens=measure_replaced(live.state, live.layout, through=live.layout.watermark),
            )
            revision = self._revision(event, plan)
            done = fold_revision(plan, live.layout, draft, before, event.certificate, event_id=revision.id)
            state = self._state_revised(done, revision, event if outcome else None, draft)
            try:
                await self.store.revise_compaction(
                    event.id, revision, done, state, expected_revision=live.state.revision, outcome=outcome
                )
            except ConflictError:
                revision_before = live.state.revision
                await live.reload(self.store)
                if live.state.revision == revision_before:
                    return None  # another worker has ended the event
                continue
            live.held.clear()  # held events have moved up behind the revision
            self._take(done, state)
            self._tell(
                CompactionRevised(
                    session_id=live.record.id,
                    event_id=event.id,
                    tokens_before=done.report.tokens_before,
                    tokens_after=done.report.tokens_after,
                    break_cost_tokens=done.report.break_cost_tokens,
                    cost_usd=draft.cost_usd,
                )
            )
            if outcome is not None:
                self._tell_degraded(event, outcome)
            return done
        return None

    def _revision(self, event: CompactionEvent, plan: CompactionPlan) -> CompactionEvent:
        now = self.clock.now()
        return CompactionEvent(
            id=EventId(self.ids.new_id("evt_")),
            session_id=self.live.record.id,
            ordinal=self.live.state.events_count + 1,
            state="done",
            plan=plan,
            begun_at=now,
            ended_at=now,
            digest="done",
            revises=event.id,
        )

    def _state_revised(
        self, done: Fold, revision: CompactionEvent, settled: CompactionEvent | None, draft: Draft
    ) -> SessionState:
        state = self.live.state
        awaited = state.awaited
        if settled is not None:
            awaited = tuple(one for one in awaited if one.event_id != settled.id)
        return replace(
            state.with_break("compaction: revision", done.report.break_cost_tokens),
            revision=state.revision + 1,
            event_id=revision.id,
            events_count=revision.ordinal,
            awaited=awaited,
            growth=state.growth.digested(draft.digest_secs),
        )

    async def settle(self, event: CompactionEvent, outcome: Outcome) -> bool:
        """End a committed event; the digest that stands for its range is final, and its continuity note goes.

        False when somebody else has ended it.
        """
        live = self.live
        while True:
            awaited = tuple(one for one in live.state.awaited if one.event_id != event.id)
            state = replace(live.state, revision=live.state.revision + 1, awaited=awaited)
            if measure_notes(live.state.awaited, live.layout) != measure_notes(awaited, live.layout):
                stable = measure_ahead(live.layout, event.plan.first_seq)
                state = state.with_break("compaction: settled", measure_window(state, live.layout) - stable)
            if await self._try_end(event.id, outcome, state):
                self._tell_degraded(event, outcome)
                return True
            if (await self.store.get_event(event.id)).has_ended:
                return False

    async def reopen(self, event_id: str) -> CompactionEvent:
        """Have a degraded event tried again; its range stands under a continuity note meanwhile.

        Raises:
            ConflictError: it is not degraded, or its range has joined the coarse digest since.
        """
        live = self.live
        while True:
            await live.reload(self.store)
            event = await self.store.get_event(EventId(event_id))
            self._require_retryable(event)
            one = Awaited(event.id, event.plan.first_seq, event.plan.last_seq)
            state = replace(live.state, revision=live.state.revision + 1, awaited=(*live.state.awaited, one))
            stable = measure_ahead(live.layout, event.plan.first_seq)
            state = state.with_break("compaction: retry", measure_window(state, live.layout) - stable)
            try:
                await self.store.reopen_event(event.id, state, expected_revision=live.state.revision)
            except ConflictError:
                continue
            live.state = state
            return await self.store.get_event(event.id)

    def _require_retryable(self, event: CompactionEvent) -> None:
        problem = ""
        if event.session_id != self.live.record.id:
            problem = f"it is an event of session {event.session_id}; retry it there"
        elif event.state != "degraded":
            problem = f"it is {event.state}; only a degraded event can be tried again"
        elif find_shown(self.live.layout, event.plan.first_seq, event.plan.last_seq) is None:
            problem = "its range has joined the coarse digest since, which is always extractive"
        if problem:
            raise ConflictError(
                f"event {event.id} of session {self.live.record.id}: {problem}",
                session=self.live.record.id,
                event=event.id,
            )

    async def cancel(self, event_id: str) -> list[EventId]:
        """Cancel a held event and every later held one of the session, the last first. Gives those cancelled.

        Raises:
            ConflictError: it is not held: it has ended, or its layout is in force.
        """
        live = self.live
        await live.reload(self.store)
        if event_id not in live.state.held_events:
            event = await self.store.get_event(EventId(event_id))
            raise ConflictError(
                f"event {event_id} of session {live.record.id} is {event.state}"
                f"{' and its digest is shown already' if event.is_committed else ''}; only a held event can be "
                "cancelled",
                session=live.record.id,
                event=event_id,
            )
        cancelled: list[EventId] = []
        while event_id in live.state.held_events:
            last = EventId(live.state.held_events[-1])
            outcome = Outcome(state="cancelled", digest="off")
            state = replace(live.state, revision=live.state.revision + 1, held_events=live.state.held_events[:-1])
            if await self._try_end(last, outcome, state):
                cancelled.append(last)
                self._tell(CompactionCancelled(session_id=live.record.id, event_id=last, reason="asked"))
        return cancelled

    async def release_latch(self) -> None:
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

    async def _try_end(self, event_id: EventId, outcome: Outcome, state: SessionState) -> bool:
        try:
            await self.store.end_event(
                event_id,
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
