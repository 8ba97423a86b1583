"""What the engine does, as it happens, for whoever may see it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final, cast

from everfold.core.happenings import Happening, HappeningsDropped, MemoryChanged
from everfold.core.sessions import AgentId, UserId
from everfold.engine import Everfold
from everfold.server.owners import Owner, Owners
from everfold.services.feed import Subscription

_OF_AGENTS: Final = frozenset({"items", "topics"})


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
        owner: Only what is about sessions and memory of this user and this agent; what is about neither is seen by who
            asks for everybody. What all agents of a user share is each one's.
        session_id: Only what is about this session.
    """
    happenings = cast("Subscription", engine.events(session=session_id, changes=True))
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
    if isinstance(happening, MemoryChanged):
        return _see_memory(happening, owner)
    if happening.session_id is None:
        is_everybody = owner.user_id is None and owner.agent_id is None
        return Seen(happening=happening, user_id=None, agent_id=None) if is_everybody else None
    found = await owners.find(engine, happening.session_id)
    if found is None or not owner.has(*found):
        return None
    return Seen(happening=happening, user_id=found[0], agent_id=found[1])


def _see_memory(happening: MemoryChanged, owner: Owner) -> Seen | None:
    """A change of memory as somebody may see it. An agent is shown items and topics, and nothing else of memory."""
    if not owner.has_memory(happening.user_id, happening.agent_id):
        return None
    if owner.agent_id is not None:
        happening = replace(happening, parts=tuple(part for part in happening.parts if part in _OF_AGENTS))
    if not happening.parts:
        return None
    return Seen(happening=happening, user_id=happening.user_id, agent_id=happening.agent_id)
