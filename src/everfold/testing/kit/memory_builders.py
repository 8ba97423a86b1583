"""Builders of memory: items, topics, dreams and changes with a default for everything."""

import hashlib
from dataclasses import replace

from everfold.core.memory.items import Evidence, Item, ItemId, ItemStatus, Tier, identify
from everfold.core.memory.records import AuditAction, AuditEntry, Extraction, MemoryChange, MemoryVersion
from everfold.core.memory.topics import Dream, DreamId, Topic, TopicId
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import Origin
from everfold.ports.memory import MemoryStore
from everfold.testing.kit.builders import ADA, GUIDE, minute


def evidence(quote: str, *, session_id: str = "ses_1", seq: int = 1, origin: Origin = "user") -> Evidence:
    """A quote at the beginning of a message."""
    content_hash = hashlib.sha256(quote.encode("utf-8", "surrogatepass")).hexdigest()
    return Evidence(SessionId(session_id), seq, 0, quote, content_hash, origin, minute(seq))


def item(
    id_: str,
    statement: str = "The berth costs 17 euros.",
    *quotes: Evidence,
    user_id: UserId = ADA,
    agent_id: AgentId = GUIDE,
    tier: Tier = "user",
    status: ItemStatus = "active",
    revision: int = 1,
) -> Item:
    """A fact, as memory first had it."""
    return Item(
        id=ItemId(id_),
        user_id=user_id,
        agent_id=agent_id,
        tier=tier,
        kind="fact",
        statement=statement,
        evidence=quotes,
        origin="user",
        confidence=0.9,
        valid_from=minute(0),
        recorded_at=minute(1),
        last_seen_at=minute(2),
        changed_at=minute(2),
        identity=identify(statement, tier=tier, agent_id=agent_id),
        written_by="heuristic",
        status=status,
        revision=revision,
    )


def erased(former: Item) -> Item:
    """The tombstone of an item."""
    return replace(
        former,
        statement="",
        evidence=(),
        identity="",
        status="erased",
        revision=former.revision + 1,
        written_by="erase",
    )


def topic(
    id_: str,
    name: str = "harbour",
    *,
    user_id: UserId = ADA,
    agent_id: AgentId = GUIDE,
    tier: Tier = "user",
    content: str = "Berths are let by the day.",
) -> Topic:
    """A topic, as it was first written."""
    return Topic(
        id=TopicId(id_),
        user_id=user_id,
        agent_id=agent_id,
        tier=tier,
        name=name,
        summary="What berths cost.",
        content=content,
        sources=(ItemId("itm_1"),),
        origin="user",
        updated_at=minute(5),
    )


def dream(id_: str, *topics: Topic, user_id: UserId = ADA, agent_id: AgentId = GUIDE) -> Dream:
    """A dream that was applied."""
    return Dream(
        id=DreamId(id_),
        user_id=user_id,
        agent_id=agent_id,
        state="applied",
        begun_at=minute(6),
        ended_at=minute(7),
        epoch=0,
        read_through=3,
        topics=topics,
        items=(ItemId("itm_1"),),
    )


def extraction(id_: str, *, user_id: UserId = ADA, agent_id: AgentId = GUIDE, session_id: str = "ses_1") -> Extraction:
    """A pass over two messages that found a fact."""
    return Extraction(
        id=id_,
        user_id=user_id,
        agent_id=agent_id,
        session_id=SessionId(session_id),
        compaction_id=None,
        first_seq=1,
        last_seq=2,
        written_by="heuristic",
        made_at=minute(3),
        items=(ItemId("itm_1"),),
        counts=(1, 0, 0, 0, 0),
    )


def audit(action: AuditAction = "write", *, at: int = 0, user_id: UserId = ADA, about: str = "itm_1") -> AuditEntry:
    """An entry that was made so many minutes after the start."""
    return AuditEntry(at=minute(at), user_id=user_id, agent_id=None, actor="user", action=action, about=(about,))


async def change(store: MemoryStore, plan: MemoryChange) -> MemoryVersion:
    """Write a change over whatever version there is now."""
    return await store.change_memory(replace(plan, expected=await store.read_memory_version(plan.user_id)))


async def put(store: MemoryStore, *rows: Item | Topic, has_erased: bool = False) -> MemoryVersion:
    """Write items and topics of one user, all at once."""
    return await change(
        store,
        MemoryChange(
            user_id=rows[0].user_id,
            agent_id=rows[0].agent_id,
            expected=MemoryVersion(),
            items=tuple(row for row in rows if isinstance(row, Item)),
            topics=tuple(row for row in rows if isinstance(row, Topic)),
            has_erased=has_erased,
        ),
    )
