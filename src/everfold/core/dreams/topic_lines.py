"""The text of a topic: prose of a model or a person, then one line for each item that the prose leaves out.

A line names its item, so that it can be found again, written anew when the item changes, and left out when the item is
not current any more. The prose stays as it is until it is rewritten as a whole.

Source: DESIGN section 4, "Dreamer"; REQUIREMENTS U-53 for lines of what a text lost.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from everfold.core.digests.rows import neutralise
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.topics import ITEM_LINE, Topic
from everfold.core.primitives.json_values import clean_text
from everfold.core.text.words import STOP_WORDS, read_words
from everfold.core.threats.redaction import redact_secrets

Scan = Callable[[str], Sequence[str]]
"""Names what a text would do to its reader; empty for a harmless one."""

HELD_SHARE: Final = 0.6
"""The part of a statement's words that a text has to hold to tell it. Source: own choice; two sentences about one
subject share a third to a half of their words."""
_NOTED: Final = "Also noted: "
_ENDED: Final = re.compile(r"- (?:Also noted: )?\d{4}-\d\d-\d\d: .*\(until (\d{4}-\d\d-\d\d)\) \[[^\[\]\s]+\]")

_DATED: Final = re.compile(r"- (\d{4}-\d\d-\d\d): ")
_COUNT_SUMMARY: Final = re.compile(r"\d+ items?, \d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?")


class TopicText(NamedTuple):
    """The content of a topic taken apart: its prose, and the items that have a line of their own."""

    prose: str
    items: tuple[ItemId, ...]


class LineDiff(NamedTuple):
    """The lines that a newer text has more, and those that it has lost, each in its order."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


def read_topic_text(content: str) -> TopicText:
    """A topic's content as `write_topic_text` wrote it, or any other text, which is all prose."""
    lines = content.split("\n")
    found = [ITEM_LINE.fullmatch(line) for line in lines]
    prose = "\n".join(line for line, match in zip(lines, found, strict=True) if match is None).strip()
    return TopicText(prose, tuple(ItemId(match[2]) for match in found if match is not None))


def write_topic_text(prose: str, items: Iterable[Item], *, replaced: dict[ItemId, Item], scan: Scan) -> str:
    """Prose, then the lines of items in the order of their dates.

    Args:
        prose: May be empty.
        items: What gets a line.
        replaced: Items that the prose still tells, by the id of what has superseded them.
        scan: A statement that it names something in is held back: its line says what and where, not the words.
    """
    ordered = sorted(items, key=lambda item: (item.valid_from, item.id))
    mark = _NOTED if prose else ""
    lines = [f"- {mark}{_write_line(item, replaced.get(item.id), scan)}" for item in ordered]
    return "\n".join(filter(None, (prose, *lines)))


def hide_ended(topic: Topic, now: datetime) -> Topic:
    """The topic without the lines of items whose end is past, also in a count of its items; its prose stays."""
    lines = topic.content.split("\n")
    left = [line for line in lines if (found := _ENDED.fullmatch(line)) is None or found[1] >= write_date(now)]
    if len(left) == len(lines):
        return topic
    return replace(topic, content="\n".join(left), summary=_count_again(topic.summary, left))


def _count_again(summary: str, lines: Sequence[str]) -> str:
    """A summary that counts items, over the lines that are left; any other as it is, and over prose."""
    days = [found[1] for line in lines if (found := _DATED.match(line)) is not None]
    is_count = _COUNT_SUMMARY.fullmatch(summary) is not None and len(days) == len(lines)
    return write_count(days) if days and is_count else summary


def write_count(days: Sequence[str]) -> str:
    """How many items a topic has, and from when to when they hold: its lines say what.

    Args:
        days: Since when each of them holds; at least one.
    """
    first, last = min(days), max(days)
    noun = "item" if len(days) == 1 else "items"
    return f"{len(days)} {noun}, {first}" + (f" to {last}" if last != first else "")


def show_topic(topic: Topic, now: datetime) -> Topic:
    """The topic as it is shown: without lines of items whose end is past, and without the ids of items."""
    return hide_ids(hide_ended(topic, now))


def hide_ids(topic: Topic) -> Topic:
    """The topic without the ids of items that its lines name."""
    shown = hide_line_ids(topic.content)
    return topic if shown == topic.content else replace(topic, content=shown)


def hide_line_ids(content: str) -> str:
    """A topic's content without the ids at the ends of its lines."""
    return "\n".join(match[1] if (match := ITEM_LINE.fullmatch(line)) else line for line in content.split("\n"))


def write_statement(item: Item) -> str:
    """An item's statement on one line, without secrets and without anything that reads as a mark."""
    return neutralise(redact_secrets(clean_text(item.statement)))


def write_date(moment: datetime) -> str:
    """A day as an absolute date."""
    return moment.date().isoformat()


def _write_line(item: Item, replaced: Item | None, scan: Scan) -> str:
    text = write_statement(item)
    if replaced is not None:
        text = f"{text} (instead of: {write_statement(replaced)})"
    if threats := scan(text):
        text = f"[held back: {', '.join(threats)}]"
    until = f" (until {write_date(item.valid_to)})" if item.valid_to else ""
    return f"{write_date(item.valid_from)}: {text}{until} [{item.id}]"


class HeldText:
    """A text, prepared for the check whether it contains a statement."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split()).casefold()
        self._words = frozenset(read_words(text))

    def holds(self, item: Item) -> bool:
        """Whether the text has the words of an item's statement: every number, and most of the others.

        What the person asked to remember, and what says no to something, has to stand there word for word.
        """
        statement = " ".join(write_statement(item).split()).casefold()
        if statement in self._text:
            return True
        words = set(read_words(statement))
        matter = words - STOP_WORDS
        if item.is_explicit or not matter or words & _NEGATIVE:
            return False
        figures = {word for word in matter if any(character.isdigit() for character in word)}
        return figures <= self._words and len(matter & self._words) >= HELD_SHARE * len(matter)


_NEGATIVE: Final = frozenset(
    read_words("not never no don't doesn't didn't can't cannot won't isn't aren't stop avoid without")
)


def diff_lines(before: str, after: str) -> LineDiff:
    """What a newer text has more and less, line by line, whatever their order. O(lines).

    Source: REQUIREMENTS CB-25, as a sign of erosion.
    """
    older, newer = before.splitlines(), after.splitlines()
    return LineDiff(_subtract(newer, older), _subtract(older, newer))


def _subtract(lines: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    left = Counter(others)
    found: list[str] = []
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        elif line.strip():
            found.append(line)
    return tuple(found)
