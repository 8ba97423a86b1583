"""Builders for dreams: items with their evidence, scenes, and a store that remembers what was said."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.dreams.scenes import Scene
from everfold.core.log.messages import Message
from everfold.core.memory.items import Item, ItemId, ItemKind, ItemStatus, Tier
from everfold.core.memory.records import Extraction, MemoryChange
from everfold.core.memory.topics import DreamId, Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import Origin, Source
from everfold.testing.kit.builders import ADA, GUIDE, append_wires, incoming, user
from everfold.testing.kit.fakes import STARTED_AT
from everfold.testing.kit.memory_builders import evidence, item


def day(count: int) -> datetime:
    """So many days after everything began."""
    return STARTED_AT + timedelta(days=count)


def note(  # noqa: PLR0913 - one argument for each thing that a test may want another way
    id_: str,
    statement: str,
    *,
    on_day: int = 0,
    until: datetime | None = None,
    kind: ItemKind = "fact",
    tier: Tier = "user",
    origin: Origin = "user",
    status: ItemStatus = "active",
    supersedes: str | None = None,
    superseded_by: str | None = None,
    is_explicit: bool = False,
    user_id: UserId = ADA,
    agent_id: AgentId = GUIDE,
    session_id: str = "ses_1",
    seq: int = 1,
) -> Item:
    """An item that was said in one message, on a day."""
    quoted = evidence(statement, session_id=session_id, seq=seq, origin=origin)._replace(said_at=day(on_day))
    return replace(
        item(id_, statement, quoted, user_id=user_id, agent_id=agent_id, tier=tier, status=status),
        kind=kind,
        origin=origin,
        valid_from=day(on_day),
        valid_to=until,
        recorded_at=day(on_day),
        last_seen_at=day(on_day),
        changed_at=day(on_day),
        supersedes=ItemId(supersedes) if supersedes else None,
        superseded_by=ItemId(superseded_by) if superseded_by else None,
        is_explicit=is_explicit,
    )


def scene(
    *items: Item,
    topics: Sequence[Topic] = (),
    sources: Sequence[Item] = (),
    tail: Sequence[Message] = (),
    on_day: int = 30,
    dream_id: str = "drm_1",
) -> Scene:
    """What a dream is decided over."""
    return Scene(
        dream_id=DreamId(dream_id),
        user_id=ADA,
        agent_id=GUIDE,
        now=day(on_day),
        items=tuple(items),
        topics=tuple(topics),
        sources=tuple(sources),
        tail=tuple(tail),
    )


async def remember(
    store: SqliteStore, *items: Item, session_id: str = "ses_1", is_said: bool = True, said_at: datetime = STARTED_AT
) -> Extraction:
    """Say the statements of items of one user and agent in a session that is there, and keep them with an extraction.

    Where no user said them, a program put them in.
    """
    session, first = SessionId(session_id), (await store.read_state(SessionId(session_id))).last_seq + 1
    texts = [item.statement for item in items] or ["Good morning."]
    source: Source = "said" if is_said else "injection"
    await append_wires(store, session, *(incoming(user(text), source=source, said_at=said_at) for text in texts))
    user_id = items[0].user_id if items else ADA
    agent_id = items[0].agent_id if items else GUIDE
    extraction = Extraction(
        id=f"ext_{session_id}_{first}",
        user_id=user_id,
        agent_id=agent_id,
        session_id=session,
        compaction_id=None,
        first_seq=first,
        last_seq=first + len(texts) - 1,
        written_by="heuristic",
        made_at=said_at,
        items=tuple(item.id for item in items),
        counts=(len(items), 0, 0, 0, 0),
    )
    head = await store.read_memory_version(user_id)
    change = MemoryChange(user_id=user_id, agent_id=agent_id, expected=head, items=items, extraction=extraction)
    await store.change_memory(change)
    return extraction
