"""Topics: consolidated entries of memory, and the dreams that write them.

Source: DESIGN section 4, "Dreamer".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NewType

from everfold.core.memory.items import ItemId, Tier
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.origins import Origin

DreamId = NewType("DreamId", str)
TopicId = NewType("TopicId", str)

TopicStatus = Literal["active", "superseded", "expired", "quarantined", "erased"]
DreamState = Literal["proposed", "applied", "rejected", "reverted", "failed"]
"""proposed: held until a person approves it. failed: nothing was changed, and its cursor stays."""


ITEM_LINE: Final = re.compile(r"(- (?:Also noted: )?\d{4}-\d\d-\d\d: .*) \[([^\[\]\s]+)\]")
"""A line of an item in a topic's content: what is shown of it, and the item's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One revision of a topic. Its name is unique among the topics of its user and tier, and agent where it is of one.

    Attributes:
        name: Words in small letters joined by underscores.
        summary: One line.
        content: A few sentences, then lines that no item may be lost from; of a heading the lines alone.
        sources: The items that it was made of.
        origin: The lowest of its sources'.
        dream_id: Which dream made this revision; None for what a person wrote.
    """

    id: TopicId
    user_id: UserId
    agent_id: AgentId
    tier: Tier
    name: str
    summary: str
    content: str
    sources: tuple[ItemId, ...]
    origin: Origin
    updated_at: datetime
    expires_at: datetime | None = None
    status: TopicStatus = "active"
    revision: int = 1
    dream_id: DreamId | None = None
    threats: tuple[str, ...] = ()

    def is_current(self, now: datetime) -> bool:
        """Active, and not past its end."""
        return self.status == "active" and (self.expires_at is None or self.expires_at > now)

    @property
    def is_heading(self) -> bool:
        """Whether it only groups items, which say everything that it says. O(its content)."""
        lines = self.content.split("\n")
        return bool(self.content) and all(ITEM_LINE.fullmatch(line) for line in lines)


def choose_topic(topics: Iterable[Topic]) -> Topic | None:
    """The topic that a name means among those that have it: one that is active, and of the user tier, if there is one."""
    return min(topics, key=lambda topic: (topic.status != "active", topic.tier != "user", topic.agent_id), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dream:
    """One consolidation pass: a change of topics that can be read, approved and undone.

    Attributes:
        topics: The revisions that it writes, or would write.
        read_through: The ordinal of the last extraction that it read; the next dream goes on behind it.
        items: What it was given as evidence.
        problem: Why it failed, or what it had to mend, in codes and counts: no word of an item, a topic or a reply.
    """

    id: DreamId
    user_id: UserId
    agent_id: AgentId
    state: DreamState
    begun_at: datetime
    ended_at: datetime | None
    epoch: int
    read_through: int
    topics: tuple[Topic, ...] = ()
    items: tuple[ItemId, ...] = ()
    generator: Literal["deterministic", "model"] = "deterministic"
    cost_usd: float | None = None
    problem: str = ""
