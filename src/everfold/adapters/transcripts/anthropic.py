"""Anthropic messages: a list of them, a request body with ``system``, a list of bodies, or either of these a line.

The wire form is the file's own. Source: Anthropic, Messages API reference, `messages` and `system`; the guides on tool use
and extended thinking for the blocks.
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

_ROLES = ("user", "assistant")
_STRINGS_OF_BLOCK = {
    "text": ("text",),
    "thinking": ("thinking",),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name"),
    "tool_result": ("tool_use_id",),
}
"""The fields of each known block that must be strings. Blocks of other types are let through."""

_ROLE_OF_BLOCK = {
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
}


def matches(rows: Sequence[Row]) -> bool:
    """Whether the rows are messages, or hold them, with a sign that only Anthropic has."""
    return holds_chat(rows) and find_provider_of_rows(rows) == "anthropic"


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the rows as Anthropic messages.

    Raises:
        InvalidInputError: With ``line``, where a message is not what the format says.
    """
    return read_chat(rows, name, "anthropic", check_message)


def check_message(value: JsonValue, line: int) -> dict[str, JsonValue]:
    """Give a value as an Anthropic message, unchanged. Fields and block types that are not known are let through.

    Raises:
        InvalidInputError: With ``line``.
    """
    message = expect_object(value, "this message", line)
    if message.get("role") == "system":
        refuse(
            line,
            "an Anthropic message has the role user or assistant; put the system prompt in `system` beside `messages`",
        )
    role = expect_role(message, _ROLES, "Anthropic message", line)
    content = message.get("content")
    if isinstance(content, str):
        return message
    if not isinstance(content, list):
        refuse(line, f"`content` of this {role} message is {type_name(content)}, expected a string or a list")
    for index, block in enumerate(content):
        _check_block(expect_object(block, f"`content[{index}]`", line), f"`content[{index}]", role, line)
    return message


def _check_block(block: dict[str, JsonValue], at: str, role: str, line: int) -> None:
    kind = expect_string(block.get("type"), f"{at}.type`", line)
    if _ROLE_OF_BLOCK.get(kind, role) != role:
        refuse(line, f"{at}` is a {kind} block in a message of the {role}, expected the {_ROLE_OF_BLOCK[kind]}")
    for field in _STRINGS_OF_BLOCK.get(kind, ()):
        expect_string(block.get(field), f"{at}.{field}`", line)
    if kind == "tool_use":
        expect_object(block.get("input"), f"{at}.input`", line)
    if kind == "tool_result" and not isinstance(block.get("content", ""), str):
        for inner in expect_list(block["content"], f"{at}.content`", line):
            expect_object(inner, f"an element of {at}.content`", line)
