"""Names of topics without a model: words that a person would choose, and the same ones from dream to dream.

A statement's subjects are its words that tell a matter; its nouns are those of them that stand where a noun stands:
behind an article, a possessive or a preposition, or as a name in the middle of a sentence. Only a noun names a topic.
An item that shares no noun with others belongs to an area of life that it has a word of, else to the name of its kind.

Source: DESIGN section 4, "Dreamer"; the lists of words stand in `topic_words`.
"""

import re
from collections.abc import Container, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Final

from everfold.core.dreams.topic_words import AREAS, NO_SUBJECT
from everfold.core.memory.items import Item, ItemKind
from everfold.core.text.words import STOP_WORDS, find_words, read_words

GENERAL: Final = "general"
"""The topic of what shares its subject with nothing. Source: REQUIREMENTS OF-44."""
KIND_NAMES: Final[Mapping[ItemKind, str]] = {
    "fact": GENERAL,
    "preference": "preferences",
    "decision": "decisions",
    "task": "plans",
    "open_item": "questions",
}
"""What is left is called so, by its kind."""
_OLD_VOLUME: Final = re.compile(r"(?:later|more|further|newer|other|latest)_(\w+)")
"""How further topics of one name were called once."""
_NAME_CHARS: Final = 48
_RUN_COUNT: Final = 2
"""So many words behind an article may be the noun: of more, the next is likely to be the verb."""

AREA_NAMES: Final = frozenset((*(area.name for area in AREAS), *KIND_NAMES.values()))
"""The names of groups that are made of no shared noun."""
_BEFORE_NOUN: Final = re.compile(
    r"\b(?:my|our|your|his|her|their|its|the|an?|this|these|those|some|any|each|every|no|of|in|on|at|for|with|about|from"
    r"|into|near|by|as)\s+$",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"[ \-]")
_NOT_NOUN: Final = re.compile(r".*(?:ly|n't)$", re.IGNORECASE)


@lru_cache(maxsize=8192)
def list_subjects(statement: str) -> dict[str, str]:
    """The words of a statement that tell its subject, as stems, with how each is written first."""
    found: dict[str, str] = {}
    for start, end, words in find_words(statement):
        word = words[-1] if words else ""
        if _tells(word):
            found.setdefault(word, statement[start:end])
    return found


@lru_cache(maxsize=8192)
def list_nouns(statement: str) -> dict[str, str]:
    """Those of its subjects that stand where a noun stands, as stems, with how each is written first. Never a number."""
    found: dict[str, str] = {}
    left, before_end = 0, 0
    for start, end, words in find_words(statement):
        word, text = words[-1] if words else "", statement[start:end]
        if _BEFORE_NOUN.search(statement, 0, start):
            left = _RUN_COUNT
        elif not word or word in STOP_WORDS or not _GAP.fullmatch(statement[before_end:start]):
            left = 0
        before_end = end
        is_name = (
            start > 0 and text[:1].isupper() and statement[start - 1] == " " and statement[start - 2] not in ".!?:"
        )
        if _tells(word) and not _NOT_NOUN.match(text) and (left or is_name):
            found.setdefault(word, text)
            left -= 1
    return found


def _tells(word: str) -> bool:
    return bool(word) and word not in _read_empty_words() and not any(map(str.isdigit, word))


@cache
def _read_empty_words() -> frozenset[str]:
    """The words that tell no matter."""
    return STOP_WORDS.union(*map(read_words, NO_SUBJECT))


def find_area(item: Item) -> str:
    """What an item belongs to where it shares its subject with nothing: an area of life, else what its kind is called."""
    areas = _read_areas()
    for word in list_subjects(item.statement):
        if word in areas:
            return areas[word]
    return KIND_NAMES[item.kind]


@cache
def _read_areas() -> Mapping[str, str]:
    """The area that each word belongs to, the first of several."""
    return {word: area.name for area in reversed(AREAS) for word in read_words(area.words)}


def to_topic_name(text: str) -> str:
    """Any text as a topic's name: words in small letters joined by underscores; empty where it has none."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")[:_NAME_CHARS].strip("_")


def choose_free_name(name: str, taken: Container[str], *, since: datetime) -> str:
    """The name; where another topic has it, the name with the month or the day of its first item; then with a number.

    Args:
        name: Of the subject.
        taken: What no topic may be called.
        since: When the first item of the topic holds from.
    """
    for free in (name, f"{name}_{since:%Y_%m}", f"{name}_{since:%Y_%m_%d}"):
        if free not in taken:
            return free
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def find_subject(name: str) -> str | None:
    """The subject of a heading's name that tells its place among others of the subject alone, and None for any other."""
    found = _OLD_VOLUME.fullmatch(name)
    return found[1] if found else None
