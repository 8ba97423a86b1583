"""Settle cache breaks: store that a window has reported them, so that no later one does."""

from dataclasses import replace

from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.services.sessions.handover import Handover
from everfold.services.telling.tries import Tries


async def settle_breaks(store: Store, handover: Handover, session_id: SessionId, reported_count: int) -> None:
    """Store that windows have reported so many cache breaks of all, unless an append has done it meanwhile."""
    tries = Tries(f"cache breaks of session {session_id}", session=session_id)
    while (state := await store.read_state(session_id)).reported_count < reported_count:
        await tries.begin()
        settled = replace(state.with_reported(reported_count), revision=state.revision + 1)
        try:
            await store.write_state(session_id, settled, expected_revision=state.revision)
        except ConflictError:
            continue
        handover.leave_state(session_id, settled)
        break
