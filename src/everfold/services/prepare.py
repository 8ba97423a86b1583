"""Prepare: let the plug-ins see what a compaction is about to fold."""

from everfold.core.events import CompactionEvent
from everfold.core.hooks import NO_HINTS, Hints, PendingFold
from everfold.core.sessions import SessionRecord
from everfold.ports.stores import LogStore
from everfold.services.coordinate import Coordinator


async def prepare_fold(
    coordinator: Coordinator, store: LogStore, record: SessionRecord, event: CompactionEvent
) -> Hints:
    """Hints for the digest of an event, after every plug-in was shown exactly the messages that it folds.

    What was erased meanwhile is not among them. Reads nothing where no plug-in looks.

    Raises:
        HookError: strict, and no plug-in succeeded; nothing may be folded.
    """
    if not coordinator.is_asked_before_folds:
        return NO_HINTS
    folded = event.plan.folded if coordinator.hears("on_pre_compress") else ()
    messages = await store.read_messages(record.id, folded) if folded else []
    return await coordinator.on_pre_compress(
        PendingFold(session=record, event_id=event.id, trigger=event.plan.trigger, messages=tuple(messages))
    )
