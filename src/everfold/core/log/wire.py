"""Reading wire messages: OpenAI chat and Anthropic messages into one typed view.

Sources: the public API references of both providers (chat completion messages; messages, content blocks).
"""

import base64
from collections.abc import Callable, Mapping
from typing import Final, cast

from everfold.core.log.extras import read_extras, read_transcript
from everfold.core.log.messages import (
    CallPart,
    DocumentPart,
    ImagePart,
    MessageView,
    OpaquePart,
    Part,
    ResultPart,
    Role,
    TextPart,
    ThinkingPart,
    WireFormat,
)
from everfold.core.log.responses import is_responses, read_responses
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.errors import InvalidInputError

_OPENAI_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_ANTHROPIC_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
"""`system` among the messages is a beta of 2026-04."""
_TEXT_DATA = "data:text/plain;base64,"
SERVER_BLOCKS: Final = frozenset(
    {
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "advisor_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
        "compaction",
    }
)
"""The types of blocks of the tools that Anthropic itself runs, and of its own compaction."""
ANTHROPIC_BLOCKS: Final = (
    *sorted(SERVER_BLOCKS),
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "document",
    "image",
    "search_result",
)
"""The types of content blocks that only Anthropic has. `image` may stand for another thing in the files of others. A tuple,
since a type that is looked for may be anything."""


def detect_format(wire: Mapping[str, JsonValue]) -> WireFormat:
    """The wire form that a message is in; a plain text message, which is the same in both, counts as OpenAI's."""
    content = wire.get("content")
    if is_responses(wire):
        return "responses"
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and (block.get("type") in ANTHROPIC_BLOCKS or "cache_control" in block):
                return "anthropic"
    return "openai"


def read_wire(wire: JsonObject, *, wire_format: WireFormat | None = None) -> MessageView:
    """The typed view of a wire message.

    Raises:
        InvalidInputError: the role is unknown, a field has the wrong type, or a call id stands twice in the message.
    """
    if not isinstance(wire, dict):
        raise InvalidInputError(f"a message must be a JSON object with a role and content, got {type(wire).__name__}")
    read = _READERS.get(wire_format or detect_format(wire))
    if read is None:
        raise InvalidInputError(f"the wire form {wire_format!r} is unknown; expected one of {', '.join(_READERS)}")
    view = read(wire)
    _refuse_repeated_calls(view)
    return view


def _refuse_repeated_calls(view: MessageView) -> None:
    calls = view.calls
    if len(calls) > 1 and len({call.id for call in calls}) < len(calls):
        ids = [call.id for call in calls]
        twice = next(id_ for id_ in ids if ids.count(id_) > 1)
        raise InvalidInputError(
            f"call id {twice!r} appears twice in one assistant message; give every call of a message an id of its own",
            call_id=twice,
        )


def _role_of(wire: JsonObject, roles: dict[str, Role], name: str) -> Role:
    role = wire.get("role")
    if not isinstance(role, str) or role not in roles:
        raise InvalidInputError(f"role {role!r} is unknown in {name} form; expected one of {', '.join(roles)}")
    return roles[role]


def _text_of(value: JsonValue, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"{where} must be a string, got {type(value).__name__}")
    return value


def _id_of(value: JsonValue, where: str) -> str:
    id_ = _text_of(value, where)
    if not id_:
        raise InvalidInputError(f"{where} is empty; a call needs an id that its result can name")
    return id_


