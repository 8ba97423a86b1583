"""Tell turns: call the hooks of every turn that an append began or ended."""

from everfold.core.appending import AppendPlan
from everfold.core.hooks import TurnEnd, TurnStart
from everfold.core.sessions import SessionRecord
from everfold.services.coordinate import Coordinator


async def tell_turns(coordinator: Coordinator, record: SessionRecord, plan: AppendPlan) -> None:
    """Call `on_turn_start` for each user message and `on_turn_end` for each answer, in the order of the log.

    An answer is an assistant message without calls; one before the first turn ends nothing.
    """
    hears_start, hears_end = coordinator.hears("on_turn_start"), coordinator.hears("on_turn_end")
    for appended in plan.appended:
        message = appended.message
        if hears_start and message.kind == "user":
            await coordinator.on_turn_start(
                TurnStart(
                    session=record,
                    turn_seq=message.seq,
                    turns_count=appended.turns_count,
                    text=message.view.text,
                )
            )
        elif hears_end and message.kind == "assistant" and appended.turn_seq and not message.view.calls:
            await coordinator.on_turn_end(
                TurnEnd(session=record, turn_seq=appended.turn_seq, last_seq=message.seq, text=message.view.text)
            )
