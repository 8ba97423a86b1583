"""Search all: the messages, items and topics of a user that answer a question, each best first."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everfold.core.items import Item
from everfold.core.recalling import score_topics
from everfold.core.searching import plan_query
from everfold.core.sessions import AgentId, UserId
from everfold.core.topics import Topic
from everfold.ports.stores import Store
from everfold.services.search import SearchHit, search_messages

Place = Literal["messages", "items", "topics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a question found in each place; scores are comparable within one of them only."""

    messages: tuple[SearchHit, ...] = ()
    items: tuple[tuple[Item, float], ...] = ()
    topics: tuple[tuple[Topic, float], ...] = ()


async def search_all(
    store: Store,
    question: str,
    *,
    user_id: UserId,
    agent_id: AgentId | None,
    places: Collection[Place],
    now: datetime,
    limit_count: int,
) -> Found:
    """The best of each place that is asked for, as the owner sees it (None), or an agent.

    Raises:
        InvalidInputError: the count is not between 1 and `MOST_HITS`.
    """
    query = plan_query(question)
    messages = (
        await search_messages(store, question, user_id=user_id, agent_id=agent_id, limit_count=limit_count)
        if "messages" in places
        else []
    )
    items = await store.search_items(query, user_id, agent_id, limit_count=limit_count) if "items" in places else []
    topics = await store.list_topics(user_id, agent_id) if "topics" in places else []
    scored = score_topics(query, topics, now=now)[:limit_count]
    return Found(messages=tuple(messages), items=tuple(items), topics=tuple(scored))
