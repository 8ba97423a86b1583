"""Topics: one by its name, and what one agent has for itself."""

from functools import partial

from fastapi import Response

from everfold.core.memory.items import Tier
from everfold.memory import AgentIndex, Memory
from everfold.server.access import AnyKey, OfAgentMemory, OfMemory
from everfold.server.queries import AgentQuery, TierQuery, TopicText
from everfold.server.revisions import TAGGED, ExpectedRevision, tag, told_race
from everfold.server.routing import make_router
from everfold.server.schemas.schema import Schema
from everfold.server.schemas.topics import (
    AgentMemorySchema,
    ErasedAgentMemory,
    ErasedTopics,
    TopicRevisions,
    TopicSchema,
)

router = make_router("topics")


@router.get("/api/users/{user}/memory/{topic}", response_model=TopicSchema, responses=TAGGED)
@router.get("/api/users/{user}/topics/{topic}", response_model=TopicSchema, responses=TAGGED)
async def read_topic(
    memory: OfMemory, topic: TopicText, response: Response, tier: TierQuery = None, agent: AgentQuery = None
) -> Schema:
    """Read one topic with all its revisions; if both tiers have the name, the topic of the tier `user`."""
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
    """Erase the topics with a name and all their revisions, also from dreams; their items stay."""
    async with told_race(expected, partial(_read_now, memory, topic, tier, agent)):
        ids = await memory.forget_topic(topic, tier=tier, agent=agent, expected_revision=expected, actor=caller.actor)
    return ErasedTopics(deleted=list(ids))


@router.get("/api/users/{user}/agents/{agent}/memory", response_model=AgentMemorySchema)
async def read_agent_memory(memory: OfMemory, agent: OfAgentMemory) -> AgentIndex:
    """List one agent's own notes about a user: the topics of its tier, and the number of items."""
    return await memory.agent_index(agent)


@router.delete("/api/users/{user}/agents/{agent}/memory")
async def erase_agent_memory(memory: OfMemory, agent: OfAgentMemory, caller: AnyKey) -> ErasedAgentMemory:
    """Erase one agent's own notes about a user in one change; everything else stays."""
    gone = await memory.forget_agent(agent, actor=caller.actor)
    return ErasedAgentMemory(
        topics_deleted=gone.topics_count, items_deleted=gone.items_count, files_deleted=gone.files_count
    )


async def _read_now(memory: Memory, topic: str, tier: Tier | None, agent: str | None) -> tuple[int, Schema]:
    revisions = await memory.get_topic(topic, tier=tier, agent=agent)
    return revisions[-1].revision, TopicSchema.model_validate(TopicRevisions(revisions[-1], revisions))
