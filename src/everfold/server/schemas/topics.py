"""Topics over HTTP."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from everfold.core.memory.topics import Topic
from everfold.memory import AgentIndex, TopicIndex
from everfold.server.schemas.schema import Schema, project


class TopicRevisions(NamedTuple):
    """A topic with what it said before."""

    topic: Topic
    revisions: Sequence[Topic]


TopicLineSchema = project(
    "TopicLine",
    Topic,
    "id name summary tier agent updated_at expires_at",
    "A topic without what it says.",
    words={
        "tier": "`user`: who the person is; `agent`: what an agent noted about its work.",
        "expires_at": "From when on it is not shown any more; null for never.",
    },
    agent=(
        str | None,
        lambda topic: topic.agent_id if topic.tier == "agent" else None,
        "Whose, of the tier `agent`; else null.",
    ),
)
TopicIndexSchema = project(
    "TopicIndex", TopicIndex, "topics revision=version.revision epoch=version.epoch", topics=TopicLineSchema
)
TopicRevisionSchema = project(
    "TopicRevision", Topic, "revision summary content status made_at=updated_at dream_id", "What a topic said once."
)
TopicSchema = project(
    "Topic",
    TopicRevisions,
    "content=topic.content revision=topic.revision status=topic.status items=topic.sources threats=topic.threats "
    "revisions",
    "A topic.",
    base=TopicLineSchema,
    at="topic",
    words={
        "revision": "1 for the first; name it in `If-Match`.",
        "status": "`quarantined` ones are shown to their owner, never to a model.",
        "threats": "What a scan found in it.",
        "revisions": "All there were, oldest first; the last is what it says now.",
    },
    revisions=TopicRevisionSchema,
)
AgentMemorySchema = project(
    "AgentMemory",
    AgentIndex,
    "topics items_count",
    topics=TopicLineSchema,
    words={"topics": "Those of its own tier, by name.", "items_count": "Its own active items."},
)


class ErasedTopics(Schema):
    """Topics that are erased with all their revisions."""

    deleted: list[str] = Field(description="Their ids.", examples=[["top_01"]])


class ErasedAgentMemory(Schema):
    """What one agent had for itself, and has no more."""

    topics_deleted: int = Field(examples=[2])
    items_deleted: int = Field(examples=[3])
    files_deleted: int = Field(examples=[1])
