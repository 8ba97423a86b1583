"""Digest: have a model write the digest of one compaction event."""

from everfold.core.digest_requests import to_folded
from everfold.core.drafts import Draft
from everfold.core.folding import to_source
from everfold.core.happenings import DigestJudged
from everfold.core.verification import Fault, FaultKind
from everfold.ports.models import ModelReply, ModelRequest
from everfold.services.call_model import ModelCaller
from everfold.services.work import Task, Written
from everfold.services.write_digest import DigestOrder, write_digest

MOST_INPUT_TOKENS = 24_000
"""What one request holds at most. Source: models of 32,000 tokens are common, and read the middle of a longer record
least; what does not fit becomes several requests."""

INPUT_RATIO = 0.5
"""And at most this share of the session's own limit, which is what the model is known to take."""


_NOT_ABOUT_TEXT: frozenset[FaultKind] = frozenset({"no_reply", "no_room", "context_length"})


def name_fault(fault: Fault) -> str:
    """A fault as the store keeps it: without the words that it quotes, which would outlive an erase."""
    return f"{fault.kind} ({fault.detail})" if fault.kind in _NOT_ABOUT_TEXT else fault.kind


async def digest_event(caller: ModelCaller, task: Task) -> Written:
    """The model's digest of exactly the messages that an event folds, verified; or why there is none.

    Raises:
        ModelError: the model could not be reached.
        LimitError: a rate limit or a spend cap was met.
    """
    record, event = task.record, task.event
    order = DigestOrder(
        messages=[to_folded(message) for message in task.messages],
        sources=[to_source(note) for note in task.notes],
        first_seq=event.plan.first_seq,
        last_seq=event.plan.last_seq,
        cap_tokens=event.plan.fine_cap_tokens,
        input_cap_tokens=min(int(record.settings.limit_tokens * INPUT_RATIO), MOST_INPUT_TOKENS),
        key=record.id,
        hint=task.hint or None,
        focus=event.plan.focus,
    )
    costs_usd: list[float] = []

    async def call(request: ModelRequest) -> ModelReply:
        reply = await caller.call(request, user_id=record.user_id, session_id=record.id, event_id=event.id)
        costs_usd.extend([] if reply.cost_usd is None else [reply.cost_usd])
        return reply

    written = await write_digest(call, order)
    caller.observers.feed.publish(
        DigestJudged(
            session_id=record.id,
            event_id=event.id,
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
