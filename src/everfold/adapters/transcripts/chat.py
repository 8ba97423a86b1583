"""What OpenAI and Anthropic files have in common: lists of messages, alone or inside request bodies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_list, expect_object, number_names, refuse, type_name
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.log.wire import ANTHROPIC_BLOCKS
from everfold.core.primitives.json_values import JsonValue

CheckMessage = Callable[[JsonValue, int], dict[str, JsonValue]]
"""Gives a value as a message of one wire format, or refuses its line."""

_ANTHROPIC_BLOCKS = frozenset(ANTHROPIC_BLOCKS) - {"image"}
_OPENAI_PARTS = frozenset(("image_url", "input_audio", "file", "refusal"))
_TIMES = ("said_at", "timestamp", "created_at", "created")
"""The fields that loggers of chats keep a time in; neither provider's messages have one."""
_FIRST_SECS, _FIRST_MILLIS = 1e8, 1e11
"""Both are in 1973; as seconds the second is the year 5138. A smaller number is a duration or a count."""
_OPENAI_ROLES = frozenset(("tool", "developer", "function", "system"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The messages of one conversation, not yet checked, and the object that held them."""

    row: Row
    holder: dict[str, JsonValue]
    messages: list[tuple[int, JsonValue]]


def is_message(value: JsonValue) -> bool:
    """Whether a value looks like a message: an object with a role."""
    return isinstance(value, dict) and "role" in value


def holds_chat(rows: Sequence[Row]) -> bool:
    """Whether the first row is a message, a list of messages, or an object with ``messages``."""
    value = rows[0].value
    if isinstance(value, list):
        return bool(value) and is_message(value[0])
    return is_message(value) or (isinstance(value, dict) and isinstance(value.get("messages"), list))


def find_provider(messages: Sequence[JsonValue]) -> WireFormat:
    """Tell the wire format from the first sign that only one of the two has.

    In this order: a block that only Anthropic has, or an image with a ``source``; a field, role or part that only OpenAI
    has; ``cache_control`` on a block (some routers take it in the OpenAI form too); else OpenAI.
    """
    objects = [message for message in messages if isinstance(message, dict)]
    blocks = [block for message in objects for block in _blocks(message)]
    kinds = {str(block.get("type")) for block in blocks}
    if kinds & _ANTHROPIC_BLOCKS or any(block.get("type") == "image" and "source" in block for block in blocks):
        return "anthropic"
    if kinds & _OPENAI_PARTS or any("tool_calls" in m or str(m.get("role")) in _OPENAI_ROLES for m in objects):
        return "openai"
    return "anthropic" if any("cache_control" in block for block in blocks) else "openai"


def find_provider_of_rows(rows: Sequence[Row]) -> WireFormat:
    """Tell the wire format of a whole file; a ``system`` beside the messages is Anthropic's."""
    messages: list[JsonValue] = []
    for row in rows:
        held = row.value.get("messages") if isinstance(row.value, dict) else row.value
        if isinstance(row.value, dict) and isinstance(held, list) and row.value.get("system") is not None:
            return "anthropic"
        messages += held if isinstance(held, list) else [row.value]
    return find_provider(messages)


def read_chat(
    rows: Sequence[Row], name: str, wire_format: WireFormat, check_message: CheckMessage
) -> tuple[Conversation, ...]:
    """Read rows that are messages, or that hold a list of messages each."""
    groups = [_message_group(rows)] if is_message(rows[0].value) else list(_held_groups(rows))
    names = number_names(name, len(groups))
    return tuple(
        Conversation(
            name=group_name,
            messages=tuple(
                TranscriptMessage(
                    wire=check_message(message, line),
                    wire_format=wire_format,
                    said_at=find_time(message) or (find_time(group.holder) if at == 0 else None),
                    line=line,
                )
                for at, (line, message) in enumerate(group.messages)
            ),
            tools=find_tools(group.holder, group.row),
            system=_find_system(group),
        )
        for group, group_name in zip(groups, names, strict=True)
    )


def find_time(fields: JsonValue) -> datetime | None:
    """When a message was said, or a request was made, by the first of its fields that says so; else None.

    What is no time is left to the message, as every field that the format does not know.
    """
    values = (fields.get(name) for name in _TIMES) if isinstance(fields, dict) else ()
    return next((time for value in values if (time := read_time(value)) is not None), None)


def read_time(value: JsonValue) -> datetime | None:
    """A moment that a logger wrote, or None where the value is none.

    Text is read as ISO 8601, in UTC where it has no zone; a number as seconds since 1970, or milliseconds where it is that
    large.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= _FIRST_SECS:
            return datetime.fromtimestamp(value / 1000 if value >= _FIRST_MILLIS else value, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def find_tools(holder: dict[str, JsonValue], row: Row) -> tuple[JsonValue, ...] | None:
    """Give the tool schemas that a row has beside its messages, or None where it has none."""
    tools = holder.get("tools")
    if tools is None:
        return None
    if not isinstance(tools, list):
        refuse(row.line_of("tools"), f"`tools` is {type_name(tools)}, expected a list")
    return tuple(tools)


def _message_group(rows: Sequence[Row]) -> _Group:
    return _Group(row=rows[0], holder={}, messages=[(row.line, row.value) for row in rows])


def _held_groups(rows: Sequence[Row]) -> Iterator[_Group]:
    for row in rows:
        if isinstance(row.value, list):
            yield _Group(row=row, holder={}, messages=list(row.elements()))
            continue
        holder = expect_object(row.value, "this row", row.line)
        if "functions" in holder:
            refuse(
                row.line_of("functions"),
                "`functions` is the legacy form of tools and has no call ids; convert it to `tools` first",
            )
        yield _Group(row=row, holder=holder, messages=list(row.elements("messages")))


def _find_system(group: _Group) -> JsonValue:
    system = group.holder.get("system")
    if system is None or isinstance(system, str):
        return system
    line = group.row.line_of("system")
    blocks = expect_list(system, "`system`", line)
    for block in blocks:
        if expect_object(block, "a block of `system`", line).get("type") != "text":
            refuse(line, "a block of `system` is not of the type text")
    return blocks


def _blocks(message: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
