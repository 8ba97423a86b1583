"""What the engine does, as it happens, for whoever may see it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from everfold.core.happenings import Happening, HappeningsDropped
from everfold.core.sessions import AgentId, UserId
from everfold.engine import Everfold
from everfold.server.owners import Owner, Owners
from everfold.services.feed import Subscription


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A happening, and whose it is; None where it is nobody's."""

    happening: Happening
    user_id: UserId | None
    agent_id: AgentId | None


async def watch_happenings(
    engine: Everfold, owners: Owners, stopping: asyncio.Event, *, owner: Owner, session_id: str | None
) -> AsyncIterator[Seen]:
    """Happenings from now on, until the server stops.

    Args:
        engine: Whose they are.
        owners: Knows whose sessions are.
        stopping: Ends the watch.
        owner: Only what is about sessions of this user and this agent; what is about no session is seen by who asks
            for everybody.
        session_id: Only what is about this session.
    """
    happenings = cast("Subscription", engine.events(session=session_id))
    stopper = asyncio.create_task(_end_at_stop(stopping, happenings), name="everfold stream stopper")
    try:
        async for happening in happenings:
            seen = await _see(engine, owners, happening, owner)
            if seen is not None:
                yield seen
    finally:
        stopper.cancel()
        await happenings.aclose()


async def _end_at_stop(stopping: asyncio.Event, happenings: Subscription) -> None:
    await stopping.wait()
    happenings.end()


async def _see(engine: Everfold, owners: Owners, happening: Happening, owner: Owner) -> Seen | None:
    """A happening as somebody may see it, or None. That some were lost everybody is told."""
    if isinstance(happening, HappeningsDropped):
        return Seen(happening=happening, user_id=None, agent_id=None)
    if happening.session_id is None:
        is_everybody = owner.user_id is None and owner.agent_id is None
        return Seen(happening=happening, user_id=None, agent_id=None) if is_everybody else None
    found = await owners.find(engine, happening.session_id)
    if found is None or not owner.has(*found):
        return None
    return Seen(happening=happening, user_id=found[0], agent_id=found[1])
