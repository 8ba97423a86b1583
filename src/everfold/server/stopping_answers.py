"""Stopping an answer, at whichever server of the store it runs.

The lease of its session tells whether another server answers. That server is told by the relay, and gives the lease back
once it has stored the text so far.
"""

from typing import Final

import anyio

from everfold.core.log.sessions import SessionRecord
from everfold.errors import ConflictError
from everfold.ports.leases import LeaseName
from everfold.server.chats import LEASE_SECS, LOOK_SECS
from everfold.server.runtime import Runtime
from everfold.services.sessions.hold_lease import hold_lease

STOP_SECS: Final = 2 * LEASE_SECS
"""How long another server may take to stop. Source: own choice; within half of it the lease of one that died runs out."""


async def stop_answer(runtime: Runtime, session: SessionRecord) -> bool:
    """Stop the running answer of a session; False where none runs.

    Raises:
        ConflictError: another server answers that cannot be told, or has not stopped within `STOP_SECS`.
        StoreUnavailableError: the store does not serve.
    """
    if runtime.chats.stop(session.id):
        return True
    is_here = runtime.chats.holds(session.id)  # it begins or ends just now
    if is_here or await _is_free(runtime, session) or runtime.chats.holds(session.id):
        return False
    if runtime.relay is None:
        text = "another server answers, and a stop does not reach it over SQLite; ask that server to stop"
        raise ConflictError(f"session {session.id}: {text}", session=session.id)
    await runtime.relay.tell_stop(session.id)
    await _wait_until_free(runtime, session)
    return True


async def _is_free(runtime: Runtime, session: SessionRecord) -> bool:
    """Whether no server answers in a session."""
    name = LeaseName(user_id=session.user_id, work="answer", about=session.id)
    holder = runtime.ids.new_id("stop_")
    async with hold_lease(runtime.engine.admin.leases, name, holder=holder, secs=LEASE_SECS) as is_free:
        return is_free


async def _wait_until_free(runtime: Runtime, session: SessionRecord) -> None:
    ends_at = anyio.current_time() + STOP_SECS
    while not await _is_free(runtime, session):
        if anyio.current_time() > ends_at:
            text = f"another server answers, and has not stopped within {STOP_SECS:g} seconds; ask again"
            raise ConflictError(f"session {session.id}: {text}", session=session.id)
        await anyio.sleep(LOOK_SECS)
