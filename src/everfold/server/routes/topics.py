"""Topics: one by its name, and what one agent has for itself."""

from functools import partial

from fastapi import Response

from everfold.core.items import Tier
from everfold.memory import Memory
from everfold.server.access import AnyKey, OfAgentMemory, OfMemory
from everfold.server.queries import AgentQuery, TierQuery, TopicText
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routing import make_router
from everfold.server.shapes.topics import (
    AgentMemoryShape,
    ErasedAgentMemory,
    ErasedTopics,
    TopicShape,
    show_agent_index,
    show_topic,
)

router = make_router("topics")


@router.get("/api/users/{user}/memory/{topic}", responses=TAGGED)
@router.get("/api/users/{user}/topics/{topic}", responses=TAGGED)
async def read_topic(
    memory: OfMemory, topic: TopicText, response: Response, tier: TierQuery = None, agent: AgentQuery = None
) -> TopicShape:
    """Read one topic with all its revisions; of several with the name that of the tier `user` comes first."""
    mark, shown = await _read_now(memory, topic, tier, agent)
    tag(response, mark)
    return shown


@router.delete("/api/users/{user}/memory/{topic}")
@router.delete("/api/users/{user}/topics/{topic}")
async def erase_topic(
    memory: OfMemory,
    caller: AnyKey,
    topic: TopicText,
    expected: ExpectedRevision,
    tier: TierQuery = None,
    agent: AgentQuery = None,
) -> ErasedTopics:
    """Erase the topics with a name, with all their revisions, out of dreams too; their items stay."""
    async with told_race(expected, partial(_read_now, memory, topic, tier, agent)):
        ids = await memory.forget_topic(topic, tier=tier, agent=agent, expected_revision=expected, actor=caller.actor)
    return ErasedTopics(deleted=list(ids))


@router.get("/api/users/{user}/agents/{agent}/memory")
async def read_agent_memory(memory: OfMemory, agent: OfAgentMemory) -> AgentMemoryShape:
    """List what one agent has for itself of a user: the topics of its own tier, and how many items."""
    return show_agent_index(await memory.agent_index(agent))


@router.delete("/api/users/{user}/agents/{agent}/memory")
async def erase_agent_memory(memory: OfMemory, agent: OfAgentMemory, caller: AnyKey) -> ErasedAgentMemory:
    """Erase what one agent has for itself of a user, in one change; everything else stays."""
    gone = await memory.forget_agent(agent, actor=caller.actor)
    return ErasedAgentMemory(topics_deleted=gone.topics_count, items_deleted=gone.items_count)


async def _read_now(memory: Memory, topic: str, tier: Tier | None, agent: str | None) -> tuple[int, TopicShape]:
    revisions = await memory.get_topic(topic, tier=tier, agent=agent)
    return revisions[-1].revision, show_topic(revisions)
