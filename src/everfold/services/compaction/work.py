"""Work: claim, attempt and finish a session's compactions, beside its turns.

Theory of operation. The dispatcher runs one worker per session in one process, and the claim allows one per compaction
over all processes. The worker begins what is due, then takes the compactions in their order. It claims a compaction,
attempts its two jobs (the model's digest and the extraction), keeps the draft, and finishes: it commits the first
pending compaction, or revises one that was committed under a continuity note. After a failed attempt the compaction is
released for later. After the last attempt the extractive digest is final and the compaction is degraded. If a worker
is stopped at any step, the next one continues from what is stored.

The states and what moves them are in `everfold.core.compaction.transitions`.

Source: DESIGN section 3.2.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from everfold.core.compaction.folding import Fold
from everfold.core.compaction.planning import Demand
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import WorkPolicy, read_progress
from everfold.core.compaction.transitions import find_ending
from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId
from everfold.errors import ConflictError, HookError
from everfold.ports.dispatch import Dispatcher
from everfold.ports.jobs import AttemptCompaction, Job, WakeSession
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.compaction.attempt import Attempts, Extract, HintFound, WriteDigest, without_moot_digest
from everfold.services.compaction.claim import Claims
from everfold.services.compaction.commit import Base, Committer
from everfold.services.compaction.compact import NO_ABILITIES, Abilities, Compactor, has_gained
from everfold.services.compaction.finish import NO_STEP, Step, finish
from everfold.services.compaction.occasions import meet_cadence
from everfold.services.compaction.refresh import Refresher
from everfold.services.sessions.handover import Handover
from everfold.services.sessions.live import LiveSession, load_session
from everfold.services.telling.stream import Stream

MOST_ATTEMPTS_AT_ONCE = 2
"""How many compactions of one session are tried at once in one process: the next one while a slow one is waited for."""


def _is_of(job: Job, session_id: SessionId) -> bool:
    return job.kind == "attempt" and job.session_id == session_id


def _always(_: AgentId) -> bool:
    return True


async def _find_nothing(_record: SessionRecord, _seqs: Sequence[int]) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Works on the sessions of one store.

    Attributes:
        extract: Finds what is to be remembered in the messages of a compaction.
        extracts: For which agents it does.
        hint_found: What memory has from messages, for the model that writes their digest.
        refresher: Asks the context sources; None where none is configured.
        handover: Takes what is done beside the turns, for the turns; the refresher's own where there is one.
        prepared: Folds that were made ahead.
    """

    store: Store
    clock: Clock
    ids: Ids
    dispatcher: Dispatcher
    policy: WorkPolicy = field(default_factory=WorkPolicy)
    write_digest: WriteDigest | None = None
    extract: Extract | None = None
    extracts: Callable[[AgentId], bool] = _always
    hint_found: HintFound = _find_nothing
    refresher: Refresher | None = None
    handover: Handover = field(default_factory=Handover)
    stream: Stream = field(default_factory=Stream)
    prepared: dict[str, tuple[Base, Fold]] = field(default_factory=dict)

    @property
    def abilities(self) -> Abilities:
        """Which parts of a compaction's work this worker can do besides the extractive digest."""
        return Abilities(
            has_model=self.write_digest is not None,
            has_extractor=self.extract is not None,
            has_hooks=self.stream.plugins.is_asked_before_folds,
        )

    def compactor(self, live: LiveSession, *, is_preview: bool = False, is_beside_turns: bool = False) -> Compactor:
        """What plans and carries out the compactions of a session."""
        committer = Committer(
            store=self.store,
            live=live,
            clock=self.clock,
            ids=self.ids,
            stream=self.stream,
            prepared=self.prepared,
            is_preview=is_preview,
            is_beside_turns=is_beside_turns,
        )
        abilities = self.abilities
        if abilities.has_extractor and not self.extracts(live.record.agent_id):
            abilities = abilities._replace(has_extractor=False)
        return Compactor(store=self.store, live=live, committer=committer, abilities=abilities)

    @property
    def _claims(self) -> Claims:
        return Claims(store=self.store, policy=self.policy, stream=self.stream)

    @property
    def _attempts(self) -> Attempts:
        return Attempts(
            store=self.store,
            policy=self.policy,
            stream=self.stream,
            write_digest=self.write_digest,
            extract=self.extract,
            hint_found=self.hint_found,
            has_hooks=self.abilities.has_hooks,
        )

    def wake(self, session_id: SessionId) -> None:
        """Have a session worked on soon, beside the turns; what takes a model's time is done beside that."""
        self.dispatcher.submit(WakeSession(session_id=session_id))

    async def work_session(self, session_id: SessionId) -> None:
        """Work on a session beside its turns, and leave for them what was written."""
        live = await self._load(session_id)
        await self.work(live, is_inline=False)
        self.handover.leave(live)

    async def _load(self, session_id: SessionId) -> LiveSession:
        return await load_session(self.store, await self.store.get_session(session_id))

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
            for compaction_id in (*(one.compaction_id for one in live.state.awaited), *live.state.pending_compactions):
                step = await self._advance(compactor, CompactionId(compaction_id), is_inline=is_inline)
                folds += [] if step.fold is None else [step.fold]
                is_moving = is_moving or step.has_moved
        await compactor.close_breaker()
        return folds

    async def _advance(self, compactor: Compactor, compaction_id: CompactionId, *, is_inline: bool) -> Step:
        """Take one compaction a step further."""
        compaction = await self.store.get_compaction(compaction_id)
        if compaction.has_ended:
            return NO_STEP
        if compaction.state == "ready":
            return await finish(compactor, compaction, read_progress(compaction))
        if not self.abilities.has_hooks:  # else an attempt is made, so that they see what was folded
            compaction = without_moot_digest(compactor.live, compaction)
        if find_ending(compaction.digest, compaction.extraction):
            return await self._finish_extractive(compactor, compaction)
        if not (compaction.is_committed or self._may_wait(compactor, is_inline=is_inline)):
            promoted = await compactor.promote(is_patient=True)
            return Step(promoted, promoted is not None)
        is_due = compaction.lease_until is None or compaction.lease_until < self.clock.now()
        if is_inline:
            return await self._attempt(compactor, compaction) if is_due else NO_STEP
        if not compaction.is_committed:
            await compactor.committer.prepare(compaction)
        if is_due:
            self._submit_attempt(compaction)
        return NO_STEP

    async def _finish_extractive(self, compactor: Compactor, compaction: Compaction) -> Step:
        """A compaction without a model: hooks first, then its extractive digest, where it does not stand already."""
        if compaction.plan.folded and self.abilities.has_hooks:
            try:
                await self._attempts.prepare(compactor.live, compaction)
            except HookError:
                return NO_STEP  # strict: the transcript stays unfolded until a checkpoint succeeds
        return await finish(compactor, compaction, read_progress(compaction))

    def _may_wait(self, compactor: Compactor, *, is_inline: bool) -> bool:
        """Whether a pending compaction can be left held while a model writes, if one does.

        Where the caller waits for the work the log does not grow meanwhile, and where plug-ins are to see what is folded
        first, only an overflow goes before them.
        """
        abilities = self.abilities
        if not abilities.has_model or abilities.has_hooks:
            return True
        return is_inline or self.policy.is_synchronous or compactor.may_wait()

    def _submit_attempt(self, compaction: Compaction) -> None:
        """Have a compaction tried beside the session's other work, where the session has no more than enough of it."""
        attempt = AttemptCompaction(session_id=compaction.session_id, compaction_id=compaction.id)
        attempting = [job for job in self.dispatcher.list_jobs() if _is_of(job, compaction.session_id)]
        if attempt not in attempting and len(attempting) < MOST_ATTEMPTS_AT_ONCE:
            self.dispatcher.submit(attempt)

    async def attempt(self, session_id: SessionId, compaction_id: CompactionId) -> None:
        """Attempt a compaction beside its session's other work, and have the session worked on again."""
        compactor = self.compactor(await self._load(session_id), is_beside_turns=True)
        await self._attempt(compactor, await self.store.get_compaction(compaction_id))
        self.wake(session_id)

    async def _attempt(self, compactor: Compactor, compaction: Compaction) -> Step:
        """Claim a compaction, attempt its jobs, and finish it as far as they came."""
        claims = self._claims
        claimed = await claims.claim(compaction)
        if claimed is None:
            return NO_STEP
        try:
            async with claims.renewing(claimed):
                progress = await self._attempts.run(compactor.live, claimed)
        except HookError as error:
            await claims.put_off(claimed, error.own_words)
            return NO_STEP
        if not await claims.keep(claimed, progress):
            return NO_STEP
        step = await finish(compactor, claimed, progress)
        if progress.outcome is None or not step.has_moved:
            await claims.retry_later(claimed, progress)
            return step._replace(has_moved=False)
        return step

    async def work_now(self, live: LiveSession, demand: Demand, *, is_preview: bool = False) -> list[Fold]:
        """Compact as a caller asks who waits for it, after what was begun before, until nothing of the demand is left.

        Where a digest is not there in time the extractive one stands in its place, and the model's comes later. What is
        due otherwise waits for the next window. A preview takes the same steps, all with extractive digests.

        Raises:
            HookError: strict, and no checkpoint succeeded; what was begun stays held.
        """
        compactor = self.compactor(live, is_preview=is_preview)
        if is_preview:
            compactor.abilities = NO_ABILITIES  # what they would be waited for is not told
        await live.reload(self.store)
        compactor.require_budget()
        folds: list[Fold] = []
        has_begun = False
        while True:
            done = await self._finish_pending(compactor)
            folds += done
            own = [fold for fold in done if has_begun and fold.report.trigger != "late_digest"]
            if own and not has_gained(own[-1]):
                break
            plan = await compactor.plan_asked(demand)
            if plan is None:
                break
            try:
                await compactor.begin(plan)
                has_begun = True
            except ConflictError:
                await live.reload(self.store)
        compactor.require_fit()
        await compactor.close_breaker()
        return folds

    async def _finish_pending(self, compactor: Compactor) -> list[Fold]:
        """Commit every pending compaction, with the digests that are there in time; a preview waits for none."""
        folds: list[Fold] = []
        live = compactor.live
        if not compactor.is_preview:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.policy.summary_timeout_secs):
                    for compaction_id in live.state.pending_compactions:
                        step = await self._advance(compactor, CompactionId(compaction_id), is_inline=True)
                        folds += [] if step.fold is None else [step.fold]
            await live.reload(self.store)
        while live.state.pending_compactions:
            done = await self._promote(compactor)
            folds += [] if done is None else [done]
        return folds

    async def _promote(self, compactor: Compactor) -> Fold | None:
        """Commit the first pending compaction now; where plug-ins are strict, after one has succeeded."""
        if self.stream.plugins.is_strict and not compactor.is_preview:
            first = await self.store.get_compaction(CompactionId(compactor.live.state.pending_compactions[0]))
            await self._attempts.prepare(compactor.live, first)
        return await compactor.promote()

    async def upgrade(self, live: LiveSession) -> None:
        """Show the digests that wait for a cache break, since one is to be reported anyway."""
        for one in live.state.awaited:
            compaction = await self.store.get_compaction(CompactionId(one.compaction_id))
            if one.is_patient and compaction.state == "ready":
                await finish(self.compactor(live), compaction, read_progress(compaction))
