"""Work: bring a session's compaction events to their end, beside its turns.

Theory of operation. One worker at a time is at a session in one process (the dispatcher sees to it), and one at an event
in all processes (the claim sees to it). The worker begins what is due, then goes through the events in their order: it
has the model's digest written and the extraction made, keeps the draft, and commits the first held event, or revises one
that was committed under a continuity note. An attempt that fails gives the event back for later; when the attempts are
exhausted the extractive digest is final and the event is degraded. Whatever stops a worker, at any step, the next one
goes on from what is stored.

Source: DESIGN section 3.2.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from time import monotonic

from everfold.core.drafts import Draft, name_refused
from everfold.core.events import CompactionEvent, Outcome, WorkState
from everfold.core.findings import hint_at
from everfold.core.folding import Fold
from everfold.core.happenings import CompactionClaimed, CompactionReady, CompactionRetried
from everfold.core.hooks import Hints
from everfold.core.messages import Message, Note
from everfold.core.planning import Demand
from everfold.core.revising import find_shown
from everfold.core.sessions import AgentId, EventId, SessionId, SessionRecord
from everfold.core.spans import COMPACTION_CLAIM, COMPACTION_DIGEST, describe_event
from everfold.errors import ConflictError, EverfoldError, HookError, StoreError
from everfold.ports.dispatch import Dispatcher
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.commit import Base, Committer
from everfold.services.compact import Abilities, Compactor
from everfold.services.live import Handover, LiveSession, load_session
from everfold.services.observers import Observers
from everfold.services.occasions import meet_cadence
from everfold.services.prepare import prepare_fold
from everfold.services.refresh import Refresher


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPolicy:
    """How background work is done. The fields are settings of the same name; see docs/reference/settings.md.

    Attributes:
        lease_secs: For how long a claimed event is a worker's own; renewed while it works.
        attempts: How often an event is tried before its extractive digest is final.
        grace_secs: How long a failed event waits for its next attempt.
        summary_timeout_secs: How long a person waits for a digest that they asked for.
        is_synchronous: Work is done by whoever finds it due, before the window is shown.
    """

    lease_secs: float = 180.0
    attempts: int = 3
    grace_secs: float = 600.0
    summary_timeout_secs: float = 90.0
    is_synchronous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one event's work is done on: exactly the messages that it folds, in order."""

    record: SessionRecord
    event: CompactionEvent
    messages: tuple[Message, ...]
    notes: tuple[Note, ...]
    epoch: int
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of a model's digest: a verified draft, or why there is none.

    Attributes:
        has_room: False where the range is too small for a model's text: nothing went wrong, and trying again changes
            nothing.
    """

    draft: Draft | None
    problem: str = ""
    has_room: bool = True


MOST_ATTEMPTS_AT_ONCE = 2
"""How many events of one session are tried at once in one process: the next one while a slow one is waited for."""

WriteDigest = Callable[[Task], Awaitable[Written]]
Extract = Callable[[Task], Awaitable[None]]


def _always(_: AgentId) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What an attempt has come to."""

    digest: WorkState
    extraction: WorkState
    draft: Draft | None = None
    problem: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """How the event ends; None while a piece is on its way."""
        if "pending" in {self.digest, self.extraction}:
            return None
        is_failed = "failed" in {self.digest, self.extraction}
        return Outcome(
            state="degraded" if is_failed else "done",
            digest=self.digest,
            extraction=self.extraction,
            problem=self.problem if is_failed or self.digest == "off" else name_refused(self.draft),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Works on the sessions of one store.

    Attributes:
        extract: Finds what is to be remembered in the messages of an event.
        extracts: For which agents it does: what their memory takes is hinted to whoever writes a digest.
        refresher: Asks the context sources; None where none is configured.
        handover: Takes what is done beside the turns, for the turns; the refresher's own where there is one.
        prepared: Folds that were made ahead.
        attempting: The events that are being tried, by session.
    """

    store: Store
    clock: Clock
    ids: Ids
    dispatcher: Dispatcher
    policy: WorkPolicy = field(default_factory=WorkPolicy)
    write_digest: WriteDigest | None = None
    extract: Extract | None = None
    extracts: Callable[[AgentId], bool] = _always
    refresher: Refresher | None = None
    handover: Handover = field(default_factory=Handover)
    observers: Observers = field(default_factory=Observers)
    prepared: dict[str, tuple[Base, Fold]] = field(default_factory=dict)
    attempting: defaultdict[SessionId, set[EventId]] = field(default_factory=lambda: defaultdict(set))

    @property
    def abilities(self) -> Abilities:
        """Which parts of an event's work this worker can do besides the extractive digest."""
        return Abilities(
            has_model=self.write_digest is not None,
            has_extractor=self.extract is not None,
            has_hooks=self.observers.coordinator.is_asked_before_folds,
        )

    def compactor(self, live: LiveSession, *, is_preview: bool = False, is_beside_turns: bool = False) -> Compactor:
        """What plans and carries out the compactions of a session."""
        committer = Committer(
            store=self.store,
            live=live,
            clock=self.clock,
            ids=self.ids,
            observers=self.observers,
            prepared=self.prepared,
            is_preview=is_preview,
            is_beside_turns=is_beside_turns,
        )
        abilities = self.abilities
        if abilities.has_extractor and not self.extracts(live.record.agent_id):
            abilities = abilities._replace(has_extractor=False)
        return Compactor(store=self.store, live=live, committer=committer, abilities=abilities)

    def wake(self, session_id: SessionId) -> None:
        """Have a session worked on soon, beside the turns; what takes a model's time is done beside that."""
        self.dispatcher.submit(session_id, partial(self._work_session, session_id))

    async def _work_session(self, session_id: SessionId) -> None:
        live = await self._load(session_id)
        await self.work(live, is_inline=False)
        self.handover.leave(live)

    async def _work_event(self, session_id: SessionId, event_id: EventId) -> None:
        try:
            compactor = self.compactor(await self._load(session_id), is_beside_turns=True)
            await self._attempt(compactor, await self.store.get_event(event_id))
        finally:
            self.attempting[session_id].discard(event_id)
            if not self.attempting[session_id]:
                del self.attempting[session_id]
        self.wake(session_id)

    def _submit_attempt(self, event: CompactionEvent) -> None:
        """Have an event tried beside the session's other work, where the session has no more than enough of it."""
        attempting = self.attempting.get(event.session_id, set())
        if event.id not in attempting and len(attempting) < MOST_ATTEMPTS_AT_ONCE:
            self.attempting[event.session_id].add(event.id)
            self.dispatcher.submit(event.id, partial(self._work_event, event.session_id, event.id))

    async def _load(self, session_id: SessionId) -> LiveSession:
        return await load_session(self.store, await self.store.get_session(session_id))

    async def work_now(self, live: LiveSession, demand: Demand) -> list[Fold]:
        """A compaction that somebody asked for and waits for, and what had been begun before it.

        Where a digest is not there in time the extractive one stands in its place, and the model's comes later.

        Raises:
            HookError: strict, and no checkpoint succeeded; what was begun stays held.
        """
        compactor = self.compactor(live)
        await live.reload(self.store)
        compactor.require_room()
        folds: list[Fold] = []
        while (plan := (await compactor.plan(demand=demand))[0]) is not None:
            try:
                event = await compactor.begin(plan)
            except ConflictError:
                await live.reload(self.store)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self.policy.summary_timeout_secs):
                    folds += await self.work(live)
            await live.reload(self.store)
            while event.id in live.state.held_events:
                if self.observers.coordinator.is_strict:
                    await self._prepare(live, await self.store.get_event(EventId(live.state.held_events[0])))
                done = await compactor.promote()
                folds += [] if done is None else [done]
            if plan.last_seq >= live.state.last_seq - demand.keep_recent:
                break
        compactor.require_fit()
        return folds

    async def work(self, live: LiveSession, *, is_inline: bool = True) -> list[Fold]:
        """Do what there is to do for a session, and give what was committed.

        Ends when nothing is due, or what is left waits for others or for later. What takes a model's time is waited for
        only inline.
        """
        compactor = self.compactor(live, is_beside_turns=not is_inline)
        folds: list[Fold] = []
        is_moving = True
        while is_moving:
            await live.reload(self.store)
            is_moving = await meet_cadence(compactor, self.refresher, is_inline=is_inline)
            is_moving = bool(await compactor.hold()) or is_moving
            for event_id in (*(one.event_id for one in live.state.awaited), *live.state.held_events):
                done, has_moved = await self._advance(compactor, EventId(event_id), is_inline=is_inline)
                folds += [] if done is None else [done]
                is_moving = is_moving or has_moved
        await compactor.release_latch()
        return folds

    async def upgrade(self, live: LiveSession) -> None:
        """Show the digests that wait for a break, since one is to be reported anyway."""
        for one in live.state.awaited:
            event = await self.store.get_event(EventId(one.event_id))
            if one.is_patient and event.state == "ready":
                await self._finish(self.compactor(live), event, _result_of(event))

    async def _advance(self, compactor: Compactor, event_id: EventId, *, is_inline: bool) -> tuple[Fold | None, bool]:
        """Take one event a step further: what was committed, and whether anything moved."""
        event = await self.store.get_event(event_id)
        if event.has_ended:
            return None, False
        if event.state == "ready":
            return await self._finish(compactor, event, _result_of(event))
        if not self.abilities.has_hooks:  # else an attempt is made, so that they see what was folded
            event = _without_moot_digest(compactor.live, event)
        if "pending" not in {event.digest, event.extraction}:
            return await self._commit_extractive(compactor, event)
        if not event.is_committed and self.abilities.has_model and not self._may_wait(compactor):
            promoted = await compactor.promote(is_patient=True)
            return promoted, promoted is not None
        is_due = event.lease_until is None or event.lease_until < self.clock.now()
        if is_inline:
            return await self._attempt(compactor, event) if is_due else (None, False)
        if not event.is_committed:
            await compactor.committer.prepare(event)
        if is_due:
            self._submit_attempt(event)
        return None, False

    def _may_wait(self, compactor: Compactor) -> bool:
        """Whether a held event can be left held while a model writes.

        Where turns wait for the work the log does not grow meanwhile, and where plug-ins are to see what is folded
        first, only an overflow goes before them.
        """
        return self.policy.is_synchronous or self.abilities.has_hooks or compactor.may_wait()

    async def _commit_extractive(self, compactor: Compactor, event: CompactionEvent) -> tuple[Fold | None, bool]:
        """An event without a model: hooks first, then its extractive digest, where it does not stand already."""
        if event.plan.folded and self.abilities.has_hooks:
            try:
                await self._prepare(compactor.live, event)
            except HookError:
                return None, False  # strict: the transcript stays unfolded until a checkpoint succeeds
        return await self._finish(compactor, event, _result_of(event))

    async def _attempt(self, compactor: Compactor, event: CompactionEvent) -> tuple[Fold | None, bool]:
        now = self.clock.now()
        try:
            with self.observers.tracer.span(COMPACTION_CLAIM, describe_event(event)):
                event = await self.store.claim_event(event.id, now=now, lease_until=now + self._lease)
        except ConflictError:
            return None, False
        self.observers.feed.publish(
            CompactionClaimed(session_id=event.session_id, event_id=event.id, attempt=event.attempts)
        )
        renewing = asyncio.create_task(self._renew(event))
        try:
            result = await self._do(compactor.live, event)
        except asyncio.CancelledError:
            await asyncio.shield(self._release(event, STOPPED, wait_secs=None))
            raise
        except HookError as error:
            await self._release(event, str(error), wait_secs=self.policy.grace_secs)
            return None, False
        finally:
            renewing.cancel()
            with suppress(asyncio.CancelledError):
                await renewing
        if not await self._keep(event, result):
            return None, False
        done, has_moved = await self._finish(compactor, event, result)
        if result.outcome is None or not has_moved:
            await self._retry_later(event, result)
            return done, False
        return done, has_moved

    async def _do(self, live: LiveSession, event: CompactionEvent) -> _Result:
        """Everything that an attempt does before it commits."""
        is_last = event.attempts >= self.policy.attempts
        if event.attempts > self.policy.attempts:
            return _Result(digest="failed", extraction=_failed(event.extraction), problem=event.problem or DIED)
        event = _without_moot_digest(live, event)
        task = await self._task(live, event)
        hints = (await self._prepare(live, event)).text if self.abilities.has_hooks else ""
        if event.digest == "pending" and self.extracts(live.record.agent_id):
            hints = "\n".join(filter(None, (hint_at(task.messages, session_id=live.record.id), hints)))
        task = replace(task, hint=hints)
        result = _Result(digest=event.digest, extraction=event.extraction, problem=event.problem)
        if event.digest == "pending":
            result = await self._digest(task, result, is_last=is_last)
        if event.extraction == "pending":
            result = await self._extract(task, result, is_last=is_last)
        return result

    async def _digest(self, task: Task, result: _Result, *, is_last: bool) -> _Result:
        if self.write_digest is None:
            return replace(result, digest="failed", problem="no model is configured")
        started = monotonic()
        try:
            with self.observers.tracer.span(COMPACTION_DIGEST, describe_event(task.event)):
                written = await self.write_digest(task)
        except EverfoldError as error:
            return replace(result, digest="failed" if is_last else "pending", problem=str(error))
        if written.draft is None:
            return replace(result, digest="failed" if written.has_room else "off", problem=written.problem)
        return replace(result, digest="done", draft=replace(written.draft, digest_secs=monotonic() - started))

    async def _extract(self, task: Task, result: _Result, *, is_last: bool) -> _Result:
        if self.extract is None:
            return replace(result, extraction="failed", problem="no extraction is configured")
        try:
            await self.extract(task)
        except EverfoldError as error:
            return replace(result, extraction="failed" if is_last else "pending", problem=str(error))
        return replace(result, extraction="done")

    async def _prepare(self, live: LiveSession, event: CompactionEvent) -> Hints:
        """Let the plug-ins see what is folded, before anything leaves.

        Raises:
            HookError: strict, and no checkpoint succeeded.
        """
        return await prepare_fold(self.observers.coordinator, self.store, live.record, event)

    async def _task(self, live: LiveSession, event: CompactionEvent) -> Task:
        state = await self.store.read_state(live.record.id)
        messages = await self.store.read_messages(live.record.id, event.plan.folded)
        notes = await self.store.read_notes(live.record.id, [message.seq for message in messages])
        return Task(record=live.record, event=event, messages=tuple(messages), notes=tuple(notes), epoch=state.epoch)

    async def _finish(self, compactor: Compactor, event: CompactionEvent, result: _Result) -> tuple[Fold | None, bool]:
        """Commit, revise or settle an event with what an attempt has come to."""
        committer, outcome = compactor.committer, result.outcome
        await compactor.live.reload(self.store)
        if not event.is_committed:
            event = await self.store.get_event(event.id)  # an overflow may have promoted it meanwhile
        if event.is_committed:
            return await self._finish_committed(compactor, event, result)
        if result.digest == "pending":
            return None, False
        done = await committer.commit(event, outcome=outcome, draft=result.draft)
        return done, done is not None

    async def _finish_committed(
        self, compactor: Compactor, event: CompactionEvent, result: _Result
    ) -> tuple[Fold | None, bool]:
        committer, outcome, live = compactor.committer, result.outcome, compactor.live
        if result.draft is not None:
            waits = any(one.event_id == event.id and one.is_patient for one in live.state.awaited)
            if waits and not live.state.breaks:
                return None, False
            done = await committer.revise(event, result.draft, outcome=outcome)
            if done is not None or find_shown(live.layout, event.plan.first_seq, event.plan.last_seq) is not None:
                return done, done is not None
            outcome = outcome and replace(outcome, digest="off", problem=ROLLED_UP)
        if outcome is None:
            return None, False
        return None, await committer.settle(event, outcome)

    async def _keep(self, event: CompactionEvent, result: _Result) -> bool:
        """Keep a draft before it is committed, so that a crash does not cost the model's work.

        False when the event is not this worker's any more: whatever it came to is another's to say.
        """
        if result.draft is None:
            try:
                lease_until = self.clock.now() + self._lease
                await self.store.renew_lease(event.id, attempt=event.attempts, lease_until=lease_until)
            except ConflictError:
                return False
            return True
        try:
            await self.store.keep_draft(event.id, result.draft, attempt=event.attempts, extraction=result.extraction)
        except ConflictError:
            return False  # the lease was lost, or words of it were erased
        self.observers.feed.publish(
            CompactionReady(session_id=event.session_id, event_id=event.id, generator="abstractive")
        )
        return True

    async def _retry_later(self, event: CompactionEvent, result: _Result) -> None:
        await self._release(event, result.problem, wait_secs=self.policy.grace_secs)
        if result.outcome is None:
            self.observers.feed.publish(
                CompactionRetried(
                    session_id=event.session_id,
                    event_id=event.id,
                    attempt=event.attempts,
                    reason="digest" if result.digest == "pending" else "extraction",
                )
            )

    async def _release(self, event: CompactionEvent, problem: str, *, wait_secs: float | None) -> None:
        """Give an event back; nothing where it has ended or is another worker's."""
        not_before = None if wait_secs is None else self.clock.now() + timedelta(seconds=wait_secs)
        with suppress(ConflictError):
            await self.store.release_event(event.id, attempt=event.attempts, problem=problem, not_before=not_before)

    async def _renew(self, event: CompactionEvent) -> None:
        """Have the event for longer, until the lease is lost."""
        with suppress(ConflictError):
            while True:
                await asyncio.sleep(self.policy.lease_secs / 3)
                lease_until = self.clock.now() + self._lease
                with suppress(StoreError):  # the lease is longer than one wait: it is asked for again
                    await self.store.renew_lease(event.id, attempt=event.attempts, lease_until=lease_until)

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self.policy.lease_secs)


STOPPED = "it was stopped: the engine was closed, or whoever asked for it waited no longer"
ROLLED_UP = "its range had joined the coarse digest before the model's digest was there"
DIED = "every worker that tried it stopped before it was done"


def _without_moot_digest(live: LiveSession, event: CompactionEvent) -> CompactionEvent:
    """The event, no model's digest awaited where nobody would see it: its range has joined the coarse digest."""
    if not event.is_committed or event.digest != "pending":
        return event
    if find_shown(live.layout, event.plan.first_seq, event.plan.last_seq) is not None:
        return event
    return replace(event, digest="off", problem="; ".join(filter(None, (event.problem, ROLLED_UP))))


def _result_of(event: CompactionEvent) -> _Result:
    """What an event has come to by what is stored of it."""
    digest: WorkState = "done" if event.draft is not None else event.digest
    return _Result(digest=digest, extraction=event.extraction, draft=event.draft, problem=event.problem)


def _failed(extraction: WorkState) -> WorkState:
    return "failed" if extraction == "pending" else extraction
