"""Topics, and memory as a whole, over HTTP."""

from pydantic import Field

from everfold.core.topics import Topic
from everfold.server.shapes.shape import Shape, Time


class TopicLine(Shape):
    """A topic without what it says."""

    id: str
    name: str = Field(examples=["work"])
    summary: str
    tier: str = Field(description="`user`: who the person is; `agent`: what an agent noted about its work.")
    agent: str | None = Field(description="Whose, of the tier `agent`.")
    updated_at: Time
    expires_at: Time | None


class MemoryIndex(Shape):
    """The topics of a user, by name."""

    topics: list[TopicLine]
    revision: int = Field(description="Every change of this user's memory raises it.")
    epoch: int = Field(description="Every erase and wipe raises it.")


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
