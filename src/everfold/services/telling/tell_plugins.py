"""Tell plug-ins: call the hooks of the turns that an append began or ended, and those that come before a fold."""

from everfold.core.compaction.record import Compaction
from everfold.core.log.appending import AppendPlan
from everfold.core.log.sessions import SessionRecord
from everfold.core.observation.hooks import NO_HINTS, Hints, PendingFold, TurnEnd, TurnStart
from everfold.ports.stores import LogStore
from everfold.services.telling.stream import Stream


async def tell_turns(stream: Stream, record: SessionRecord, plan: AppendPlan) -> None:
    """Call `on_turn_start` for each user message and `on_turn_end` for each answer, in the order of the log.

    An answer is an assistant message without calls; one before the first turn ends nothing.
    """
    plugins = stream.plugins
    hears_start, hears_end = plugins.hears(TurnStart), plugins.hears(TurnEnd)
    for appended in plan.appended if hears_start or hears_end else ():
        message = appended.message
        if hears_start and message.kind == "user":
            await plugins.call(
                TurnStart(
                    session=record,
                    turn_seq=message.seq,
                    turns_count=appended.turns_count,
                    text=message.view.text,
                )
            )
        elif hears_end and message.kind == "assistant" and appended.turn_seq and not message.view.calls:
            await plugins.call(
                TurnEnd(session=record, turn_seq=appended.turn_seq, last_seq=message.seq, text=message.view.text)
            )


async def prepare_fold(stream: Stream, store: LogStore, record: SessionRecord, event: Compaction) -> Hints:
    """Hints for the digest of a compaction, after every plug-in was shown exactly the messages that it folds.

    What was erased meanwhile is not among them. Reads nothing where no plug-in looks.

    Raises:
        HookError: strict, and no plug-in succeeded; nothing may be folded.
    """
    plugins = stream.plugins
    if not plugins.is_asked_before_folds:
        return NO_HINTS
    folded = event.plan.folded if plugins.hears(PendingFold) else ()
    messages = await store.read_messages(record.id, folded) if folded else []
    return await plugins.ask(
        PendingFold(session=record, compaction_id=event.id, trigger=event.plan.trigger, messages=tuple(messages))
    )
