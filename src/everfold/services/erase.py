"""Erase: remove a message and everything that was made from it; what stays is a tombstone with its number and time.

Source: DESIGN G10 and section 3.3.
"""

from everfold.core.appending import index_message, remember_said
from everfold.core.searching import BEFORE_COUNT
from everfold.errors import NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.live import LiveSession

_REACH = 24
"""How many messages after an erased one are looked at for context rows that hold its words."""


async def erase_message(store: Store, live: LiveSession, seq: int, *, clock: Clock) -> None:
    """Erase one message.

    Raises:
        NotFoundError: the session has no such message.
    """
    await live.reload(store)
    if seq not in {message.seq for message in await store.read_messages(live.record.id, [seq])}:
        raise NotFoundError(
            f"session {live.record.id} has no message {seq}, or it was erased before",
            session=live.record.id,
            seq=seq,
        )
    neighbours = await _rebuild_neighbours(store, live, seq)
    await store.erase_message(live.record.id, seq, neighbours=neighbours, erased_at=clock.now())
    live.messages.pop(seq, None)


async def _rebuild_neighbours(store: Store, live: LiveSession, seq: int) -> list[tuple[int, str, str]]:
    """The index texts, without the erased message, of the messages after it whose context row held its words."""
    first_seq, last_seq = max(seq - _REACH, 1), min(seq + _REACH, live.state.last_seq)
    said_before: tuple[str, ...] = ()
    rebuilt: list[tuple[int, str, str]] = []
    said_after = 0
    for message in await store.read_messages(live.record.id, range(first_seq, last_seq + 1)):
        if message.seq == seq:
            continue
        if message.seq > seq and said_after < BEFORE_COUNT:
            text = index_message(message, said_before=said_before)
            rebuilt.append((message.seq, text.own, text.before))
        remembered = remember_said(message, said_before)
        said_after += message.seq > seq and remembered != said_before
        said_before = remembered
    return rebuilt
