"""Stopping an answer, at whichever server of the store it runs.

The lease of its session tells whether another server answers, and by its holder, which answer that is. That server is told
the holder by the relay, and gives the lease back once it has stored the text so far. A stop that arrives later has no effect.
"""

import math
from typing import Final

import anyio

from everfold.core.log.sessions import SessionRecord
from everfold.errors import ConflictError
from everfold.ports.leases import LeaseName
from everfold.server.chats import LEASE_SECS, LOOK_SECS
from everfold.server.runtime import Runtime
from everfold.services.telling.relay import Relay

TELL_SECS: Final = 1.0
"""How long after a stop it is told again, to an answer that had not begun."""
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
    holder = None if is_here else await _find_holder(runtime, session)
    if holder is None or runtime.chats.holds(session.id):
        return False
    if runtime.relay is None:
        text = "another server answers, and a stop does not reach it over SQLite; ask that server to stop"
        raise ConflictError(f"session {session.id}: {text}", session=session.id)
    await _stop_holder(runtime, runtime.relay, session, holder)
    return True


async def _find_holder(runtime: Runtime, session: SessionRecord) -> str | None:
    """What has the session for its answer; None where no server answers in it."""
    name = LeaseName(user_id=session.user_id, work="answer", about=session.id)
    return await runtime.engine.admin.leases.find_holder(name)


async def _stop_holder(runtime: Runtime, relay: Relay, session: SessionRecord, holder: str) -> None:
    """Tell the server of a holder to stop until its answer has ended: it may not have begun when it is told first."""
    ends_at = anyio.current_time() + STOP_SECS
    told_at = -math.inf
    while await _find_holder(runtime, session) == holder:
        if anyio.current_time() - told_at >= TELL_SECS:
            told_at = anyio.current_time()
            await relay.tell_stop(holder)
        if anyio.current_time() > ends_at:
            text = f"another server answers, and has not stopped within {STOP_SECS:g} seconds; ask again"
            raise ConflictError(f"session {session.id}: {text}", session=session.id)
        await anyio.sleep(LOOK_SECS)
