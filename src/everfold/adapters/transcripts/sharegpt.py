"""ShareGPT: turns with ``from`` and ``value``, converted to OpenAI chat form.

A ``function_call`` holds JSON with ``name`` and ``arguments``, or a list of these for parallel calls; it has no call ids, so
ids are made from the place in the conversation. The observations after it answer its calls in order. Fields of a turn
besides ``from`` and ``value`` are kept as fields of the message.

Source: the layout of the ShareGPT collection, and its tool turns as fine-tuning tools for open models write them.
"""

from collections.abc import Iterator, Sequence

from everfold.adapters.transcripts.chat import find_tools
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_list, expect_object, expect_string, name_of, number_names, refuse
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue, encode_json, parse_json
from everfold.errors import InvalidInputError

_ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "system": "system",
    "function_call": "assistant",
    "observation": "tool",
    "tool": "tool",
}


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row has a list under ``conversations``."""
    value = rows[0].value
    return isinstance(value, dict) and isinstance(value.get("conversations"), list)


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read one conversation a row, named by its ``id``; a message's label is its index in it.

    Raises:
        InvalidInputError: With ``line``, where a turn is not what the format says, or an observation answers no call.
    """
    names = number_names(name, len(rows))
    return tuple(_read_row(row, row_name) for row, row_name in zip(rows, names, strict=True))


def _read_row(row: Row, name: str) -> Conversation:
    fields = expect_object(row.value, "this row", row.line)
    system = fields.get("system") or None
    return Conversation(
        name=name_of(fields.get("id"), name),
        messages=tuple(_read_turns(row)),
        tools=_find_tools(fields, row),
        system=None if system is None else expect_string(system, "`system`", row.line_of("system")),
    )


def _read_turns(row: Row) -> Iterator[TranscriptMessage]:
    open_ids: list[str] = []
    for index, (line, value) in enumerate(row.elements("conversations")):
        turn = expect_object(value, "this turn", line)
        speaker = expect_string(turn.get("from"), "`from`", line)
        if speaker not in _ROLES:
            refuse(line, f"`from` is {speaker!r}, expected one of {', '.join(_ROLES)}")
        text = expect_string(turn.get("value"), "`value`", line)
        message: dict[str, JsonValue] = {"role": _ROLES[speaker], "content": text}
        if message["role"] == "tool":
            if not open_ids:
                refuse(line, f"this {speaker} turn answers no function_call: expected one before it for each")
            message["tool_call_id"] = open_ids.pop(0)
        else:
            open_ids = []
        if speaker == "function_call":
            calls = _parse_calls(text, index, line)
            open_ids = [str(call["id"]) for call in calls]
            message.update(content=None, tool_calls=list(calls))
        others = {key: field for key, field in turn.items() if key not in ("from", "value")}
        yield TranscriptMessage(
            wire=_join(message, others, line), wire_format="openai", line=line, labels=(str(index),)
        )


def _join(message: dict[str, JsonValue], others: dict[str, JsonValue], line: int) -> dict[str, JsonValue]:
    taken = next((key for key in others if key in ("role", "content", "tool_calls", "tool_call_id")), None)
    if taken is not None:
        refuse(line, f"a turn with `from` and `value` has `{taken}` too, so which of them holds is not clear")
    return {**message, **others}


def _parse_calls(text: str, index: int, line: int) -> list[dict[str, JsonValue]]:
    try:
        parsed = parse_json(text)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"line {line}: the value of this function_call is not JSON (inside it, {error})", line=line
        ) from error
    listed = parsed if isinstance(parsed, list) else [parsed]
    if not listed:
        refuse(line, "this function_call holds no call")
    return [_tool_call(value, f"call_{index}_{number}", line) for number, value in enumerate(listed)]


def _tool_call(value: JsonValue, call_id: str, line: int) -> dict[str, JsonValue]:
    call = expect_object(value, "this function_call", line)
    name = expect_string(call.get("name"), "`name` of this function_call", line)
    arguments = call.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = encode_json(arguments).decode("utf-8", "surrogatepass")
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _find_tools(fields: dict[str, JsonValue], row: Row) -> tuple[JsonValue, ...] | None:
    """Give the tool schemas, which stand as a list or as the JSON text of one; empty text for none."""
    tools = fields.get("tools")
    if not isinstance(tools, str):
        return find_tools(fields, row)
    if not tools:
        return None
    line = row.line_of("tools")
    try:
        parsed = parse_json(tools)
    except InvalidInputError as error:
        raise InvalidInputError(f"line {line}: `tools` is not JSON (inside it, {error})", line=line) from error
    return tuple(expect_list(parsed, "`tools`", line))
