"""Diff: what a dream changes of each topic, on which items, and what the new text has lost."""

from dataclasses import dataclass
from typing import Literal

from everfold.core.dreams.topic_lines import diff_lines, hide_ids
from everfold.core.memory.items import Item
from everfold.core.memory.topics import Dream, Topic
from everfold.ports.memory import MemoryStore

Change = Literal["added", "changed", "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDiff:
    """One topic before a dream and after it.

    Attributes:
        before: What it said; None where there was no such topic, or where what it said is erased.
        after: What it says by the dream; None where the dream takes it away.
        items: What the dream made it of, as they are now.
        lost: Lines that only the text before has, in its order.
        gained: Lines that only the text after has.
    """

    topic: Topic
    change: Change
    before: Topic | None
    after: Topic | None
    items: tuple[Item, ...]
    lost: tuple[str, ...]
    gained: tuple[str, ...]


async def diff_dream(store: MemoryStore, dream: Dream) -> tuple[TopicDiff, ...]:
    """What a dream changes, topic by topic. O(topics of the user)."""
    histories = {rows[-1].id: rows for rows in await store.list_topic_histories(dream.user_id)}
    diffs: list[TopicDiff] = []
    for topic in dream.topics:
        rows = histories.get(topic.id, ())
        former = next((one for one in rows if one.revision == topic.revision - 1), None)
        items = await store.read_items(dream.user_id, dream.agent_id, topic.sources)
        diffs.append(_diff(topic, former, tuple(items)))
    return tuple(diffs)


def _diff(topic: Topic, former: Topic | None, items: tuple[Item, ...]) -> TopicDiff:
    before = hide_ids(former) if former is not None and former.status == "active" else None
    after = hide_ids(topic) if topic.status == "active" else None
    lines = diff_lines(before.content if before else "", after.content if after else "")
    return TopicDiff(
        topic=topic,
        change="removed" if after is None else "changed" if before is not None else "added",
        before=before,
        after=after,
        items=items,
        lost=lines.removed,
        gained=lines.added,
    )
