"""The items of OpenAI's Responses API and the messages of chat completions, one as the other.

A reply is several items there (text, calls), and one message here. What has no message here is named in a text instead.

Source: OpenAI API reference, "Create a model response", input items; the Agents SDK, which speaks in them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from everfold.core.primitives.json_values import encode_json

Item = Mapping[str, Any]
REPLY_TYPES = frozenset({"function_call", "reasoning"})


def is_of_reply(item: Item) -> bool:
    """Whether an item is a part of what the model said."""
    return item.get("role") == "assistant" or item.get("type") in REPLY_TYPES


def group_items(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items of each message: those of a reply together, any other alone."""
    group: list[Item] = []
    for item in items:
        if not is_of_reply(item):
            if group:
                yield group
            group = []
            yield [item]
        else:
            group.append(item)
    if group:
        yield group


def read_items(items: Sequence[Item]) -> list[dict[str, Any]]:
    """The message that the items of a group are; none where only reasoning is in it."""
    if not is_of_reply(items[0]):
        return [_read_item(items[0])]
    texts = [_read_text(item.get("content")) for item in items if item.get("role") == "assistant"]
    message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None}
    if calls := [item for item in items if item.get("type") == "function_call"]:
        message["tool_calls"] = [_read_call(item) for item in calls]
    return [message] if texts or calls else []


def _read_item(item: Item) -> dict[str, Any]:
    match item:
        case {"type": "function_call_output", "call_id": call_id}:
            return {"role": "tool", "tool_call_id": call_id, "content": _read_text(item.get("output"))}
        case {"role": "user", "content": str(content)}:
            return {"role": "user", "content": content}
        case {"role": "user", "content": content}:
            return {"role": "user", "content": [_read_part(part) for part in content]}
        case {"role": role}:
            return {"role": role, "content": _read_text(item.get("content"))}
        case _:
            return {"role": "system", "content": f"[item of type {item.get('type')}]"}


def _read_call(item: Item) -> dict[str, Any]:
    function = {"name": item["name"], "arguments": item["arguments"]}
    return {"id": item["call_id"], "type": "function", "function": function}


def _read_part(part: Item) -> dict[str, Any]:
    match part:
        case {"type": "input_image", "image_url": str(url)}:
            return {"type": "image_url", "image_url": {"url": url}}
        case _:
            return {"type": "text", "text": _read_text([part])}


def _read_text(content: Any) -> str:
    """The text of a content, or of what a tool gave; parts without one are named."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_name_part(part) for part in content)
    return "" if content is None else encode_json(content).decode()


def _name_part(part: Item) -> str:
    text = part.get("text", part.get("refusal"))
    return text if isinstance(text, str) else f"[content of type {part.get('type')}]"


def write_items(messages: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """The items of a rendered request's messages."""
    for message in messages:
        content = message.get("content")
        match message["role"]:
            case "tool":
                output = _read_text(content)
                yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": output}
            case "assistant":
                if content:
                    yield {"role": "assistant", "content": _read_text(content)}
                yield from (_write_call(call) for call in message.get("tool_calls", ()))
            case "user" if isinstance(content, list):
                yield {"role": "user", "content": [_write_part(part) for part in content]}
            case role:
                yield {"role": role, "content": content}


def _write_call(call: Item) -> dict[str, Any]:
    function = call["function"]
    name, arguments = function["name"], function["arguments"]
    return {"type": "function_call", "call_id": call["id"], "name": name, "arguments": arguments}


def _write_part(part: Item) -> dict[str, Any]:
    if part["type"] == "image_url":
        image = part["image_url"]
        return {"type": "input_image", "image_url": image["url"], "detail": image.get("detail", "auto")}
    return {"type": "input_text", "text": _name_part(part)}
