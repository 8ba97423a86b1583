"""The extract lines of a message, from the texts of its parts."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from everfold.core.log.messages import MessageView, ResultPart, TextPart, read_part
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.reading import find_extract_lines


class _Text(NamedTuple):
    """What is read as one: where it begins in the message's text, whose it is, and whether it is a tool's result."""

    offset: int
    text: str
    origin: Origin
    is_result: bool


def find_lines(view: MessageView, *, seq: int, origin: Origin, said_at: datetime) -> tuple[ExtractLine, ...]:
    """The extract lines of a message. Words that ride beside tool results keep their own origin."""
    lines: list[ExtractLine] = []
    for offset, text, own, is_result in _list_texts(view, origin):
        found = find_extract_lines(text, seq=seq, origin=own, is_result=is_result, said_at=said_at)
        lines += [line._replace(start=line.start + offset) for line in found] if offset else found
    return tuple(lines)


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
