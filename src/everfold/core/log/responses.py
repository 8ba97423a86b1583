"""Reading the items of OpenAI's Responses API into the typed view.

A reply is several items there: reasoning, texts, calls, and what the provider's own tools did. They belong together, so they
are one message here, which holds them as the API gives them: `{"object": "response", "output": [...]}`. Any other item is
a message of its own. Items that Everfold does not read are kept, and given back at their place.

Source: OpenAI API reference, "Create a model response", input items and output items.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from everfold.core.log.messages import (
    CallPart,
    ImagePart,
    MessageView,
    OpaquePart,
    Part,
    ResultPart,
    Role,
    TextPart,
    ThinkingPart,
)
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.errors import InvalidInputError

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_TEXTS: Final = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
PARTS: Final = ("input_text", "output_text", "input_image", "input_file", "input_audio")
"""The types of content parts that only this form has. A tuple, since a type that is looked for may be anything."""
_WORDS: Final = frozenset({"reasoning", "compaction", "program"})
"""The types of items of one word; all others, those of tomorrow too, are words joined by `_`."""
_OUTPUTS: Final = ("_output", "_response")
"""How the types of items end that answer a call."""
_CLIENT_OUTPUTS: Final = (
    "function_call_output",
    "custom_tool_call_output",
    "computer_call_output",
    "local_shell_call_output",
    "mcp_approval_response",
)
"""The outputs of tools that a client runs. Of other tools the provider's own outputs have an id, a client's have none."""
PROGRAM: Final = ("program", "program_output")
"""A program that the provider runs, and its output. Between them there may be calls that it makes, and their results, so it
is no call that a client answers."""
_CALL_IDS: Final = {"mcp_approval_request": "id", "mcp_approval_response": "approval_request_id"}
"""Where an item has the id that pairs it, when that is not `call_id`."""


def is_responses(wire: Mapping[str, object]) -> bool:
    """Whether a message is in the form of the Responses API; a plain text with a role counts as OpenAI's chat form."""
    if wire.get("object") == "response":
        return isinstance(wire.get("output"), list)
    content = wire.get("content")
    if isinstance(content, list) and any(isinstance(part, dict) and part.get("type") in PARTS for part in content):
        return True
    kind = wire.get("type")
    if kind == "message":
        return isinstance(content, str) and "model" not in wire
    return isinstance(kind, str) and "role" not in wire and (kind in _WORDS or "_" in kind)


def is_of_reply(item: Mapping[str, object]) -> bool:
    """Whether an item is a part of what a model said, whatever stands before it."""
    if "role" in item:
        return item.get("role") == "assistant" and item.get("type", "message") == "message"
    return isinstance(item.get("type"), str) and (not is_output(item) or find_pairing_id(item) is None)


