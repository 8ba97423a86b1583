"""Digest: have a model write the digest of one compaction event."""

from everfold.core.digest_requests import to_folded
from everfold.core.drafts import Draft
from everfold.core.folding import to_source
from everfold.services.call_model import ModelCaller
from everfold.services.work import Task, Written
from everfold.services.write_digest import DigestOrder, write_digest

MOST_INPUT_TOKENS = 24_000
"""What one request holds at most. Source: models of 32,000 tokens are common, and read the middle of a longer record
least; what does not fit becomes several requests."""

INPUT_RATIO = 0.5
"""And at most this share of the session's own limit, which is what the model is known to take."""


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
    written = await write_digest(
        lambda request: caller.call(request, user_id=record.user_id, session_id=record.id, event_id=event.id), order
    )
    faults = tuple(f"{fault.kind}: {fault.detail}" for fault in written.faults)
    if written.digest is None:
        has_room = any(fault.kind != "no_room" for fault in written.faults)
        return Written(draft=None, problem="; ".join(faults), has_room=has_room)
    return Written(
        draft=Draft(
            text=written.digest.text,
            tokens=written.digest.tokens,
            elided=written.elided_seqs,
            faults=faults,
            epoch=task.epoch,
        )
    )
