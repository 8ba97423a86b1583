"""LangChain messages in the JSON forms that LangChain writes: of `messages_to_dict`, of `dumps`, and of `model_dump`.

They become OpenAI chat messages: `tool_calls` with their arguments as JSON text, content blocks that OpenAI's form does not have
as text. Other fields (`response_metadata`, `usage_metadata`) are left out: they are no part of a request.

Source: LangChain reference, `langchain_core.messages` and `langchain_core.load`.
"""

from collections.abc import Sequence

from everfold.adapters.transcripts.building import Call, ChatBuilder, Place, text_of
from everfold.adapters.transcripts.chat import find_time
from everfold.adapters.transcripts.rows import Row
from everfold.adapters.transcripts.shape import expect_object, name_of, number_names, refuse
from everfold.core.log.transcripts import Conversation
from everfold.core.primitives.json_values import JsonObject, JsonValue

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "chat": "chat",
}
_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
}
_CHAT_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system"}


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row is a message in one of the forms, or holds a list of them."""
    return _find_fields(_first_message(rows[0].value)) is not None


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read the rows as one conversation, or each row that holds a list of messages as one.

    Raises:
        InvalidInputError: With ``line``, where a message is in none of the forms.
    """
    if _find_fields(rows[0].value) is not None:
        return (_read_messages([(row.value, row.line) for row in rows], name),)
    names = number_names(name, len(rows))
    return tuple(_read_messages(_list_held(row), own) for row, own in zip(rows, names, strict=True))


def _first_message(value: JsonValue) -> JsonValue:
    held = value.get("messages") if isinstance(value, dict) and "messages" in value else value
    return held[0] if isinstance(held, list) and held else held


def _list_held(row: Row) -> list[tuple[JsonValue, int]]:
    if isinstance(row.value, list):
        return [(value, line) for line, value in row.elements()]
    return [(value, line) for line, value in row.elements("messages")]


def _find_fields(value: JsonValue) -> tuple[str, JsonObject] | None:
    """The type of a message and its fields, whatever form it has; None where it has none of them."""
    if not isinstance(value, dict):
        return None
    kind = _name_kind(value.get("type"))
    data, path, kwargs = value.get("data"), value.get("id"), value.get("kwargs")
    if value.get("type") == "constructor" and isinstance(path, list) and path and isinstance(kwargs, dict):
        kind = _name_kind(path[-1])
        return (kind, kwargs) if "lc" in value and kind in _ROLES else None
    if kind not in _ROLES or "role" in value:
        return None
    if isinstance(data, dict):
        return kind, data
    return (kind, value) if "content" in value else None


def _name_kind(kind: JsonValue) -> str:
    name = kind.removesuffix("Chunk") if isinstance(kind, str) else ""
    return _CLASSES.get(name, name)


def _read_messages(messages: Sequence[tuple[JsonValue, int]], name: str) -> Conversation:
    chat = ChatBuilder()
    for value, line in messages:
        found = _find_fields(value)
        if found is None:
            refuse(
                line, "this is no LangChain message: expected `type` with `data` or `content`, or `lc` with `kwargs`"
            )
        kind, fields = found
        _add(chat, kind, fields, line)
    return Conversation(name=name, messages=tuple(chat.messages))


def _add(chat: ChatBuilder, kind: str, fields: JsonObject, line: int) -> None:
    place = Place(line=line, said_at=find_time(fields), label=name_of(fields.get("id"), "") or None)
    role = _ROLES[kind]
    if role == "chat":
        role = _CHAT_ROLES.get(str(fields.get("role")).lower(), "user")
    content = _read_content(fields.get("content"))
    calls = _list_calls(fields, line)
    if role == "tool":
        call_id = fields.get("tool_call_id")
        chat.answer(content, place, call_id=call_id if isinstance(call_id, str) else None)
    elif calls:
        chat.call(content, calls, place)
    else:
        chat.say(role, content, place)


def _list_calls(fields: JsonObject, line: int) -> list[Call]:
    held = fields.get("tool_calls")
    calls: list[Call] = []
    for value in held if isinstance(held, list) else []:
        call = expect_object(value, "a call of `tool_calls`", line)
        found = call.get("id")
        calls.append(
            Call(
                name=name_of(call.get("name"), "tool"),
                arguments=call.get("args"),
                id=found if isinstance(found, str) and found else None,
            )
        )
    return calls


def _read_content(content: JsonValue) -> JsonValue:
    """Content as OpenAI's chat form has it: text and images as they are, calls left to `tool_calls`, others as text."""
    if not isinstance(content, list):
        return text_of(content)
    parts: list[JsonValue] = []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                parts.append({"type": "text", "text": text})
            case {"type": "image_url", "image_url": str(url)}:
                parts.append({"type": "image_url", "image_url": {"url": url}})
            case {"type": "image_url", "image_url": {"url": str()}}:
                parts.append(block)
            case {"type": "tool_use" | "tool_call"}:
                pass
            case _:
                parts.append({"type": "text", "text": text_of(block)})
    return parts