def group_items(items: Sequence[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
    """The messages that a list of items is: those of a reply together, any other, and any of another form, as it is."""
    reply: list[Mapping[str, object]] = []
    for item in items:
        if isinstance(item, Mapping) and "object" not in item and is_responses(item) and _goes_on(reply, item):
            reply.append(item)
            continue
        if reply:
            yield {"object": "response", "output": reply}
        reply = []
        yield item
    if reply:
        yield {"object": "response", "output": reply}


def _goes_on(reply: Sequence[Mapping[str, object]], item: Mapping[str, object]) -> bool:
    """Whether an item goes on with a reply, or begins one: the provider's output belongs to the reply with its call."""
    if is_of_reply(item):
        return True
    if item.get("type") in _CLIENT_OUTPUTS or not (item.get("id") or item.get("execution") == "server"):
        return False
    return find_pairing_id(item) in [find_pairing_id(call) for call in list_calls(reply)]


def list_reply_items(wire: JsonObject) -> list[JsonObject]:
    """The items of a reply: those of a response, or the one item that the message is."""
    output = wire.get("output") if wire.get("object") == "response" else [wire]
    return [item for item in cast("list[JsonValue]", output) if isinstance(item, dict)]


def is_output(item: Mapping[str, object]) -> bool:
    """Whether an item answers a call."""
    return str(item.get("type")).endswith(_OUTPUTS)


def find_pairing_id(item: Mapping[str, object]) -> str | None:
    """The id that pairs a call with what answers it; None where an item is neither."""
    found = None if item.get("type") in PROGRAM else item.get(_find_id_key(item))
    return found if isinstance(found, str) and found else None


def find_settled(items: Sequence[Mapping[str, object]]) -> frozenset[str]:
    """The ids of the calls of a reply whose output stands behind them in it: the provider itself ran them."""
    called: set[str] = set()
    waiting: list[str] = []
    for item in items:
        call_id = find_pairing_id(item)
        if call_id is not None and not is_output(item):
            called.add(call_id)
            waiting.append(call_id)
        elif call_id in waiting:
            waiting.remove(call_id)
    return frozenset(called.difference(waiting))


def list_calls(items: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The calls among the items of a reply that wait for an output."""
    settled = find_settled(items)
    ids = [None if is_output(item) else find_pairing_id(item) for item in items]
    return [item for item, id_ in zip(items, ids, strict=True) if id_ is not None and id_ not in settled]


def set_pairing_id(item: JsonObject, call_id: str) -> JsonObject:
    """The same item paired by another id."""
    return {**item, _find_id_key(item): call_id}


def _find_id_key(item: Mapping[str, object]) -> str:
    """Where an item has the id that pairs it. The output of a local shell has it as `id`; the Agents SDK adds `call_id`."""
    if item.get("type") == "local_shell_call_output" and "call_id" not in item:
        return "id"
    return _CALL_IDS.get(str(item.get("type")), "call_id")


def read_responses(wire: JsonObject) -> MessageView:
    """The typed view of a reply or of another item.

    Raises:
        InvalidInputError: a role is unknown, or a field has the wrong type.
    """
    if wire.get("object") == "response" or is_of_reply(wire):
        items = list_reply_items(wire)
        calls = list_calls(items)
        parts = [part for item in items for part in _read_reply_item(item, is_call=item in calls)]
        return MessageView(format="responses", role="assistant", name=None, parts=tuple(parts))
    if is_output(wire) and (call_id := find_pairing_id(wire)) is not None:
        return MessageView(format="responses", role="tool", name=None, parts=(_read_result(wire, call_id),))
    return _read_message(wire)


def _read_message(wire: JsonObject) -> MessageView:
    role = wire.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise InvalidInputError(
            f"role {role!r} is unknown in the form of the Responses API; expected one of {', '.join(_ROLES)}"
        )
    parts = tuple(_read_content(wire.get("content")))
    return MessageView(format="responses", role=_ROLES[role], name=None, parts=parts)


def _read_content(content: JsonValue) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield TextPart(text=content)
        return
    if not isinstance(content, list | None):
        raise InvalidInputError(f"content must be a string or a list of parts, got {type(content).__name__}")
    for index, part in enumerate(content or []):
        if not isinstance(part, dict):
            raise InvalidInputError(f"content[{index}] must be an object, got {type(part).__name__}")
        yield _read_part(part)


def _read_part(part: JsonObject) -> Part:
    match part:
        case {"type": str(kind), "text": str(text)} if kind in _TEXTS:
            return TextPart(text=text, raw=part)
        case {"type": "refusal", "refusal": str(text)}:
            return TextPart(text=text, raw=part)
        case {"type": "input_image"}:
            return _read_image(part)
        case {"type": kind}:
            return OpaquePart(type=str(kind), raw=part)
    raise InvalidInputError("a content part has no type; expected input_text, input_image, input_file or output_text")


def _read_image(part: JsonObject) -> ImagePart:
    url, detail = part.get("image_url"), part.get("detail")
    detail = detail if isinstance(detail, str) else None
    if isinstance(url, str) and url.startswith("data:") and ";base64," in url:
        head, data = url.split(";base64,", 1)
        return ImagePart(url=None, data=data, media_type=head[5:], detail=detail, raw=part)
    return ImagePart(url=url if isinstance(url, str) else None, data=None, media_type=None, detail=detail, raw=part)


def _read_reply_item(item: JsonObject, *, is_call: bool) -> Iterator[Part]:
    kind = item.get("type", "message")
    if kind == "message":
        yield from _read_content(item.get("content"))
    elif kind == "reasoning":
        yield ThinkingPart(text=_read_texts(item.get("summary")), is_signed=True, raw=item)
    elif is_call and (call_id := find_pairing_id(item)) is not None:
        yield CallPart(id=call_id, name=str(item.get("name") or kind), arguments=_read_arguments(item), raw=item)
    else:
        yield OpaquePart(type=str(kind), raw=item)


def _read_arguments(item: JsonObject) -> str:
    """What a call was made with: a function's arguments as they are, of any other call an object of what it has."""
    if isinstance(arguments := item.get("arguments"), str):
        return arguments
    given: JsonObject = {key: item[key] for key in ("input", "action", "operation") if key in item}
    return encode_json(given).decode("utf-8", "surrogatepass")


def _read_result(item: JsonObject, call_id: str) -> ResultPart:
    output = item.get("output")
    texts = _read_texts(output)
    images = 0
    if isinstance(output, list):
        images = sum(isinstance(part, dict) and part.get("type") == "input_image" for part in output)
    return ResultPart(call_id=call_id, text=texts, is_error=False, image_count=images, raw=item)


def _read_texts(content: JsonValue) -> str:
    """The texts of a content, line by line; of anything else its JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        parts = cast("list[JsonObject]", content)
        return "\n".join(text for part in parts if isinstance(text := part.get("text"), str))
    return "" if content is None else encode_json(content).decode("utf-8", "surrogatepass")
