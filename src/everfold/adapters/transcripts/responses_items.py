"""Items of OpenAI's Responses API: a list of them, a request with `input`, a response with `output`, or one a line.

The wire form is the file's own; the items of one reply are one message.

Source: OpenAI API reference, "Create a model response", input items and output items.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from everfold.adapters.transcripts.chat import find_time, find_tools
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, refuse
from everfold.core.log.responses import group_items, is_responses
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item, and when it was said where its file keeps that beside it."""

    wire: JsonObject
    line: int
    said_at: datetime | None = None


def matches(rows: Sequence[Row]) -> bool:
    """Whether the rows are items, with one among them that only this form has, or hold a list of such items."""
    first = rows[0].value
    if isinstance(first, dict) and (isinstance(first.get("input"), list) or first.get("object") == "response"):
        return "messages" not in first
    values = first if isinstance(first, list) and len(rows) == 1 else [row.value for row in rows]
    items = [value for value in values if isinstance(value, dict)]
    return len(items) == len(values) and any(is_responses(item) for item in items) and all(map(_may_be_item, items))


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the rows as one conversation.

    Raises:
        InvalidInputError: With ``line``, where an item is no object or has neither a type nor a role.
    """
    items = [item for row in rows for item in _list_items(row)]
    first = rows[0].value if isinstance(rows[0].value, dict) else {}
    system = first.get("instructions")
    return (
        Conversation(
            name=name,
            messages=read_items(items),
            tools=find_tools(first, rows[0]),
            system=system if isinstance(system, str) and system else None,
        ),
    )


def read_items(items: Sequence[Item]) -> tuple[TranscriptMessage, ...]:
    """The messages that items are, those of a reply together."""
    messages: list[TranscriptMessage] = []
    at = 0
    for wire in group_items([item.wire for item in items]):
        first = items[at]
        at += 1 if wire is first.wire else len(cast("list[object]", wire["output"]))
        messages.append(
            TranscriptMessage(
                wire=cast("dict[str, JsonValue]", dict(wire)),
                wire_format="responses",
                said_at=find_time(first.wire) or first.said_at,
                line=first.line,
            )
        )
    return tuple(messages)


def _may_be_item(item: Mapping[str, JsonValue]) -> bool:
    return isinstance(item.get("type"), str) or "role" in item


def _list_items(row: Row) -> Iterator[Item]:
    """The items of a row, each with its line and the time of the object that holds it."""
    if isinstance(row.value, list):
        yield from (make_item(value, line) for line, value in row.elements())
        return
    holder = expect_object(row.value, "this row", row.line)
    keys = [key for key in ("input", "output") if isinstance(holder.get(key), list)]
    if not keys or (holder.get("type") is not None and holder.get("object") != "response"):
        yield make_item(holder, row.line)
        return
    for key in keys:
        yield from (make_item(value, line, find_time(holder)) for line, value in row.elements(key))


def make_item(value: JsonValue, line: int, said_at: datetime | None = None) -> Item:
    """An item at its place.

    Raises:
        InvalidInputError: With ``line``, where it is none.
    """
    wire = expect_object(value, "this item", line)
    if not _may_be_item(wire):
        refuse(line, "an item of the Responses API has a `type` or a `role`")
    return Item(wire=wire, line=line, said_at=said_at)
