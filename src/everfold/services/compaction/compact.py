"""Compact: keep a session's window within its limit, and have done in the background what can wait.

Theory of operation. What is due below the hard limit can wait: the window stays as it is, and a worker plans, begins,
digests and commits beside the turns (background compaction). Past the hard limit nothing waits: pending compactions
are promoted, their extractive digests committed at once, oldest first. If that is not enough, one more compaction is
begun and committed at once. Its model's digest and its extraction follow later, as a revision.

Source: DESIGN sections 3.2 and 3.5.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from everfold.core.compaction.choosing import plan_compaction_stepwise
from everfold.core.compaction.folding import Fold
from everfold.core.compaction.held import read_ahead
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.occasions import find_occasion
from everfold.core.compaction.planning import (
    CompactionPlan,
    Demand,
    find_trigger,
    measure_floor,
    measure_trigger,
    measure_window,
)
from everfold.core.compaction.record import Compaction, drop_jobs
from everfold.core.compaction.tasks import read_progress
from everfold.core.compaction.transitions import move_digest, move_extraction
from everfold.core.log.budget import find_smallest_limit, fit_target, require_budget
from everfold.core.log.messages import Note
from everfold.core.observation.spans import COMPACTION_PLAN, describe_plan
from everfold.core.primitives.ids import CompactionId
from everfold.errors import BudgetUnsatisfiableError, ConflictError
from everfold.ports.stores import Store
from everfold.services.compaction.commit import Committer
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.read import find_newest
from everfold.services.telling.pausing import finish_pausing


class Abilities(NamedTuple):
    """Which jobs of a compaction can be done besides the extractive digest."""

    has_model: bool = False
    has_extractor: bool = False
    has_hooks: bool = False

    @property
    def is_any(self) -> bool:
        """Whether a compaction is anything more than its extractive digest."""
        return self.has_model or self.has_extractor or self.has_hooks


NO_ABILITIES = Abilities()


@dataclass(slots=True, kw_only=True)
class Compactor:
    """Plans the compactions of one session, and carries out those that cannot wait. Every window makes one."""

    store: Store
    live: LiveSession
    committer: Committer
    abilities: Abilities = NO_ABILITIES

    @property
    def is_preview(self) -> bool:
        """Whether nothing is ever written."""
        return self.committer.is_preview

    async def find_due(self, limit_tokens: int | None = None) -> bool:
        """Whether a compaction is due, pending compactions counted as done, or an occasion has come."""
        layout = await self.live.project(self.store)
        state, budget, policy = self.live.state, self.live.budget(limit_tokens), self.live.settings.policy
        return bool(find_trigger(state, layout, policy, budget) or find_occasion(state, policy))

    async def compact(self, *, limit_tokens: int | None = None, demand: Demand | None = None) -> list[Fold]:
        """Run every compaction that is due for this limit (or the one that is asked for) now, and give what each did.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit; raised before anything is begun.
        """
        return [done async for done in self.compact_stepwise(limit_tokens=limit_tokens, demand=demand)]

    async def compact_stepwise(
        self, *, limit_tokens: int | None = None, demand: Demand | None = None
    ) -> AsyncIterator[Fold]:
        """The same, compaction by compaction. Compactions that are held come first: they were begun before."""
        self.require_budget(limit_tokens)
        while True:
            if self.live.state.pending_compactions:
                done = await self.promote()
            else:
                plan, notes = await self.plan(limit_tokens=limit_tokens, demand=demand)
                if plan is None:
                    break
                done = await self._carry_out(plan, notes, is_patient=plan.trigger == "gap")
            if done is None:
                continue
            yield done
            if not (has_gained(done) or self.live.state.pending_compactions):
                break
            if demand is not None and done.layout.watermark >= self.live.state.last_seq - demand.keep_recent:
                break

    def is_over(self, limit_tokens: int | None = None) -> bool:
        """Whether the window is past the hard limit: an overflow."""
        return measure_window(self.live.state, self.live.layout) > self.live.budget(limit_tokens).hard_limit_tokens

    async def make_fit(self, *, limit_tokens: int | None = None) -> list[Fold]:
        """Fold until the window is within the hard limit, and no further; most often nothing.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit.
        """
        folds: list[Fold] = []
        while self.is_over(limit_tokens):
            if self.live.state.pending_compactions:
                done = await self.promote()
            else:
                plan, notes = await self.plan(limit_tokens=limit_tokens)
                if plan is None:
                    self.require_fit(limit_tokens)
                    break
                done = await self._carry_out(plan, notes)
            folds += [] if done is None else [done]
            if done is not None and not (has_gained(done) or self.live.state.pending_compactions):
                self.require_fit(limit_tokens)
        return folds

    async def hold(self) -> list[Compaction]:
        """Begin what is due, planned as if the pending compactions were done; messages stay shown until it is committed.

        Begins one compaction where there is nothing to wait for but its extractive digest.
        """
        begun: list[Compaction] = []
        while self.abilities.is_any or not (begun or self.live.state.pending_compactions):
            plan, _ = await self.plan()
            if plan is None:
                break
            try:
                begun.append(await self.begin(plan))
            except ConflictError:
                await self.live.reload(self.store)
        return begun

    def may_wait(self) -> bool:
        """Whether there is room for what the log is expected to grow by while a model writes."""
        state = self.live.state
        left = self.live.budget().hard_limit_tokens - measure_window(state, self.live.layout)
        return left >= state.growth.expected_tokens

    async def promote(self, *, is_patient: bool = False) -> Fold | None:
        """Commit the first pending compaction now; None when another worker was first.

        Its extractive digest stands until the model's is there, or the model's at once where it is written already.
        A patient one waits for the next break with it.
        """
        compaction = await self._read_first_pending()
        outcome = read_progress(compaction).outcome
        if compaction.draft is not None and outcome is not None and outcome.state == "done":
            done = await self.committer.commit(compaction, outcome=outcome, draft=compaction.draft)
            if done is not None or compaction.id not in self.live.state.pending_compactions:
                return done
        outcome = None if self.abilities.is_any and compaction.plan.folded else drop_jobs(compaction, "done")
        return await self.committer.commit(compaction, outcome=outcome, is_patient=is_patient)

    async def _read_first_pending(self) -> Compaction:
        """As it is stored now; what a preview has begun is not."""
        if self.is_preview:
            return (await self.live.load_held(self.store))[0]
        return await self.store.get_compaction(CompactionId(self.live.state.pending_compactions[0]))

    async def plan_asked(self, demand: Demand) -> CompactionPlan | None:
        """What is left of a demand, else what the hard limit forces; None when neither is."""
        plan, _ = await self.plan(demand=demand)
        if plan is None and self.is_over():
            plan, _ = await self.plan()
        return plan

    async def plan(
        self, *, limit_tokens: int | None = None, demand: Demand | None = None
    ) -> tuple[CompactionPlan | None, Sequence[Note]]:
        """What to do next, or None, and the notes that were read to decide it. Pending compactions count as done."""
        live, policy = self.live, self.live.settings.policy
        layout = await live.project(self.store)
        budget = fit_target(live.budget(limit_tokens), policy, measure_floor(live.state, layout))
        if demand is None and find_trigger(live.state, layout, policy, budget) is None:
            return None, ()
        with self.committer.stream.tracer.span(COMPACTION_PLAN) as span:
            before, notes = await self._read_next(layout)
            if demand is not None:
                demand = replace(demand, keep_recent=await self._reach_back(demand.keep_recent))
            await finish_pausing(read_ahead([line for note in notes for line in note.lines]))
            steps = plan_compaction_stepwise(live.state, layout, notes, policy, budget, demand=demand, before=before)
            plan = await finish_pausing(steps)
            span.set_attributes(describe_plan(live.record.id, plan))
        return plan, notes

    async def _reach_back(self, keep_recent: int) -> int:
        """How far the newest messages reach back that are to stay; what was erased or retracted is none of them."""
        newest = await find_newest(self.store, self.live, keep_recent, counts=lambda note: not note.is_erased)
        return self.live.state.last_seq - newest[0] + 1 if len(newest) == keep_recent else self.live.state.last_seq

    async def _read_next(self, layout: Layout) -> tuple[Note | None, Sequence[Note]]:
        """The note of the message at the watermark, and those of the next compaction's messages, at most."""
        live = self.live
        first_seq = layout.watermark + 1
        last_seq = min(first_seq + live.settings.policy.rows_per_digest - 1, live.state.safe_seq)
        if last_seq < live.state.safe_seq:
            last_seq = await self.store.find_boundary(live.record.id, last_seq) or live.state.safe_seq
        notes = await self.store.read_notes(live.record.id, range(max(first_seq - 1, 1), last_seq + 1))
        return (notes[0], notes[1:]) if layout.watermark else (None, notes)

    async def _carry_out(self, plan: CompactionPlan, notes: Sequence[Note], *, is_patient: bool = False) -> Fold | None:
        """Begin and commit in one breath; None when another worker was first and the state has been read again."""
        try:
            compaction = await self.begin(plan)
        except ConflictError:
            await self.live.reload(self.store)
            return None
        outcome = None if self.abilities.is_any and plan.folded else drop_jobs(compaction, "done")
        return await self.committer.commit(compaction, outcome=outcome, notes=notes, is_patient=is_patient)

    async def begin(self, plan: CompactionPlan) -> Compaction:
        """Begin a compaction with the jobs that can be done.

        Raises:
            ConflictError: the session has moved on since the plan was made.
        """
        has_more = bool(plan.folded)
        return await self.committer.begin(
            plan,
            digest=move_digest(None, "begin" if has_more and self.abilities.has_model else "skip"),
            extraction=move_extraction(None, "begin" if has_more and self.abilities.has_extractor else "skip"),
        )

    async def close_breaker(self) -> None:
        """Compact automatically again, once the window is below its trigger."""
        live = self.live
        if not live.state.stuck_count or self.is_preview:
            return
        trigger_tokens = measure_trigger(live.state, live.settings.policy, live.budget())
        if measure_window(live.state, live.layout) < trigger_tokens:
            await self.committer.close_breaker()

    def require_budget(self, limit_tokens: int | None = None) -> None:
        """Refuse a limit that no window can fit, before anything is begun.

        Raises:
            BudgetUnsatisfiableError: names the smallest limit that works.
        """
        live = self.live
        require_budget(
            live.budget(limit_tokens),
            live.settings.policy,
            calibration=live.state.calibration,
            floor_tokens=measure_floor(live.state, live.layout),
            whose=f"session {live.record.id}",
            session=live.record.id,
        )

    def require_fit(self, limit_tokens: int | None = None) -> None:
        """Refuse a window that is still past the hard limit.

        Raises:
            BudgetUnsatisfiableError: names the smallest limit that works.
        """
        live = self.live
        budget, tokens = live.budget(limit_tokens), measure_window(live.state, live.layout)
        if tokens > budget.hard_limit_tokens:
            smallest = find_smallest_limit(
                live.settings.policy,
                prompt_tokens=budget.prompt_tokens,
                calibration=live.state.calibration,
                floor_tokens=measure_floor(live.state, live.layout),
                window_tokens=tokens,
            )
            raise BudgetUnsatisfiableError(
                f"Context limit {budget.limit_tokens:,} is too small for session {live.record.id}. "
                f"Use at least {smallest:,}.",
                smallest_limit_tokens=smallest,
                session=live.record.id,
            )


def has_gained(done: Fold) -> bool:
    """Whether a fold decided about further messages or made the window smaller: else the next one would do the same."""
    report = done.report
    return report.last_seq >= report.first_seq or report.tokens_after < report.tokens_before
