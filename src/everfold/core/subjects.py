"""What items are about, told without a model: groups of items that share words of their subject.

Theory of operation. An item joins the group whose subject it speaks of. Of those that join none, the word that most of
them share makes a group of its own, then the next word, while there is room for groups. What is left joins a general
group. Where that gives too few groups for so many items, the largest is divided: by kind, else by age. Nothing is ever
left out, and the same items in the same groups give the same result.

Source: DESIGN section 4, "Dreamer", 3 to 7 topics; REQUIREMENTS OF-44.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final

from everfold.core.items import Item, ItemId, ItemKind
from everfold.core.origins import Origin
from everfold.core.statement_rules import DATE_WORDS, MAY_DATE_WORDS
from everfold.core.topics import Topic
from everfold.core.words import STOP_WORDS, find_words, read_words

LEAST_TOPICS: Final = 3
MOST_TOPICS: Final = 7
ENOUGH_ITEMS: Final = 9
"""So many items make at least `LEAST_TOPICS`. Source: own choice; a topic of fewer than three says less than its items."""
GENERAL: Final = "general"
"""The topic of what shares its subject with nothing. Source: REQUIREMENTS OF-44."""

_KIND_NAMES: Final[dict[ItemKind, str]] = {
    "fact": "facts",
    "preference": "preferences",
    "decision": "decisions",
    "task": "tasks",
    "open_item": "open_items",
}
_SHARED_COUNT: Final = 2
"""A word is a subject when so many items have it; so many shared words make an item speak of a group's subject."""
_MOST_SHARE: Final = 0.6
"""A word that more of the items have than this divides nothing: the person's name, the one project."""
_FEW_ITEMS: Final = 5
_NAME_WORDS: Final = 2
_NAME_CHARS: Final = 48
_NO_SUBJECT: Final = frozenset(
    word
    for text in (
        DATE_WORDS,
        MAY_DATE_WORDS,
        "like love hate prefer want wish need use try think know believe feel hope say tell ask remember forget please",
        "always usually often sometimes never now later soon already still instead actually really maybe probably",
        "good better bad great nice new old big small first last many much more most less few lot thing stuff way",
        "make take get give go come put set keep let start stop begin end change work live decide decision agree plan",
        "user person people someone everyone time year month week day hour minute morning evening night date",
        "one two three four five six seven eight nine ten no not yes ok okay fact task preference open item general",
    )
    for word in read_words(text)
)


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
        self._words.update(list_subjects(item.statement).keys())

    def learn(self, texts: Iterable[str]) -> None:
        """Let texts that are in it already tell its subject."""
        for text in texts:
            self._words.update(list_subjects(text).keys())

    def rate(self, item: Item) -> int:
        """How much an item speaks of this group's subject; 0 for not at all."""
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
        most_count: How many groups there may be in the end, if there are not more already.
    """
    names = _Names(taken, groups)
    left = [item for item in _in_order(items) if not _join_predecessor(groups, item)]
    left = [item for item in left if not _join_nearest(groups, item)]
    has_general = any(group.name == GENERAL for group in groups)
    left = _make_groups(groups, left, names, room_count=most_count - len(groups) - (not has_general))
    if left:
        catch_all = _find_catch_all(groups, names, has_room=len(groups) < most_count)
        for item in left:
            catch_all.take(item)
    _divide(groups, names, most_count)


@lru_cache(maxsize=8192)
def list_subjects(statement: str) -> dict[str, str]:
    """The words of a statement that tell its subject, as stems, with how each is written first."""
    found: dict[str, str] = {}
    for start, end, words in find_words(statement):
        word = words[-1] if words else ""
        if not word or word in STOP_WORDS or word in _NO_SUBJECT or not any(map(str.isalpha, word)):
            continue
        found.setdefault(word, statement[start:end])
    return found


def to_topic_name(text: str) -> str:
    """Any text as a topic's name: words in small letters joined by underscores; empty where it has none."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:_NAME_CHARS].strip("_")


def choose_free_name(name: str, taken: Container[str]) -> str:
    """The name, or the name with the first number behind it that nothing has."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


class _Names:
    """The names that new groups get: none twice."""

    def __init__(self, taken: Container[str], groups: Iterable[Group]) -> None:
        self._taken = taken
        self._own = {group.name for group in groups}

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._taken

    def choose(self, name: str) -> str:
        free = choose_free_name(name or GENERAL, self)
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
    """Make a group of the word that most items share, again and again; gives the items that share none."""
    counts = Counter(word for item in items for word in list_subjects(item.statement))
    most = len(items) if len(items) <= _FEW_ITEMS else len(items) * _MOST_SHARE
    telling = {word for word, count in counts.items() if count <= most}
    for _ in range(room_count):
        counts = Counter(word for item in items for word in list_subjects(item.statement) if word in telling)
        found = [word for word, count in counts.items() if count >= _SHARED_COUNT]
        if not found:
            break
        subject = min(found, key=lambda word: (-counts[word], word))
        members = [item for item in items if subject in list_subjects(item.statement)]
        items = [item for item in items if subject not in list_subjects(item.statement)]
        group = Group(name=names.choose(_name_group(subject, members, telling)))
        for item in members:
            group.take(item)
        groups.append(group)
    return items


def _name_group(subject: str, members: Sequence[Item], telling: Container[str]) -> str:
    """The subject's word as it is written, and the other word that most of the members share, as they come."""
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in members:
        for word, text in list_subjects(item.statement).items():
            counts[word] += 1
            written.setdefault(word, text)
    others = [word for word, count in counts.items() if word != subject and count * _NAME_WORDS >= len(members)]
    others = [word for word in others if counts[word] >= _SHARED_COUNT and word in telling]
    chosen = [subject, *sorted(others, key=lambda word: (-counts[word], word))][:_NAME_WORDS]
    return to_topic_name(" ".join(text for word, text in written.items() if word in chosen))


def _find_catch_all(groups: list[Group], names: _Names, *, has_room: bool) -> Group:
    """The general group; where there is none and no room for one, the group with the fewest items."""
    found = next((group for group in groups if group.name == GENERAL), None)
    if found is None and has_room:
        found = Group(name=names.choose(GENERAL))
        groups.append(found)
    return found or min(groups, key=lambda group: (len(group.fixed) + len(group.items), group.name))


def _divide(groups: list[Group], names: _Names, most_count: int) -> None:
    """Divide the largest group while there are too few for so many items."""
    total = sum(len(group.fixed) + len(group.items) for group in groups)
    while total >= ENOUGH_ITEMS and len(groups) < min(LEAST_TOPICS, most_count):
        largest = max(groups, key=lambda group: (len(group.items), group.name))
        leaves_one = not largest.fixed
        if len(largest.items) <= leaves_one:
            return
        moved, name = _choose_half(largest, leaves_one=leaves_one)
        groups.append(part := Group(name=names.choose(name)))
        gone = {item.id for item in moved}
        largest.items = [item for item in largest.items if item.id not in gone]
        for item in moved:
            part.take(item)


def _choose_half(group: Group, *, leaves_one: bool) -> tuple[list[Item], str]:
    """The items of its most frequent kind, where it has several; else its newer half."""
    counts = Counter(item.kind for item in group.items)
    kind = min(counts, key=lambda one: (-counts[one], one))
    if len(counts) > 1:
        base = "" if group.name in (GENERAL, *_KIND_NAMES.values()) else f"{group.name}_"
        return [item for item in group.items if item.kind == kind], f"{base}{_KIND_NAMES[kind]}"
    ordered = _in_order(group.items)
    return ordered[len(ordered) // 2 if leaves_one else 0 :], group.name
