"""The extract lines of a message, from the texts of its parts."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from everfold.core.log.messages import DocumentPart, Message, MessageView, Part, ResultPart, TextPart, read_part
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.others import find_others
from everfold.core.statements.reading import find_extract_lines
from everfold.core.statements.reported import only_hands_over
from everfold.core.statements.segments import Span


class _Text(NamedTuple):
    """A part that is read as one: its start in the message's text, its origin, and whether it is a tool's result."""

    offset: int
    text: str
    origin: Origin
    is_result: bool


def find_lines(view: MessageView, *, seq: int, origin: Origin, said_at: datetime) -> tuple[ExtractLine, ...]:
    """The extract lines of a message. Text in the same message as tool results keeps its own origin."""
    attached = list_attached(view) if origin == "user" else []
    lines: list[ExtractLine] = []
    for offset, text, own, is_result in _list_texts(view, origin):
        found = find_extract_lines(text, seq=seq, origin=own, is_result=is_result, said_at=said_at, attached=attached)
        lines += [line._replace(start=line.start + offset) for line in found] if offset else found
    return tuple(lines)


def find_foreign(view: MessageView) -> tuple[Span, ...]:
    """Where in the text of a user's message words of others stand: its documents, and what it quotes."""
    return find_others(view.text, attached=list_attached(view))


def holds_foreign(message: Message, start: int, end: int) -> bool:
    """Whether a stretch of a user's message holds words of others, so that it is not to be shown as the user's."""
    return message.origin == "user" and any(low < end and start < high for low, high in find_foreign(message.view))


def list_attached(view: MessageView) -> list[Span]:
    """Where in the text of a message its documents stand, and a text part behind one that asks for work on it."""
    return [
        (start := view.find_offset(place), start + len(part.text))
        for place, part in enumerate(view.parts)
        if isinstance(part, DocumentPart | TextPart) and part.text and _is_foreign(view.parts, place)
    ]


def _is_foreign(parts: Sequence[Part], place: int) -> bool:
    """Whether a part is a document, or what the text part before it hands over."""
    before, part = parts[place - 1] if place else None, parts[place]
    if isinstance(part, TextPart) and isinstance(before, TextPart):
        return only_hands_over(before.text, part.text)
    return isinstance(part, DocumentPart)


def _list_texts(view: MessageView, origin: Origin) -> Iterator[_Text]:
    results_count = len(view.results)
    if results_count in {0, len(view.parts)}:
        yield _Text(0, view.text, origin, results_count > 0)
        return
    offset = 0
    for part in view.parts:
        if text := read_part(part):
            own: Origin = "user" if isinstance(part, TextPart) and origin == "tool" else origin
            yield _Text(offset, text, own, isinstance(part, ResultPart))
            offset += len(text) + 1