def _object_of(value: JsonValue, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidInputError(f"{where} must be an object, got {type(value).__name__}")
    return value


def _list_of(value: JsonValue, where: str) -> list[JsonValue]:
    if not isinstance(value, list):
        raise InvalidInputError(f"{where} must be a list, got {type(value).__name__}")
    return value


# --- OpenAI -----------------------------------------------------------------------------------------------------------


def _read_openai(wire: JsonObject) -> MessageView:
    role = _role_of(wire, _OPENAI_ROLES, "OpenAI")
    content = wire.get("content")
    parts: list[Part] = [_openai_result(wire, content)] if role == "tool" else _openai_content(content)
    if role == "assistant" and (transcript := read_transcript(wire)):
        parts.append(TextPart(text=transcript))
    refusal = wire.get("refusal")
    if refusal is not None:
        parts.append(TextPart(text=_text_of(refusal, "refusal")))
    calls = wire.get("tool_calls")
    if calls is not None:
        if role != "assistant":
            raise InvalidInputError(f"tool_calls belong to an assistant message, got role {wire.get('role')!r}")
        parts.extend(_openai_call(call, index) for index, call in enumerate(_list_of(calls, "tool_calls")))
    name = wire.get("name")
    return MessageView(
        format="openai",
        role=role,
        name=None if name is None else _text_of(name, "name"),
        parts=tuple(parts),
        extras=read_extras(wire),
    )


def _openai_content(content: JsonValue) -> list[Part]:
    if content is None:
        return []
    if isinstance(content, str):
        return [TextPart(text=content)] if content else []
    return [_openai_part(part, index) for index, part in enumerate(_content_list(content))]


def _content_list(content: JsonValue) -> list[JsonValue]:
    if not isinstance(content, list):
        raise InvalidInputError(f"content must be a string or a list of parts, got {type(content).__name__}")
    return content


def _openai_part(value: JsonValue, index: int) -> Part:
    where = f"content[{index}]"
    if isinstance(value, str):
        return TextPart(text=value)
    part = _object_of(value, where)
    match kind := _text_of(part.get("type"), f"{where}.type"):
        case "text":
            return TextPart(text=_text_of(part.get("text"), f"{where}.text"), raw=part)
        case "refusal":
            return TextPart(text=_text_of(part.get("refusal"), f"{where}.refusal"), raw=part)
        case "image_url":
            return _openai_image(part, where)
        case "file":
            return _openai_file(part)
        case _:
            return OpaquePart(type=kind, raw=part)


def _openai_file(part: JsonObject) -> Part:
    """A file whose data is plain text is a document; any other is kept and not read."""
    file = part.get("file")
    file = file if isinstance(file, dict) else {}
    title, data = file.get("filename"), file.get("file_data")
    if not isinstance(data, str) or not data.startswith(_TEXT_DATA):
        return OpaquePart(type="file", raw=part)
    try:
        text = base64.b64decode(data.removeprefix(_TEXT_DATA), validate=True).decode("utf-8")
    except ValueError:
        return OpaquePart(type="file", raw=part)
    return DocumentPart(title=title if isinstance(title, str) else "document", text=text, raw=part)


def _openai_image(part: JsonObject, where: str) -> ImagePart:
    image = _object_of(part.get("image_url"), f"{where}.image_url")
    url = _text_of(image.get("url"), f"{where}.image_url.url")
    detail = image.get("detail")
    detail = detail if isinstance(detail, str) else None
    if url.startswith("data:") and ";base64," in url:
        head, data = url.split(";base64,", 1)
        return ImagePart(url=None, data=data, media_type=head[5:], detail=detail, raw=part)
    return ImagePart(url=url, data=None, media_type=None, detail=detail, raw=part)


def _openai_call(value: JsonValue, index: int) -> CallPart:
    where = f"tool_calls[{index}]"
    call = _object_of(value, where)
    id_ = _id_of(call.get("id"), f"{where}.id")
    if call.get("type") == "custom":
        custom = _object_of(call.get("custom"), f"{where}.custom")
        arguments = encode_json({"input": custom.get("input")}).decode("utf-8", "surrogatepass")
        return CallPart(
            id=id_, name=_text_of(custom.get("name"), f"{where}.custom.name"), arguments=arguments, raw=call
        )
    function = _object_of(call.get("function"), f"{where}.function")
    return CallPart(
        id=id_,
        name=_text_of(function.get("name"), f"{where}.function.name"),
        arguments=_text_of(function.get("arguments"), f"{where}.function.arguments"),
        raw=call,
    )


def _openai_result(wire: JsonObject, content: JsonValue) -> ResultPart:
    call_id = _text_of(wire.get("tool_call_id"), "tool_call_id")
    texts = [] if content is None else [content] if isinstance(content, str) else None
    images = 0
    if texts is None:
        parts = [_openai_part(part, index) for index, part in enumerate(_content_list(content))]
        texts = [part.text for part in parts if isinstance(part, TextPart | DocumentPart)]
        images = sum(isinstance(part, ImagePart) for part in parts)
    return ResultPart(call_id=call_id, text="\n".join(texts), is_error=False, image_count=images, raw=wire)


# --- Anthropic --------------------------------------------------------------------------------------------------------


def _read_anthropic(wire: JsonObject) -> MessageView:
    role = _role_of(wire, _ANTHROPIC_ROLES, "Anthropic")
    content = wire.get("content")
    parts: tuple[Part, ...]
    if isinstance(content, str):
        parts = (TextPart(text=content),) if content else ()
    else:
        blocks = _content_list(content)
        parts = tuple(_anthropic_block(_object_of(block, f"content[{i}]"), i) for i, block in enumerate(blocks))
    if any(isinstance(part, ResultPart) for part in parts):
        if role != "user":
            raise InvalidInputError("a tool_result block belongs to a user message, got role 'assistant'")
        role = "tool"
    if role != "assistant" and any(isinstance(part, CallPart) for part in parts):
        raise InvalidInputError("a tool_use block belongs to an assistant message, got role 'user'")
    return MessageView(format="anthropic", role=role, name=None, parts=parts)


def _anthropic_block(block: JsonObject, index: int) -> Part:
    where = f"content[{index}]"
    match kind := _text_of(block.get("type"), f"{where}.type"):
        case "text":
            return TextPart(text=_text_of(block.get("text"), f"{where}.text"), raw=block)
        case "image":
            return _anthropic_image(block, where)
        case "document":
            return _anthropic_document(block)
        case "tool_use":
            arguments = encode_json(_object_of(block.get("input"), f"{where}.input")).decode("utf-8", "surrogatepass")
            id_ = _id_of(block.get("id"), f"{where}.id")
            return CallPart(id=id_, name=_text_of(block.get("name"), f"{where}.name"), arguments=arguments, raw=block)
        case "tool_result":
            return _anthropic_result(block, where)
        case "thinking":
            text = _text_of(block.get("thinking"), f"{where}.thinking")
            return ThinkingPart(text=text, is_signed=bool(block.get("signature")), raw=block)
        case "redacted_thinking":
            return ThinkingPart(text="", is_signed=True, raw=block)
        case _:
            return OpaquePart(type=kind, raw=block)


def _anthropic_image(block: JsonObject, where: str) -> ImagePart:
    source = _object_of(block.get("source"), f"{where}.source")
    text = {key: value for key, value in source.items() if isinstance(value, str)}
    return ImagePart(
        url=text.get("url"), data=text.get("data"), media_type=text.get("media_type"), detail=None, raw=block
    )


def _anthropic_document(block: JsonObject) -> DocumentPart:
    title = block.get("title")
    source = block.get("source")
    text = ""
    if isinstance(source, dict) and source.get("type") == "text":
        data = source.get("data")
        text = data if isinstance(data, str) else ""
    return DocumentPart(title=title if isinstance(title, str) else "document", text=text, raw=block)


def _anthropic_result(block: JsonObject, where: str) -> ResultPart:
    call_id = _text_of(block.get("tool_use_id"), f"{where}.tool_use_id")
    content = block.get("content")
    texts: list[str] = []
    images = 0
    if isinstance(content, str):
        texts = [content]
    elif content is not None:
        for inner in _list_of(content, f"{where}.content"):
            part = _anthropic_block(_object_of(inner, f"{where}.content[]"), 0)
            if isinstance(part, TextPart | DocumentPart):
                texts.append(part.text)
            images += isinstance(part, ImagePart)
    is_error = bool(block.get("is_error"))
    return ResultPart(call_id=call_id, text="\n".join(texts), is_error=is_error, image_count=images, raw=block)


_READERS: Final[Mapping[str, Callable[[JsonObject], MessageView]]] = {
    "openai": _read_openai,
    "anthropic": _read_anthropic,
    "responses": read_responses,
}


def shorten_strings(value: JsonValue, limit_chars: int, *, place: str) -> JsonValue:
    """The same JSON with every string longer than the limit cut to it, the cut naming the place that holds the rest."""
    if isinstance(value, str):
        left_out = len(value) - limit_chars
        return value if left_out <= 0 else f"{value[:limit_chars]}… [{left_out} more; {place}]"
    if isinstance(value, list):
        return [shorten_strings(item, limit_chars, place=place) for item in value]
    if isinstance(value, dict):
        return {key: shorten_strings(item, limit_chars, place=place) for key, item in value.items()}
    return cast("JsonValue", value)
