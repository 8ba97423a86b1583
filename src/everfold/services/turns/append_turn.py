"""Append turn: put messages at the end of a session's log, and tell subscribers, memory and plug-ins what was stored."""

from collections.abc import Sequence
from datetime import datetime

from everfold.core.compaction.occasions import find_occasion, is_return
from everfold.core.log.activity import is_said_by_user
from everfold.core.log.appending import Incoming
from everfold.ports.stores import Store
from everfold.services.compaction.occasions import meet_return
from everfold.services.sessions.append import append_once, find_known, plan_next
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
    overlaps: bool = False,
) -> list[int]:
    """Append messages, all or none, and give their sequence numbers. What was appended before is told to none.

    With `overlaps` messages whose client ids are stored are passed over, and the rest is appended.

    Raises:
        InvalidInputError: a message does not fit the log.
        ConflictError: a client id was used before for another message.
    """
    if not incoming:
        return []
    background.worker.handover.pick_up(live)
    has_begun = await _meet_return(store, live, background, incoming, attendant, overlaps=overlaps)
    version = None if attendant is None else await attendant.begin(live)
    stored, plan = await append_once(store, live, incoming, overlaps=overlaps)
    if plan is not None:
        tell_appended(stream, live.record.id, last_seq=plan.state.last_seq, count=len(plan.appended))
        if attendant is not None:
            await attendant.take(live, [one.message for one in plan.appended], version)
        await tell_turns(stream, live.record, plan)
        await _meet_cadence(live, background)
    if has_begun and not background.is_synchronous:
        background.wake(live.record.id)
    return [message.seq for message in stored]


async def _meet_return(
    store: Store,
    live: LiveSession,
    background: Background,
    incoming: Sequence[Incoming],
    attendant: Attendant | None,
    *,
    overlaps: bool,
) -> bool:
    """Bring a session up to date where these messages end a gap, before they are stored; whether work was begun.

    Nothing is done for messages that were stored before, or that do not fit the log.

    Raises:
        InvalidInputError: a message does not fit the log.
        ConflictError: a client id was used before for another message.
    """
    policy = live.settings.policy
    if (said_at := _find_user_time(incoming)) is None or not is_return(live.state, policy, said_at):
        return False
    await live.reload(store)
    known = await find_known(store, live, incoming, overlaps=overlaps)
    rest = [one for one in incoming if one.client_id not in known]
    if (said_at := _find_user_time(rest)) is None or not is_return(live.state, policy, said_at):
        return False
    await plan_next(store, live, rest)

    async def catch_up() -> None:
        if attendant is not None:
            await attendant.catch_up(live)

    worker = background.worker
    await meet_return(worker.compactor(live), worker.refresher, catch_up, said_at)
    return live.state.has_work


def _find_user_time(incoming: Sequence[Incoming]) -> datetime | None:
    """When the first of some messages that the user said was said; None where the user said none of them."""
    for one in incoming:
        if one.view.role == "user" and is_said_by_user(one.origin, one.source, one.view.text):
            return one.said_at
    return None


async def _meet_cadence(live: LiveSession, background: Background) -> None:
    """Begin what is due after so many exchanges once an answer is stored, so that the next message finds it done."""
    state = live.state
    if state.answered_count < state.turns_count or find_occasion(state, live.settings.policy) != "cadence":
        return
    if background.is_synchronous:
        await background.worker.work(live)
    else:
        background.wake(live.record.id)
