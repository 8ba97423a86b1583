"""The input of a dream and its decision: values between the store, the planner and the model.

Source: DESIGN section 4, "Dreamer".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from everfold.core.dreams.topic_names import find_subject
from everfold.core.log.messages import Message
from everfold.core.memory.items import Item, ItemId, Tier
from everfold.core.memory.topics import DreamId, Topic, TopicId
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.origins import AUTHORITY, Origin

TOPIC_CHARS: Final = 6_000
"""A topic of this length is closed. Source: own choice, about 1,500 tokens: 60 lines, and 7 of them fit one request."""
LEAST_TOPICS: Final = 3
MOST_TOPICS: Final = 7
"""How many topics a tier has, closed ones included. Source: DESIGN section 4, "Dreamer"; REQUIREMENTS OF-44."""
TIERS: Final[tuple[Tier, ...]] = ("user", "agent")

_TRUSTED: Final = AUTHORITY["assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What memory held when a dream was decided.

    Attributes:
        items: The newest revisions of what the unconsumed extractions found, and of what has taken the place of sources
            that hold no more; whatever their status.
        topics: The active topics of both tiers.
        sources: The newest revisions of what the topics that `choose_topics` gives were made of.
        tail: What was said last, oldest first: what a model may read beside the items.
    """

    dream_id: DreamId
    user_id: UserId
    agent_id: AgentId
    now: datetime
    items: tuple[Item, ...]
    topics: tuple[Topic, ...]
    sources: tuple[Item, ...] = ()
    tail: tuple[Message, ...] = ()

    @property
    def new_ids(self) -> frozenset[ItemId]:
        """The ids of `items`."""
        return frozenset(item.id for item in self.items)

    def list_open(self, tier: Tier) -> list[Topic]:
        """The topics of a tier that a dream may rewrite, and that a model may read."""
        return [
            topic
            for topic in choose_topics(self.topics, self.items, now=self.now)
            if topic.tier == tier and topic.is_current(self.now) and not is_outside(topic.origin)
        ]

    def list_new(self, tier: Tier) -> list[Item]:
        """The current new items of a tier that a model may read and that no topic has."""
        placed = {id_ for topic in self.topics for id_ in topic.sources}
        return [
            item
            for item in self.items
            if item.tier == tier and item.is_current(self.now) and item.id not in placed and not is_outside(item.origin)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicProposal:
    """One topic as a model would have it. Everything in it was checked; see `core.dream_requests`."""

    name: str
    summary: str
    content: str
    expires_at: datetime | None
    items: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a model makes of one tier.

    Attributes:
        supersedes: Names of topics that go; each was among those that the model was given.
        seen: The revisions that the model was given; a topic that has another by now is not rewritten.
        notes: What was left out of its reply, and why.
    """

    tier: Tier
    topics: tuple[TopicProposal, ...]
    supersedes: tuple[str, ...]
    seen: tuple[tuple[TopicId, int], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What a dream writes.

    Attributes:
        topics: New revisions; empty where memory says all of it already.
        items: What they are made of, and what was looked at.
        notes: What had to be mended.
    """

    topics: tuple[Topic, ...]
    items: tuple[ItemId, ...]
    notes: tuple[str, ...] = ()


def is_outside(origin: Origin) -> bool:
    """Whether a line of this origin is told apart: below what the user and their assistant said."""
    return AUTHORITY[origin] < _TRUSTED


def is_closed(topic: Topic) -> bool:
    """Whether a topic takes no more items."""
    return len(topic.content) >= TOPIC_CHARS


def choose_topics(topics: Iterable[Topic], items: Iterable[Item], *, now: datetime) -> list[Topic]:
    """The topics that a dream over these new items reads.

    Those that are open, those that have expired, and the closed ones with an item that a new one supersedes or with a name
    that is given no more. Where a tier
    has as many topics as it may have, or one less, and all are closed, the two shortest are open, or the one: to be joined
    where another has to come in. What came from outside has one topic,
    which never closes.
    """
    every = list(topics)
    replaced = {item.supersedes for item in items}
    opened = {topic.id for topic in _reopen([one for one in every if one.is_current(now)])}
    return [
        topic
        for topic in every
        if not is_closed(topic)
        or topic.id in opened
        or not topic.is_current(now)
        or not replaced.isdisjoint(topic.sources)
        or find_subject(topic.name) is not None
    ]


def _reopen(current: Sequence[Topic]) -> Iterator[Topic]:
    for tier in TIERS:
        own = [topic for topic in current if topic.tier == tier]
        trusted = [topic for topic in own if not is_outside(topic.origin)]
        yield from (topic for topic in own if is_outside(topic.origin))
        if all(map(is_closed, trusted)):
            by_length = sorted(trusted, key=lambda topic: (len(topic.content), topic.name))
            yield from by_length[: max(len(own) - MOST_TOPICS + 2, 0)]
