"""Attempt: do the two jobs of a claimed compaction, the model's digest and the extraction."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from everfold.core.compaction.late_digests import find_shown
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import Progress, Task, WorkPolicy, Written
from everfold.core.compaction.transitions import JobCause, move_digest, move_extraction
from everfold.core.log.sessions import SessionRecord
from everfold.core.observation.hooks import Hints
from everfold.core.observation.spans import COMPACTION_DIGEST, describe_compaction
from everfold.errors import EverfoldError
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_plugins import prepare_fold

WriteDigest = Callable[[Task], Awaitable[Written]]
Extract = Callable[[Task], Awaitable[None]]
HintFound = Callable[[SessionRecord, Sequence[int]], Awaitable[str]]
"""What memory has from messages of a session; empty where it has nothing, or the agent has none."""

ROLLED_UP = "its range had joined the rollup before the model's digest was there"
DIED = "every worker that tried it stopped before it was done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Does what an attempt does before it commits. The fields are those of the worker.

    Attributes:
        has_hooks: Whether plug-ins see what is folded first.
    """

    store: Store
    policy: WorkPolicy
    stream: Stream
    write_digest: WriteDigest | None
    extract: Extract | None
    hint_found: HintFound
    has_hooks: bool

    async def run(self, live: LiveSession, compaction: Compaction) -> Progress:
        """Have the compaction's pending jobs done, and give how far each came.

        Raises:
            HookError: strict, and no checkpoint succeeded.
        """
        if compaction.attempts > self.policy.attempts:
            return _give_up(compaction)
        is_last = compaction.attempts == self.policy.attempts
        compaction = without_moot_digest(live, compaction)
        task = await self._make_task(live, compaction)
        progress = Progress(digest=compaction.digest, extraction=compaction.extraction, problem=compaction.problem)
        if compaction.digest == "pending":
            progress = await self._digest(task, progress, is_last=is_last)
        if compaction.extraction == "pending":
            progress = await self._extract(task, progress, is_last=is_last)
        return progress

    async def prepare(self, live: LiveSession, compaction: Compaction) -> Hints:
        """Let the plug-ins see what is folded, before anything leaves.

        Raises:
            HookError: strict, and no checkpoint succeeded.
        """
        return await prepare_fold(self.stream, self.store, live.record, compaction)

    async def _make_task(self, live: LiveSession, compaction: Compaction) -> Task:
        state = await self.store.read_state(live.record.id)
        messages = await self.store.read_messages(live.record.id, compaction.plan.folded)
        notes = await self.store.read_notes(live.record.id, [message.seq for message in messages])
        hints = (await self.prepare(live, compaction)).text if self.has_hooks else ""
        if compaction.digest == "pending":
            found = await self.hint_found(live.record, compaction.plan.folded)
            hints = "\n".join(filter(None, (found, hints)))
        return Task(
            record=live.record,
            compaction=compaction,
            messages=tuple(messages),
            notes=tuple(notes),
            epoch=state.epoch,
            hint=hints,
        )

    async def _digest(self, task: Task, progress: Progress, *, is_last: bool) -> Progress:
        if self.write_digest is None:
            return progress.after_digest("give up", problem="no model is configured")
        started = monotonic()
        try:
            with self.stream.tracer.span(COMPACTION_DIGEST, describe_compaction(task.compaction)):
                written = await self.write_digest(task)
        except EverfoldError as error:
            return progress.after_digest(_name_failure(is_last=is_last), problem=error.own_words)
        if written.draft is None:
            return progress.after_digest("give up" if written.has_room else "moot", problem=written.problem)
        return progress.after_digest("succeed", draft=replace(written.draft, digest_secs=monotonic() - started))

    async def _extract(self, task: Task, progress: Progress, *, is_last: bool) -> Progress:
        if self.extract is None:
            return progress.after_extraction("give up", problem="no extraction is configured")
        try:
            await self.extract(task)
        except EverfoldError as error:
            return progress.after_extraction(_name_failure(is_last=is_last), problem=error.own_words)
        return progress.after_extraction("succeed")


def without_moot_digest(live: LiveSession, compaction: Compaction) -> Compaction:
    """The compaction, no model's digest awaited where no window would show it: its range has joined the rollup."""
    if not compaction.is_committed or compaction.digest != "pending":
        return compaction
    if live.layout.watermark < compaction.plan.last_seq:
        return compaction  # the layout was read before the compaction was committed, and says nothing of it
    if find_shown(live.layout, compaction.plan.first_seq, compaction.plan.last_seq) is not None:
        return compaction
    problem = "; ".join(filter(None, (compaction.problem, ROLLED_UP)))
    return replace(compaction, digest=move_digest(compaction.digest, "moot"), problem=problem)


def _give_up(compaction: Compaction) -> Progress:
    return Progress(
        digest=move_digest(compaction.digest, "die"),
        extraction=move_extraction(compaction.extraction, "die"),
        problem=compaction.problem or DIED,
    )


def _name_failure(*, is_last: bool) -> JobCause:
    return "give up" if is_last else "fail"
