"""Append turn: put messages at the end of a session's log, and tell subscribers, memory and plug-ins what was stored."""

from collections.abc import Sequence

from everfold.core.log.appending import Incoming
from everfold.ports.stores import Store
from everfold.services.sessions.append import append_once
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_appended
from everfold.services.telling.tell_plugins import tell_turns
from everfold.services.turns.attend import Attendant
from everfold.services.turns.background import Background


async def append_turn(
    store: Store,
    live: LiveSession,
    background: Background,
    incoming: Sequence[Incoming],
    *,
    stream: Stream,
    attendant: Attendant | None,
) -> list[int]:
    """Append messages, all or none, and give their sequence numbers. An append that was done before is told to none.

    Raises:
        InvalidInputError: a message does not fit the log.
        ConflictError: a client id was used before for another message.
    """
    if not incoming:
        return []
    background.worker.handover.pick_up(live)
    head = None if attendant is None else await attendant.begin(live)
    stored, plan = await append_once(store, live, incoming)
    if plan is not None:
        tell_appended(stream, live.record.id, last_seq=plan.state.last_seq, count=len(plan.appended))
        if attendant is not None:
            await attendant.take(live, stored, head)
        await tell_turns(stream, live.record, plan)
    return [message.seq for message in stored]
