"""The events of the engine, as they come, for a reader who may see them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, cast

from everfold.core.access.api_keys import ApiKey, judge
from everfold.core.observation.events import (
    DreamBegun,
    DreamEnded,
    DreamJudged,
    Event,
    EventsDropped,
    ExtractionEnded,
    MemoryChanged,
    SessionErased,
)
from everfold.core.primitives.ids import AgentId, UserId
from everfold.engine import Everfold
from everfold.errors import StoreUnavailableError
from everfold.server.owners import Owner, Owners
from everfold.services.access.api_keys import ApiKeys
from everfold.services.telling.feed import Subscription

KEY_SECS: Final = 5.0
"""How long a stream may outlive its key. Source: own choice, one read for each stream; docs/how-to/keys.md says it."""

_OF_AGENTS: Final = frozenset({"items", "topics", "files"})
_OF_USERS = ExtractionEnded | DreamBegun | DreamEnded | DreamJudged
"""What is told of memory to its user alone, as the routes of extractions and dreams are theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An event, and whose it is; None where it is of no user."""

    event: Event
    user_id: UserId | None
    agent_id: AgentId | None


async def watch_events(
    engine: Everfold, owners: Owners, stopping: asyncio.Event, *, key: ApiKey, owner: Owner, session_id: str | None
) -> AsyncGenerator[Seen]:
    """Events from now on, until the server stops or the reader's key works no more.

    Args:
        engine: Whose they are.
        owners: Knows whose sessions are.
        stopping: Ends the watch.
        key: Of the reader.
        owner: Only what is about sessions and memory of this user and this agent. An owner of everything also sees
            what is about neither. What all agents of a user share is each one's.
        session_id: Only what is about this session.
    """
    events = cast("Subscription", engine.events(session=session_id, changes=True))
    stopper = asyncio.create_task(
        _end_in_time(engine.admin.api_keys, stopping, events, key), name="everfold stream stopper"
    )
    try:
        async for event in events:
            seen = await _see(engine, owners, event, owner)
            if seen is not None:
                yield seen
    finally:
        stopper.cancel()
        await events.aclose()


async def _end_in_time(api_keys: ApiKeys, stopping: asyncio.Event, events: Subscription, key: ApiKey) -> None:
    try:
        while await _works(api_keys, key):
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), KEY_SECS)
                break
    finally:
        events.end()


async def _works(api_keys: ApiKeys, key: ApiKey) -> bool:
    """Whether a key is let in now, as far as can be told: while the store does not serve, it tells of no change."""
    try:
        found = await api_keys.store.find_api_key(key.secret_hash)
    except StoreUnavailableError:
        found = key
    return found is not None and judge(found, api_keys.clock.now()) is None


async def _see(engine: Everfold, owners: Owners, event: Event, owner: Owner) -> Seen | None:
    """An event as its reader may see it, or None. Every reader is told that some were dropped."""
    if isinstance(event, EventsDropped):
        return Seen(event=event, user_id=None, agent_id=None)
    if isinstance(event, MemoryChanged):
        return _see_memory(event, owner)
    if isinstance(event, _OF_USERS):
        is_seen = owner.agent_id is None and owner.has_memory(event.user_id, event.agent_id)
        return Seen(event=event, user_id=event.user_id, agent_id=event.agent_id) if is_seen else None
    if isinstance(event, SessionErased):
        is_seen = owner.has(event.user_id, event.agent_id)
        return Seen(event=event, user_id=event.user_id, agent_id=event.agent_id) if is_seen else None
    if event.session_id is None:
        is_everybody = owner.user_id is None and owner.agent_id is None
        return Seen(event=event, user_id=None, agent_id=None) if is_everybody else None
    found = await owners.find(engine, event.session_id)
    if found is None or not owner.has(*found):
        return None
    return Seen(event=event, user_id=found[0], agent_id=found[1])


def _see_memory(event: MemoryChanged, owner: Owner) -> Seen | None:
    """A change of memory as its reader may see it. An agent is shown items, topics and files, and nothing else of memory."""
    if not owner.has_memory(event.user_id, event.agent_id):
        return None
    if owner.agent_id is not None:
        event = replace(event, parts=tuple(part for part in event.parts if part in _OF_AGENTS))
    if not event.parts:
        return None
    return Seen(event=event, user_id=event.user_id, agent_id=event.agent_id)
