"""Topics over HTTP."""

from collections.abc import Sequence

from pydantic import Field

from everfold.core.items import Tier
from everfold.core.topics import Topic, TopicStatus
from everfold.memory import AgentIndex, TopicIndex
from everfold.server.shapes.shape import Shape, Time


class TopicLine(Shape):
    """A topic without what it says."""

    id: str = Field(examples=["top_01"])
    name: str = Field(examples=["work"])
    summary: str = Field(description="One line.", examples=["Sails out of the old harbour."])
    tier: Tier = Field(
        description="`user`: who the person is; `agent`: what an agent noted about its work.", examples=["user"]
    )
    agent: str | None = Field(description="Whose, of the tier `agent`; else null.", examples=[None])
    updated_at: Time
    expires_at: Time | None = Field(description="From when on it is not shown any more; null for never.")


class TopicIndexShape(Shape):
    """The topics that hold now, by name."""

    topics: list[TopicLine]
    revision: int = Field(description="Every change of this user's memory raises it.", examples=[12])
    epoch: int = Field(description="Every erase and wipe raises it.", examples=[0])


class TopicRevision(Shape):
    """What a topic said once."""

    revision: int = Field(examples=[1])
    summary: str = Field(examples=["Sails out of the harbour."])
    content: str = Field(examples=["Keeps a boat in the harbour."])
    status: TopicStatus = Field(examples=["active"])
    made_at: Time
    dream_id: str | None = Field(description="The dream that wrote it.", examples=["drm_01"])


class TopicShape(TopicLine):
    """A topic."""

    content: str = Field(examples=["Keeps a boat in the old harbour, berth 12."])
    revision: int = Field(description="1 for the first; name it in `If-Match`.", examples=[2])
    status: TopicStatus = Field(
        description="`quarantined` ones are shown to their owner, never to a model.", examples=["active"]
    )
    items: list[str] = Field(description="The items that it was made of.", examples=[["itm_01"]])
    threats: list[str] = Field(description="What a scan found in it.", examples=[[]])
    revisions: list[TopicRevision] = Field(description="All there were, oldest first; the last is what it says now.")


class ErasedTopics(Shape):
    """Topics that are erased with all their revisions."""

    deleted: list[str] = Field(description="Their ids.", examples=[["top_01"]])


class AgentMemoryShape(Shape):
    """What one agent has for itself."""

    topics: list[TopicLine] = Field(description="Those of its own tier, by name.")
    items_count: int = Field(description="Its own active items.", examples=[3])


class ErasedAgentMemory(Shape):
    """What one agent had for itself, and has no more."""

    topics_deleted: int = Field(examples=[2])
    items_deleted: int = Field(examples=[3])


def show_topic_line(topic: Topic) -> TopicLine:
    """A topic as a list shows it."""
    return TopicLine(
        id=topic.id,
        name=topic.name,
        summary=topic.summary,
        tier=topic.tier,
        agent=topic.agent_id if topic.tier == "agent" else None,
        updated_at=topic.updated_at,
        expires_at=topic.expires_at,
    )


def show_index(index: TopicIndex) -> TopicIndexShape:
    """The topics of a user."""
    lines = [show_topic_line(topic) for topic in index.topics]
    return TopicIndexShape(topics=lines, revision=index.head.revision, epoch=index.head.epoch)


def show_agent_index(index: AgentIndex) -> AgentMemoryShape:
    """What one agent has for itself."""
    return AgentMemoryShape(topics=[show_topic_line(topic) for topic in index.topics], items_count=index.items_count)


def show_topic(revisions: Sequence[Topic]) -> TopicShape:
    """A topic from all its revisions, oldest first."""
    topic = revisions[-1]
    return TopicShape(
        **dict(show_topic_line(topic)),
        content=topic.content,
        revision=topic.revision,
        status=topic.status,
        items=list(topic.sources),
        threats=list(topic.threats),
        revisions=[_show_revision(one) for one in revisions],
    )


def _show_revision(topic: Topic) -> TopicRevision:
    return TopicRevision(
        revision=topic.revision,
        summary=topic.summary,
        content=topic.content,
        status=topic.status,
        made_at=topic.updated_at,
        dream_id=topic.dream_id,
    )
