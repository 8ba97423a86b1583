"""Digest: have a model write the digest of one compaction."""

from everfold.core.compaction.folding import to_source
from everfold.core.compaction.tasks import Task, Written
from everfold.core.digests.drafts import Draft
from everfold.core.digests.requests import to_folded
from everfold.core.digests.verification import Fault, FaultKind
from everfold.core.observation.events import DigestJudged
from everfold.ports.models import ModelReply, ModelRequest
from everfold.services.compaction.write_digest import DigestOrder, write_digest
from everfold.services.models.call_model import ModelCaller

MOST_INPUT_TOKENS = 24_000
"""What one request holds at most. Source: models of 32,000 tokens are common, and read the middle of a longer record
least; what does not fit becomes several requests."""

INPUT_RATIO = 0.5
"""And at most this share of the session's own limit, which is what the model is known to take."""


_NOT_ABOUT_TEXT: frozenset[FaultKind] = frozenset({"no_reply", "no_room", "context_length"})


def name_fault(fault: Fault) -> str:
    """A fault as the store keeps it: without the words that it quotes, which would outlive an erase."""
    return f"{fault.kind} ({fault.detail})" if fault.kind in _NOT_ABOUT_TEXT else fault.kind


async def digest_compaction(caller: ModelCaller, task: Task) -> Written:
    """The model's digest of exactly the messages that a compaction folds, verified; or why there is none.

    Raises:
        ModelError: the model could not be reached.
        LimitError: a rate limit or a spend cap was met.
    """
    record, compaction = task.record, task.compaction
    order = DigestOrder(
        messages=[to_folded(message) for message in task.messages],
        sources=[to_source(note) for note in task.notes],
        first_seq=compaction.plan.first_seq,
        last_seq=compaction.plan.last_seq,
        cap_tokens=compaction.plan.digest_cap_tokens,
        input_cap_tokens=min(int(record.settings.limit_tokens * INPUT_RATIO), MOST_INPUT_TOKENS),
        key=record.id,
        hint=task.hint or None,
        focus=compaction.plan.focus,
    )
    costs_usd: list[float] = []

    async def call(request: ModelRequest) -> ModelReply:
        reply = await caller.call(request, user_id=record.user_id, session_id=record.id, compaction_id=compaction.id)
        costs_usd.extend([] if reply.cost_usd is None else [reply.cost_usd])
        return reply

    written = await write_digest(call, order)
    caller.stream.publish(
        DigestJudged(
            session_id=record.id,
            compaction_id=compaction.id,
            is_accepted=written.digest is not None,
            calls_count=written.calls_count,
            faults=tuple(fault.kind for fault in written.faults),
        )
    )
    faults = tuple(dict.fromkeys(name_fault(fault) for fault in written.faults))
    if written.digest is None:
        has_room = any(fault.kind != "no_room" for fault in written.faults)
        problem = f"no digest of the model passed: {', '.join(faults)}"
        return Written(draft=None, problem=problem, has_room=has_room)
    return Written(
        draft=Draft(
            text=written.digest.text,
            tokens=written.digest.tokens,
            elided=written.elided_seqs,
            faults=faults,
            epoch=task.epoch,
            cost_usd=sum(costs_usd) if costs_usd else None,
        )
    )
