"""Subjects of items, found without a model: groups of items that share words of their subject.

Theory of operation. An item joins the group whose subject it speaks of. Of those that join none, the noun that most of
them share makes a group of its own, then the next noun, up to the limit of groups. The remaining items join the area
of life that they have a word of (`core.topic_names`), within the limit, else a general group. Where that gives too
few groups for so many items, the largest is divided by kind; where there are too many, the smallest is
joined to another. Nothing is ever left out, and the same items in the same groups give the same result.

Source: DESIGN section 4, "Dreamer", 3 to 7 topics; REQUIREMENTS OF-44.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from everfold.core.dreams.scenes import LEAST_TOPICS
from everfold.core.dreams.topic_names import (
    AREA_NAMES,
    GENERAL,
    KIND_NAMES,
    choose_free_name,
    find_area,
    list_nouns,
    list_subjects,
    to_topic_name,
)
from everfold.core.memory.items import Item, ItemId, ItemKind
from everfold.core.memory.topics import Topic
from everfold.core.primitives.origins import Origin

ENOUGH_ITEMS: Final = 9
"""So many items make at least `LEAST_TOPICS`. Source: own choice; a topic of fewer than three says less than its items."""
MOST_SUBJECTS: Final = 4
"""So many groups are made of words that items share; the others are areas. Source: own choice, of seven the larger half:
on talk of daily life areas are what people would look under, and narrow subjects come first."""
_SHARED_COUNT: Final = 2
"""A word is a subject when so many items have it; so many shared words make an item speak of a group's subject."""
_MOST_SHARE: Final = 0.6
"""A word that more of the items have than this divides nothing: the person's name, the one project."""
_FEW_ITEMS: Final = 5
_NAME_WORDS: Final = 2


@dataclass(slots=True, kw_only=True)
class Group:
    """The items of one topic to be.

    Attributes:
        topic: The one that they are in; None for a new one.
        fixed: Items that the topic's prose tells: they cannot leave it.
        items: The others.
        prose: What stands before the lines of items.
        summary: None where it is to be made of the items.
        expires_at: The end of what the prose says.
        origin: Whose words the prose is; a model's are never the person's own.
    """

    name: str
    topic: Topic | None = None
    fixed: list[Item] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    prose: str = ""
    summary: str | None = None
    expires_at: datetime | None = None
    origin: Origin | None = None
    _words: Counter[str] = field(default_factory=Counter)

    def take(self, item: Item) -> None:
        """Add an item."""
        self.items.append(item)
        self._words.update(list_nouns(item.statement).keys())

    def learn(self, texts: Iterable[str]) -> None:
        """Let texts that are in it already tell its subject."""
        for text in texts:
            self._words.update(list_nouns(text).keys())

    def rate(self, item: Item) -> int:
        """How well an item fits this group's subject; 0 for not at all."""
        own = list_subjects(item.statement).keys()
        named = len(own & list_subjects(self.name.replace("_", " ")).keys())
        shared = [word for word in own if self._words[word]]
        firm = sum(self._words[word] >= _SHARED_COUNT for word in shared)
        return named * 2 + firm if named or firm >= _SHARED_COUNT or len(shared) > _SHARED_COUNT else 0


def group_items(groups: list[Group], items: Sequence[Item], *, taken: Container[str], most_count: int) -> None:
    """Put every item into a group, in new ones where need be, and divide what is too large.

    Args:
        groups: Those that are there; what is added stands behind them.
        items: What is in no group.
        taken: Names that a new group may not have, beside those of the groups.
        most_count: How many groups there may be in the end.
    """
    names = _Names(taken, groups)
    left = [item for item in _in_order(items) if not _join_predecessor(groups, item)]
    left = [item for item in left if not _join_nearest(groups, item)]
    room_count = min(
        most_count - 1 - sum(group.name != GENERAL for group in groups), MOST_SUBJECTS - _count_subjects(groups)
    )
    left = _make_groups(groups, left, names, room_count=room_count)
    _share_out(groups, left, names, most_count)
    _divide(groups, names, most_count)
    _join_smallest(groups, most_count)


def _count_subjects(groups: Iterable[Group]) -> int:
    return sum(group.name not in AREA_NAMES for group in groups)


class _Names:
    """The names that new groups get: none twice."""

    def __init__(self, taken: Container[str], groups: Iterable[Group]) -> None:
        self._taken = taken
        self._own = {group.name for group in groups}

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._taken

    def choose(self, name: str, items: Iterable[Item]) -> str:
        free = choose_free_name(name or GENERAL, self, since=min(item.valid_from for item in items))
        self._own.add(free)
        return free


def _in_order(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (item.recorded_at, item.id))


def _join_predecessor(groups: Sequence[Group], item: Item) -> bool:
    """Put what replaces an item where that one was."""
    before = item.supersedes
    group = next((group for group in groups if before and before in _list_sources(group)), None)
    if group is not None:
        group.take(item)
    return group is not None


def _list_sources(group: Group) -> set[ItemId]:
    own = {item.id for item in (*group.fixed, *group.items)}
    return own | set(group.topic.sources) if group.topic else own


def _join_nearest(groups: Sequence[Group], item: Item) -> bool:
    best = max(groups, key=lambda group: group.rate(item), default=None)
    if best is None or not best.rate(item):
        return False
    best.take(item)
    return True


