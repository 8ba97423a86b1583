"""Finish: commit, revise or settle a compaction with what an attempt came to."""

from dataclasses import replace
from typing import NamedTuple

from everfold.core.compaction.folding import Fold
from everfold.core.compaction.late_digests import find_shown
from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.compaction.tasks import Progress
from everfold.core.compaction.transitions import move_digest
from everfold.services.compaction.attempt import ROLLED_UP
from everfold.services.compaction.compact import Compactor


class Step(NamedTuple):
    """What one step of the work came to: what was committed, and whether anything moved."""

    fold: Fold | None = None
    has_moved: bool = False


NO_STEP = Step()


async def finish(compactor: Compactor, compaction: Compaction, progress: Progress) -> Step:
    """Commit, revise or settle a compaction. No step where its turn has not come, or another worker was first."""
    await compactor.live.reload(compactor.store)
    if not compaction.is_committed:
        compaction = await compactor.store.get_compaction(compaction.id)  # an overflow may have promoted it meanwhile
    if compaction.is_committed:
        return await _finish_committed(compactor, compaction, progress)
    if progress.digest == "pending":
        return NO_STEP
    done = await compactor.committer.commit(compaction, outcome=progress.outcome, draft=progress.draft)
    return Step(done, done is not None)


async def _finish_committed(compactor: Compactor, compaction: Compaction, progress: Progress) -> Step:
    """Show the model's digest of a compaction whose layout is in force, and end it if no job is left."""
    outcome = progress.outcome
    if progress.draft is not None:
        if _waits_for_break(compactor, compaction):
            return NO_STEP
        done = await compactor.committer.revise(compaction, progress.draft, outcome=outcome)
        if (
            done is not None
            or find_shown(compactor.live.layout, compaction.plan.first_seq, compaction.plan.last_seq) is not None
        ):
            return Step(done, done is not None)
        outcome = outcome and _without_digest(outcome)
    if outcome is None:
        return NO_STEP
    return Step(has_moved=await compactor.committer.settle(compaction, outcome))


def _waits_for_break(compactor: Compactor, compaction: Compaction) -> bool:
    """Whether the digest is shown no sooner than the request's prefix breaks anyway."""
    state = compactor.live.state
    return not state.cache_breaks and any(
        one.compaction_id == compaction.id and one.is_patient for one in state.awaited
    )


def _without_digest(outcome: Outcome) -> Outcome:
    """The outcome when the range joined the rollup while the model's digest was written."""
    return replace(outcome, digest=move_digest(outcome.digest, "moot"), problem=ROLLED_UP)
