"""Go back: have the sources asked again for what a log shows no longer, where it goes back behind context refreshes."""

from collections.abc import Sequence
from typing import Final

from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import SessionId
from everfold.core.sources.refreshing import ask_again
from everfold.ports.stores import Store

_MOST_READ: Final = 32
"""So many of the refreshes that are gone are read, the oldest ones. Source: own choice; the first one most often holds every
source, and each question reaches to now."""


async def go_back(store: Store, session_id: SessionId, state: SessionState, gone: Sequence[int]) -> SessionState:
    """The state of a log without the refreshes of these numbers, rising; see `ask_again`.

    Args:
        store: Where the refreshes can still be read.
        session_id: The session that has them.
        state: What stands in it of the log lies before them.
        gone: Of no number, the state is given as it is.
    """
    if not gone:
        return state
    seqs = sorted({*gone[:_MOST_READ], state.refresh_seq} - {0})
    messages = {message.seq: message for message in await store.read_messages(session_id, seqs)}
    turn = await store.read_notes(session_id, [state.turn_seq]) if state.turn_seq else []
    return ask_again(
        state,
        [messages[seq] for seq in gone[:_MOST_READ] if seq in messages],
        messages.get(state.refresh_seq),
        active_at=turn[0].said_at if turn else None,
    )
