"""Read what a dream is decided over: new items, the topics and what they are made of, and who was there.

Everything is bounded: so many extractions, items and messages at a time; what is left waits for the next dream.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from everfold.core.dreams.requests import TAIL_COUNT, list_said
from everfold.core.dreams.scenes import Scene, choose_topics
from everfold.core.log.activity import has_real_activity
from everfold.core.log.messages import Message
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.records import Extraction, MemoryVersion
from everfold.core.memory.topics import Dream, DreamId
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.stores import LogStore
from everfold.services.dreams.judge_dream import find_objection

MOST_EXTRACTIONS: Final = 200
MOST_ITEMS: Final = 300
"""So many new items are a dream; an extraction is read whole. Source: own choice, what one request to a model takes."""
_GATE_MESSAGES: Final = 400
"""How many messages of the extractions are looked at for a person's own, newest first."""
_TAIL_REACH: Final = 80
"""How far back the tail is looked for: between two messages that were said lie tool calls and results."""
_PAGE: Final = 40
_DECIDED_COUNT: Final = 8
"""A dream that waits for approval keeps others from beginning, so it is among the newest."""
_STALE: Final = "memory had changed before it was approved"
"""The problem of a proposal that could not be applied any more."""


class DreamStore(MemoryStore, LogStore, Protocol):
    """Memory, and the log that the recent tail comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamInput:
    """What was read.

    Attributes:
        version: Where memory stood before anything was read.
        read_through: The cursor after the dream.
        extractions: The unconsumed ones, oldest first; empty for a dream over given items.
        stale: The proposals whose place the dream takes, as failed: they cannot be applied any more.
    """

    version: MemoryVersion
    cursor: int
    read_through: int
    extractions: tuple[Extraction, ...]
    scene: Scene
    stale: tuple[Dream, ...] = ()


async def read_dream_input(
    store: DreamStore,
    *,
    dream_id: DreamId,
    user_id: UserId,
    agent_id: AgentId,
    now: datetime,
    items_only: Sequence[ItemId] | None = None,
    session_id: SessionId | None = None,
) -> DreamInput | None:
    """Everything that a dream needs; None where there is nothing to dream of, or one waits for a person.

    Args:
        store: Where memory is.
        dream_id: What the dream will be called.
        user_id: Whose.
        agent_id: With whom.
        now: The moment of the dream.
        items_only: Only these items, whether or not the user said anything; the cursor stays.
        session_id: Whose tail goes with given items.
    """
    version = await store.read_memory_version(user_id)
    cursor = await store.read_cursor(user_id, agent_id)
    extractions = () if items_only is not None else await _read_extractions(store, user_id, agent_id, cursor)
    if not (extractions or items_only):
        return None
    stale = await _list_stale(store, user_id, agent_id, version)
    if stale is None:
        return None
    ids = items_only if items_only is not None else [id_ for one in extractions for id_ in one.items]
    items = await store.read_items(user_id, agent_id, ids)
    if extractions and not await _was_active(store, extractions, items):
        return None
    topics = await store.list_topics(user_id, agent_id)
    read = choose_topics(topics, items, now=now)
    sources = await store.read_items(user_id, agent_id, [id_ for topic in read for id_ in topic.sources])
    replaced = _list_replaced(sources, known={item.id for item in (*sources, *items)})
    sessions = [session_id] if session_id else [one.session_id for one in reversed(extractions)]
    scene = Scene(
        dream_id=dream_id,
        user_id=user_id,
        agent_id=agent_id,
        now=now,
        items=(*items, *await store.read_items(user_id, agent_id, replaced)),
        topics=tuple(topics),
        sources=tuple(sources),
        tail=await _read_tail(store, sessions),
    )
    read_through = extractions[-1].ordinal if extractions else cursor
    return DreamInput(
        version=version,
        cursor=cursor,
        read_through=read_through,
        extractions=extractions,
        scene=scene,
        stale=tuple(replace(one, state="failed", ended_at=now, topics=(), problem=_STALE) for one in stale),
    )


async def is_awaiting_approval(store: MemoryStore, user_id: UserId, agent_id: AgentId) -> bool:
    """Whether a proposed dream of theirs can still be applied: none begins before a person has decided it."""
    return await _list_stale(store, user_id, agent_id, await store.read_memory_version(user_id)) is None


async def _list_stale(
    store: MemoryStore, user_id: UserId, agent_id: AgentId, version: MemoryVersion
) -> list[Dream] | None:
    """The proposals of theirs, none of which can be applied any more; None where one can."""
    dreams = await store.list_dreams(user_id, agent_id, limit_count=_DECIDED_COUNT)
    proposals = [dream for dream in dreams if dream.state == "proposed"]
    return proposals if all([await find_objection(store, one, version) for one in proposals]) else None


def _list_replaced(sources: Iterable[Item], *, known: set[ItemId]) -> list[ItemId]:
    """What has replaced sources, and what they had replaced before that was undone: no extraction tells of either."""
    gone = [item for item in sources if item.status != "active"]
    ids = [id_ for item in gone for id_ in (item.supersedes, item.superseded_by) if id_ is not None]
    return [id_ for id_ in ids if id_ not in known]


async def list_range_items(
    store: MemoryStore, user_id: UserId, agent_id: AgentId, session_id: SessionId, first_seq: int, last_seq: int
) -> list[ItemId]:
    """The items that unconsumed extractions of a session found in a range of its messages."""
    cursor = await store.read_cursor(user_id, agent_id)
    extractions = await store.list_extractions(user_id, agent_id, after_ordinal=cursor, limit_count=MOST_EXTRACTIONS)
    own = [
        one
        for one in extractions
        if one.session_id == session_id and one.first_seq <= last_seq and one.last_seq >= first_seq
    ]
    items = await store.read_items(user_id, agent_id, [id_ for one in own for id_ in one.items])
    known = (item for item in items if item.status != "erased")
    return [item.id for item in known if any(first_seq <= quote.seq <= last_seq for quote in item.evidence)]


async def _read_extractions(
    store: MemoryStore, user_id: UserId, agent_id: AgentId, cursor: int
) -> tuple[Extraction, ...]:
    """The oldest unconsumed extractions, up to the one that makes the items enough."""
    found = await store.list_extractions(user_id, agent_id, after_ordinal=cursor, limit_count=MOST_EXTRACTIONS)
    ids: set[ItemId] = set()
    for at, one in enumerate(found, start=1):
        ids.update(one.items)
        if len(ids) >= MOST_ITEMS:
            return tuple(found[:at])
    return tuple(found)


async def _was_active(store: DreamStore, extractions: Sequence[Extraction], items: Sequence[Item]) -> bool:
    """Whether a person said something in what was extracted from; what they said in a lost session counts."""
    left = _GATE_MESSAGES
    for one in reversed(extractions):
        for last_seq in range(one.last_seq, one.first_seq - 1, -_PAGE):
            if left <= 0:
                break
            messages = await _read_range(store, one.session_id, max(one.first_seq, last_seq - _PAGE + 1), last_seq)
            if has_real_activity(messages):
                return True
            left -= _PAGE
    gone = {id_ for one in extractions if one.is_session_gone for id_ in one.items}
    return any(item.origin == "user" for item in items if item.id in gone)


async def _read_tail(store: DreamStore, sessions: Iterable[SessionId]) -> tuple[Message, ...]:
    """What was said last in the first of these sessions that is there."""
    for session_id in dict.fromkeys(sessions):
        try:
            state = await store.read_state(session_id)
        except NotFoundError:
            continue
        messages = await _read_range(store, session_id, max(state.last_seq - _TAIL_REACH, 0) + 1, state.last_seq)
        return list_said(messages)[-TAIL_COUNT:]
    return ()


async def _read_range(store: LogStore, session_id: SessionId, first_seq: int, last_seq: int) -> list[Message]:
    try:
        return await store.read_messages(session_id, range(first_seq, last_seq + 1))
    except NotFoundError:
        return []