def _make_groups(groups: list[Group], items: list[Item], names: _Names, *, room_count: int) -> list[Item]:
    """Make a group of the noun that most items share, again and again; gives the items that share none."""
    counts = Counter(word for item in items for word in list_subjects(item.statement))
    most = len(items) if len(items) <= _FEW_ITEMS else len(items) * _MOST_SHARE
    telling = {word for word, count in counts.items() if count <= most}
    for _ in range(room_count):
        counts = Counter(word for item in items for word in list_nouns(item.statement) if word in telling)
        found = [word for word, count in counts.items() if count >= _SHARED_COUNT]
        if not found:
            break
        subject = min(found, key=lambda word: (-counts[word], word))
        members = [item for item in items if subject in list_subjects(item.statement)]
        items = [item for item in items if subject not in list_subjects(item.statement)]
        group = Group(name=names.choose(_name_group(subject, members, telling), members))
        for item in members:
            group.take(item)
        groups.append(group)
    return items


def _name_group(subject: str, members: Sequence[Item], telling: Container[str]) -> str:
    """The subject's noun as it is written, and the other noun that most of the members share, as they come."""
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in members:
        for word, text in list_nouns(item.statement).items():
            counts[word] += 1
            written.setdefault(word, text)
    others = [word for word, count in counts.items() if word != subject and count * _NAME_WORDS >= len(members)]
    others = [word for word in others if counts[word] >= _SHARED_COUNT and word in telling]
    chosen = [subject, *sorted(others, key=lambda word: (-counts[word], word))][:_NAME_WORDS]
    return to_topic_name(" ".join(text for word, text in written.items() if word in chosen))


def _share_out(groups: list[Group], items: Sequence[Item], names: _Names, most_count: int) -> None:
    """Put what shares no noun into the groups of its area; the areas that most of it belongs to get a group first."""
    counts = Counter(map(find_area, items))
    items = list(items)
    by_name = {group.name: group for group in groups}
    for area in sorted(counts, key=lambda name: (-counts[name], name)):
        if area in by_name or area == GENERAL or counts[area] < _SHARED_COUNT:
            continue
        if not _has_room(groups, most_count - 1):
            items += _dissolve(groups, below_count=counts[area])
        if _has_room(groups, most_count - 1):
            groups.append(group := Group(name=names.choose(area, [item for item in items if find_area(item) == area])))
            by_name[area] = group
    for item in items:
        found = by_name.get(find_area(item))
        (found or _find_catch_all(groups, names, item, has_room=_has_room(groups, most_count))).take(item)


def _has_room(groups: Iterable[Group], most_count: int) -> bool:
    return sum(_has_any(group) and group.name != GENERAL for group in groups) < most_count


def _has_any(group: Group) -> bool:
    return bool(group.fixed or group.items or group.prose)


def _dissolve(groups: Sequence[Group], *, below_count: int) -> list[Item]:
    """The items of the smallest group of a shared noun, taken out of it, where it has less than half of so many."""
    own = [group for group in groups if group.items and not group.prose and group.name not in AREA_NAMES]
    smallest = min(own, key=_measure, default=None)
    if smallest is None or len(smallest.items) * 2 > below_count:
        return []
    taken, smallest.items = smallest.items, []
    return taken


def _find_catch_all(groups: list[Group], names: _Names, item: Item, *, has_room: bool) -> Group:
    """The general group; where there is none and no room for one, the group with the fewest items."""
    found = next((group for group in groups if group.name == GENERAL), None)
    if found is None and has_room:
        found = Group(name=names.choose(GENERAL, [item]))
        groups.append(found)
    return found or min(groups, key=_measure)


def _measure(group: Group) -> tuple[int, str]:
    return len(group.fixed) + len(group.items), group.name


def _join_smallest(groups: list[Group], most_count: int) -> None:
    """Join the smallest group to another while there are too many; one whose prose would be lost comes last."""
    while len(left := list(filter(_has_any, groups))) > max(most_count, 1):
        smallest = min(left, key=lambda group: (bool(group.prose), *_measure(group)))
        others = [group for group in left if group is not smallest]
        general = next((group for group in others if group.name == GENERAL), None)
        target = general or min(others, key=lambda group: (bool(group.prose), *_measure(group)))
        for item in (*smallest.fixed, *smallest.items):
            target.take(item)
        smallest.fixed, smallest.items, smallest.prose, smallest.summary = [], [], "", None
        if smallest.topic is None:
            groups[:] = [group for group in groups if group is not smallest]


def _divide(groups: list[Group], names: _Names, most_count: int) -> None:
    """Divide the largest group that has several kinds, while there are too few for so many items."""
    total = sum(len(group.fixed) + len(group.items) for group in groups)
    while total >= ENOUGH_ITEMS and sum(map(_has_any, groups)) < min(LEAST_TOPICS, most_count):
        divided = [group for group in groups if _list_leaving(group)]
        if not divided:
            return
        largest = max(divided, key=lambda group: (len(group.items), group.name))
        kind = _list_leaving(largest)[0]
        moved = [item for item in largest.items if item.kind == kind]
        largest.items = [item for item in largest.items if item.kind != kind]
        name = KIND_NAMES[kind] if KIND_NAMES[kind] != GENERAL else "facts"
        groups.append(part := Group(name=names.choose(name, moved)))
        for item in moved:
            part.take(item)


def _list_leaving(group: Group) -> list[ItemKind]:
    """The kinds of items that may leave a group, the most frequent first: all but the first, which stays without a text."""
    counts = Counter(item.kind for item in group.items)
    return sorted(counts, key=lambda one: (-counts[one], one))[not group.fixed :]
