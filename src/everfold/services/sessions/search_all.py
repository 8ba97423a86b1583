"""Search all: the messages, items and topics of a user that answer a question, each best first."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from everfold.core.dreams.topic_lines import show_topic
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.memory.items import Item
from everfold.core.memory.topics import Topic
from everfold.core.primitives.choices import require_choices
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.recalling import score_topics
from everfold.core.text.searching import plan_query
from everfold.ports.memory import ItemStore
from everfold.ports.stores import Store
from everfold.services.sessions.search import SearchHit, search_messages

Place = Literal["messages", "items", "topics"]
_MOST_RANKED: Final = 2_000
"""Among so many items those are looked for that are not past their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemHit:
    """An item that was found. The score orders the hits of one search and means nothing beside another's."""

    item: Item
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicHit:
    """A topic that was found; its score is as in `ItemHit`."""

    topic: Topic
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a question found in each place; scores are comparable within one of them only."""

    messages: tuple[SearchHit, ...] = ()
    items: tuple[ItemHit, ...] = ()
    topics: tuple[TopicHit, ...] = ()


async def search_all(
    store: Store,
    question: str,
    *,
    user_id: UserId,
    agent_id: AgentId | None,
    places: Collection[Place],
    now: datetime,
    limit_count: int,
    only: SearchFilter = ANY_MESSAGE,
) -> Found:
    """The best of each place that is asked for, as the owner sees it (None), or an agent. The filter is for messages.

    Raises:
        InvalidInputError: the count is not between 1 and `MOST_HITS`, or there is no such place.
    """
    require_choices("places", places, Place)
    query = plan_query(question)
    messages = (
        await search_messages(store, question, user_id=user_id, agent_id=agent_id, limit_count=limit_count, only=only)
        if "messages" in places
        else []
    )
    items = (
        await search_items(store, question, user_id, agent_id, now=now, limit_count=limit_count)
        if "items" in places
        else []
    )
    topics = await store.list_topics(user_id, agent_id) if "topics" in places else []
    scored = score_topics(query, [show_topic(topic, now) for topic in topics], now=now)[:limit_count]
    return Found(
        messages=tuple(messages),
        items=tuple(items),
        topics=tuple(TopicHit(topic=topic, score=score) for topic, score in scored),
    )


async def search_items(
    store: ItemStore, question: str, user_id: UserId, agent_id: AgentId | None, *, now: datetime, limit_count: int
) -> list[ItemHit]:
    """Items that share words with a question, best first, none past its end: more are asked for where one is."""
    query = plan_query(question)
    ranked: list[tuple[Item, float]] = []
    for count in (limit_count, max(limit_count, _MOST_RANKED)):
        ranked = await store.search_items(query, user_id, agent_id, limit_count=count)
        if len(ranked) < count or all(item.is_current(now) for item, _ in ranked):
            break
    current = [ItemHit(item=item, score=score) for item, score in ranked if item.is_current(now)]
    return current[:limit_count]
