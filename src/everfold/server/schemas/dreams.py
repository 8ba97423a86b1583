"""Dreams over HTTP."""

from typing import NamedTuple

from pydantic import Field

from everfold.core.memory.items import Item
from everfold.core.memory.topics import Dream, Topic
from everfold.server.schemas.schema import Given, GivenName, Schema, many, project, wrap
from everfold.services.dreams.diff_dream import TopicDiff


class DiffedDream(NamedTuple):
    """A dream with what it changes."""

    dream: Dream
    diff: tuple[TopicDiff, ...]


class NewDream(Given):
    """With whom to dream."""

    agent: GivenName = Field(default="default", examples=["default"])


class NoDream(Schema):
    """There was nothing to dream of, or a dream is on its way or waits for approval."""

    dream: None = Field(default=None, description="Always null.")


DreamTopicSchema = project(
    "DreamTopic", Topic, "id name tier revision status", "A topic that a dream writes, without what it says."
)
DreamSchema = project(
    "Dream",
    Dream,
    "id state agent=agent_id begun_at ended_at generator cost_usd problem items topics",
    words={
        "state": "`proposed` ones wait for approval.",
        "cost_usd": "What its calls of models cost; null without any.",
    },
    topics=DreamTopicSchema,
)
TopicTextSchema = project("TopicText", Topic, "summary content", "What a topic says.")
DreamItemSchema = project(
    "DreamItem",
    Item,
    "id statement",
    "An item that a topic was made of, as it is now.",
    words={"statement": "Empty where it is erased."},
)
TopicDiffSchema = project(
    "TopicDiff",
    TopicDiff,
    "id=topic.id name=topic.name tier=topic.tier change before after items lost gained",
    before=TopicTextSchema,
    after=TopicTextSchema,
    items=DreamItemSchema,
)
DreamDetailSchema = project("DreamDetail", DiffedDream, "diff", base=DreamSchema, at="dream", diff=TopicDiffSchema)
DreamListSchema = wrap("DreamList", "Dreams, newest first.", dreams=many(DreamSchema))
