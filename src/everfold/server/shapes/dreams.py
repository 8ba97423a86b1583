"""Dreams over HTTP."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from everfold.core.items import Tier
from everfold.core.topics import Dream, DreamState, Topic, TopicStatus
from everfold.server.shapes.shape import Given, GivenName, Shape, Time
from everfold.services.diff_dream import Change, TopicDiff


class DreamTopic(Shape):
    """A topic that a dream writes, without what it says."""

    id: str = Field(examples=["top_01"])
    name: str = Field(examples=["work"])
    tier: Tier = Field(examples=["user"])
    revision: int = Field(examples=[2])
    status: TopicStatus = Field(examples=["active"])


class DreamShape(Shape):
    """One consolidation pass: a change of topics that can be read, approved and undone."""

    id: str = Field(examples=["drm_01"])
    state: DreamState = Field(description="`proposed` ones wait for approval.", examples=["applied"])
    agent: str = Field(examples=["default"])
    begun_at: Time
    ended_at: Time | None
    generator: Literal["deterministic", "model"] = Field(examples=["deterministic"])
    cost_usd: float | None = Field(description="What its calls of models cost; null without any.", examples=[None])
    problem: str = Field(description="Why it failed, or what it had to mend.", examples=[""])
    items: list[str] = Field(description="The items that it was given as evidence.", examples=[["itm_01"]])
    topics: list[DreamTopic] = Field(description="The topics that it writes, or would write.")


class TopicText(Shape):
    """What a topic says."""

    summary: str = Field(examples=["Sails out of the old harbour."])
    content: str = Field(examples=["Keeps a boat in the old harbour, berth 12."])


class DreamItem(Shape):
    """An item that a topic was made of, as it is now."""

    id: str = Field(examples=["itm_01"])
    statement: str = Field(description="Empty where it is erased.", examples=["The berth costs 17 euros."])


class TopicDiffShape(Shape):
    """One topic before a dream and after it."""

    id: str = Field(examples=["top_01"])
    name: str = Field(examples=["work"])
    tier: Tier = Field(examples=["user"])
    change: Change = Field(examples=["changed"])
    before: TopicText | None = Field(description="Null where there was none, or where it is erased.")
    after: TopicText | None = Field(description="Null where the dream takes it away.")
    items: list[DreamItem] = Field(description="What it was made of.")
    lost: list[str] = Field(description="Lines that only the text before has.", examples=[[]])
    gained: list[str] = Field(description="Lines that only the text after has.", examples=[["Berth 12."]])


class DreamDetail(DreamShape):
    """A dream with what it changes."""

    diff: list[TopicDiffShape]


class DreamList(Shape):
    """Dreams, newest first."""

    dreams: list[DreamShape]


class NewDream(Given):
    """With whom to dream."""

    agent: GivenName = Field(default="default", examples=["default"])


class NoDream(Shape):
    """There was nothing to dream of, or a dream is on its way or waits for approval."""

    dream: None = Field(default=None, description="Always null.")


def show_dream(dream: Dream) -> DreamShape:
    """A dream."""
    return DreamShape(
        id=dream.id,
        state=dream.state,
        agent=dream.agent_id,
        begun_at=dream.begun_at,
        ended_at=dream.ended_at,
        generator=dream.generator,
        cost_usd=dream.cost_usd,
        problem=dream.problem,
        items=list(dream.items),
        topics=[DreamTopic.model_validate(topic) for topic in dream.topics],
    )


def show_dreams(dreams: Sequence[Dream]) -> DreamList:
    """Dreams in their order."""
    return DreamList(dreams=[show_dream(dream) for dream in dreams])


def show_detail(dream: Dream, diffs: Sequence[TopicDiff]) -> DreamDetail:
    """A dream with what it changes, topic by topic."""
    return DreamDetail(**dict(show_dream(dream)), diff=[_show_diff(diff) for diff in diffs])


def _show_diff(diff: TopicDiff) -> TopicDiffShape:
    return TopicDiffShape(
        id=diff.topic.id,
        name=diff.topic.name,
        tier=diff.topic.tier,
        change=diff.change,
        before=_show_text(diff.before),
        after=_show_text(diff.after),
        items=[DreamItem(id=item.id, statement=item.statement) for item in diff.items],
        lost=list(diff.lost),
        gained=list(diff.gained),
    )


def _show_text(topic: Topic | None) -> TopicText | None:
    return None if topic is None else TopicText(summary=topic.summary, content=topic.content)
