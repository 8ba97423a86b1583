"""Judge a dream: a person approves or rejects one that was proposed, or undoes one that was applied.

Each is one change over the version that was read. What others have done to the same topics meanwhile is not overwritten:
the judgement is refused, and says so. A proposal that is refused so could never be applied: the next dream takes its place.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from everfold.core.dreams.carried_ends import carry_ends, take_back_ends
from everfold.core.memory.items import Item
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.memory.topics import Dream, DreamId, DreamState, Topic
from everfold.core.observation.events import DreamJudged
from everfold.errors import ConflictError
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import change_memory

_ERASED: Final = "something was erased since, and it may contain that"


async def approve_dream(store: MemoryStore, clock: Clock, dream_id: DreamId, *, actor: str, stream: Stream) -> Dream:
    """Apply a proposed dream: its topics, and its cursor.

    Raises:
        NotFoundError: there is no such dream.
        ConflictError: it is not proposed, something was erased since, or one of its topics was changed since.
    """
    return await _judge(store, clock, dream_id, "applied", actor, stream)


async def reject_dream(store: MemoryStore, clock: Clock, dream_id: DreamId, *, actor: str, stream: Stream) -> Dream:
    """Drop a proposed dream. Its cursor moves on, so that the same is not proposed again.

    The cursor of one that could not be applied any more stays: the next dream reads the same items over memory as it is.

    Raises:
        NotFoundError: there is no such dream.
        ConflictError: it is not proposed.
    """
    return await _judge(store, clock, dream_id, "rejected", actor, stream)


async def revert_dream(store: MemoryStore, clock: Clock, dream_id: DreamId, *, actor: str, stream: Stream) -> Dream:
    """Bring the topics of an applied dream back to what they were, as new revisions; those that it began go.

    The cursor stays: what it read is not dreamed again at once.

    Raises:
        NotFoundError: there is no such dream.
        ConflictError: it is not applied, something was erased since, or a later dream or a person changed one of its
            topics.
    """
    return await _judge(store, clock, dream_id, "reverted", actor, stream)


async def _judge(
    store: MemoryStore, clock: Clock, dream_id: DreamId, state: DreamState, actor: str, stream: Stream
) -> Dream:
    async def attempt() -> Dream | None:
        dream = await store.get_dream(dream_id)
        version = await store.read_memory_version(dream.user_id)
        _check_state(dream, "applied" if state == "reverted" else "proposed")
        now = clock.now()
        judged = replace(dream, state=state, ended_at=now)
        change = await _plan_change(store, dream, judged, version, now, actor)
        try:
            await change_memory(store, change, stream=stream)
        except ConflictError:
            return None
        stream.publish(DreamJudged(user_id=dream.user_id, agent_id=dream.agent_id, dream_id=dream.id, state=state))
        return judged

    return await write_in_turn(store, (await store.get_dream(dream_id)).user_id, attempt)


async def _plan_change(
    store: MemoryStore, dream: Dream, judged: Dream, version: MemoryVersion, now: datetime, actor: str
) -> MemoryChange:
    topics: tuple[Topic, ...] = ()
    items: tuple[Item, ...] = ()
    objection = None if judged.state == "reverted" else await find_objection(store, dream, version)
    if judged.state == "applied":
        if objection is not None:
            raise _refuse(dream.id, objection)
        topics = dream.topics
        items = carry_ends(topics, await _read_sources(store, dream, topics), now=now)
    elif judged.state == "reverted":
        topics = await _list_restored(store, dream, version, now)
        items = take_back_ends(dream.topics, await _read_sources(store, dream, dream.topics), now=now)
    cursor = await store.read_cursor(dream.user_id, dream.agent_id)
    moves = judged.state != "reverted" and objection is None and dream.read_through > cursor
    entry = AuditEntry(
        at=now,
        user_id=dream.user_id,
        agent_id=dream.agent_id,
        actor=actor,
        action="dream",
        about=(dream.id, *(topic.id for topic in topics)),
        counts=((judged.state, 1), ("topics", len(topics))),
    )
    return MemoryChange(
        user_id=dream.user_id,
        agent_id=dream.agent_id,
        expected=version,
        items=items,
        topics=topics,
        dream=judged,
        read_through=dream.read_through if moves else None,
        audit=(entry,),
    )


async def _read_sources(store: MemoryStore, dream: Dream, topics: Sequence[Topic]) -> list[Item]:
    """The items that topics with an end were made of."""
    ids = [id_ for topic in topics if topic.expires_at for id_ in topic.sources]
    return await store.read_items(dream.user_id, dream.agent_id, ids)


async def find_objection(store: MemoryStore, proposal: Dream, version: MemoryVersion) -> str | None:
    """Why a proposal cannot be applied any more at a version of memory, as a clause; None where it can."""
    if proposal.epoch != version.epoch:
        return _ERASED
    for topic in proposal.topics:
        revisions = await _list_revisions(store, proposal, topic)
        if (revisions[-1].revision if revisions else 0) != topic.revision - 1:
            return f"topic {topic.name} was changed since it was proposed"
    return await _find_taken_name(store, proposal, proposal.topics)


async def _list_restored(store: MemoryStore, dream: Dream, version: MemoryVersion, now: datetime) -> tuple[Topic, ...]:
    if dream.epoch != version.epoch:
        raise _refuse(dream.id, _ERASED)
    restored: list[Topic] = []
    for topic in dream.topics:
        revisions = await _list_revisions(store, dream, topic)
        if not revisions or revisions[-1] != topic:
            raise _refuse(dream.id, f"topic {topic.name} was changed since")
        before = next((one for one in revisions if one.revision == topic.revision - 1), None)
        base = before or replace(topic, status="superseded")
        restored.append(replace(base, revision=topic.revision + 1, updated_at=now))
    if (objection := await _find_taken_name(store, dream, restored)) is not None:
        raise _refuse(dream.id, objection)
    return tuple(restored)


async def _list_revisions(store: MemoryStore, dream: Dream, topic: Topic) -> list[Topic]:
    found = await store.list_topic_revisions(dream.user_id, dream.agent_id, topic.name)
    return sorted((one for one in found if one.id == topic.id), key=lambda one: one.revision)


async def _find_taken_name(store: MemoryStore, dream: Dream, topics: Sequence[Topic]) -> str | None:
    """An objection where a topic would come to stand beside another of its name."""
    ids = {topic.id for topic in topics}
    current = await store.list_topics(dream.user_id, dream.agent_id)
    taken = {(one.tier, one.name) for one in current if one.id not in ids}
    names = [one.name for one in topics if one.status == "active" and (one.tier, one.name) in taken]
    return f"another topic is called {names[0]} by now" if names else None


def _check_state(dream: Dream, expected: DreamState) -> None:
    if dream.state != expected:
        raise _refuse(dream.id, f"it is {dream.state}, expected {expected}")


def _refuse(dream_id: DreamId, reason: str) -> ConflictError:
    return ConflictError(f"dream {dream_id}: {reason}; nothing was changed, dream again instead", dream=dream_id)
