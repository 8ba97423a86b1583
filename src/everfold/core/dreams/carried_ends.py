"""The end that a dream gives a topic, carried to the items that only its prose tells.

Without it an item would outlive the topic that it went into, and the next dream would write it into another one. What the
person asked to remember keeps the end of its own words, or none: a model's end does not reach it.

Source: DESIGN section 4, "Item" and "Dreamer".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from everfold.core.dreams.topic_lines import read_topic_text
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.topics import Topic


def carry_ends(topics: Sequence[Topic], items: Iterable[Item], *, now: datetime) -> tuple[Item, ...]:
    """New revisions of the items that end with their topic: active ones without an end, told by the prose of one alone."""
    known = {item.id: item for item in items}
    ends = {item.id: topic.expires_at for topic in topics for item in _list_told(topic, known)}
    return tuple(
        _end(known[id_], ends_at, now)
        for id_, ends_at in ends.items()
        if known[id_].status == "active" and known[id_].valid_to is None and not known[id_].is_explicit
    )


def take_back_ends(topics: Sequence[Topic], items: Iterable[Item], *, now: datetime) -> tuple[Item, ...]:
    """New revisions, without an end, of the items to which these topics' ends were carried and that no one changed since."""
    known = {item.id: item for item in items}
    ended = {
        item.id: item for topic in topics for item in _list_told(topic, known) if item.valid_to == topic.expires_at
    }
    return tuple(_end(item, None, now) for item in ended.values() if item.written_by == "dream")


def _end(item: Item, ends_at: datetime | None, now: datetime) -> Item:
    return replace(item, valid_to=ends_at, revision=item.revision + 1, changed_at=now, written_by="dream")


def _list_told(topic: Topic, known: Mapping[ItemId, Item]) -> Iterator[Item]:
    """The items that stand in no line of a topic with an end, but in its prose."""
    text = read_topic_text(topic.content)
    if topic.status != "active" or topic.expires_at is None or not text.prose:
        return
    yield from (known[id_] for id_ in topic.sources if id_ in known and id_ not in text.items)
