"""OpenAI chat messages: a list of them, a request body, a list of bodies, or either of these a line.

The wire form is the file's own. Source: OpenAI, Chat Completions API reference, `messages`; fine-tuning guide, chat format.
"""

from collections.abc import Sequence

from everfold.adapters.transcripts.chat import find_provider_of_rows, holds_chat, read_chat
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import (
    expect_list,
    expect_object,
    expect_role,
    expect_string,
    refuse,
    type_name,
)
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonValue

_ROLES = ("system", "developer", "user", "assistant", "tool")
_LEGACY = (
    "is the legacy form of tool calls and has no call ids, so it cannot be kept exactly; convert it to tools first"
)


def matches(rows: Sequence[Row]) -> bool:
    """Whether the rows are messages, or hold them, with no sign that only Anthropic has."""
    return holds_chat(rows) and find_provider_of_rows(rows) == "openai"


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the rows as OpenAI chat messages.

    Raises:
        InvalidInputError: With ``line``, where a message is not what the format says.
    """
    return read_chat(rows, name, "openai", check_message)


def check_message(value: JsonValue, line: int) -> dict[str, JsonValue]:
    """Give a value as an OpenAI chat message, unchanged.

    Fields and part types that are not known are let through. ``null`` stands for an absent field, as SDKs write it.

    Raises:
        InvalidInputError: With ``line``.
    """
    message = expect_object(value, "this message", line)
    if message.get("role") == "function":
        refuse(line, f"the role 'function' {_LEGACY}")
    role = expect_role(message, _ROLES, "OpenAI chat message", line)
    if message.get("function_call") is not None:
        refuse(line, f"`function_call` {_LEGACY}")
    if message.get("name") is not None:
        expect_string(message["name"], "`name`", line)
    _check_content(message, role, line)
    _check_tool_calls(message, role, line)
    if role == "tool":
        expect_string(message.get("tool_call_id"), "`tool_call_id` of this tool message", line)
    return message


def _check_content(message: dict[str, JsonValue], role: str, line: int) -> None:
    content = message.get("content")
    if isinstance(content, str) or (content is None and role == "assistant"):
        return
    if not isinstance(content, list):
        refuse(line, f"`content` of this {role} message is {type_name(content)}, expected a string or a list")
    for index, part in enumerate(content):
        fields = expect_object(part, f"`content[{index}]`", line)
        kind = expect_string(fields.get("type"), f"`content[{index}].type`", line)
        if kind in ("text", "refusal"):
            expect_string(fields.get(kind), f"`content[{index}].{kind}`", line)
        elif kind == "image_url":
            image = expect_object(fields.get(kind), f"`content[{index}].image_url`", line)
            expect_string(image.get("url"), f"`content[{index}].image_url.url`", line)


def _check_tool_calls(message: dict[str, JsonValue], role: str, line: int) -> None:
    if message.get("tool_calls") is None:
        return
    if role != "assistant":
        refuse(line, f"a {role} message has `tool_calls`, only an assistant message can")
    for index, value in enumerate(expect_list(message["tool_calls"], "`tool_calls`", line)):
        at = f"`tool_calls[{index}]"
        call = expect_object(value, f"{at}`", line)
        expect_string(call.get("id"), f"{at}.id`", line)
        kind = expect_string(call.get("type", "function"), f"{at}.type`", line)
        if kind not in ("function", "custom"):
            refuse(line, f"{at}.type` is {kind!r}, expected function or custom")
        called = expect_object(call.get(kind), f"{at}.{kind}`", line)
        expect_string(called.get("name"), f"{at}.{kind}.name`", line)
        field = "arguments" if kind == "function" else "input"
        expect_string(called.get(field), f"{at}.{kind}.{field}`", line)
