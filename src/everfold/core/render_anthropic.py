"""A window as an Anthropic messages request.

Roles alternate, so neighbouring speeches of one role share a message; results come before text; system messages in
the middle become marked user text at their place; thinking stays where its signature is valid. Cache breakpoints stand
at the end of the system prompt, of the body and of the tail; with the client's own they are at most four.

Source: the public API reference of the messages API: content blocks, tool use, extended thinking, prompt caching.
"""

from typing import cast

from everfold.core.frames import BETWEEN_TEXT, EMPTY_TEXT, system_note
from everfold.core.json_values import JsonObject, JsonValue, parse_json
from everfold.core.messages import ImagePart, OpaquePart, TextPart, ThinkingPart
from everfold.core.render_openai import fit_id, fit_name
from everfold.core.speech import (
    Place,
    Shown,
    ShownAnswer,
    ShownCall,
    ShownDocument,
    ShownText,
    Speech,
    clean_text,
    speak,
    texts_of,
)
from everfold.core.window import Window
from everfold.errors import InvalidInputError

MAX_BREAKPOINTS = 4
"""Source: Anthropic's documented limit of cache breakpoints in one request."""

_MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_MARKABLE = frozenset({"text", "image", "document", "tool_use", "tool_result"})


def render_anthropic(window: Window) -> JsonObject:
    """The window as a request: `messages`, and `system` and `tools` when the session has any."""
    system: list[JsonObject] = []
    if window.prompt.system:
        system.append({"type": "text", "text": clean_text(window.prompt.system)})
    turns = _Turns()
    for speech in speak(window):
        if speech.place == "system":
            system += [{"type": "text", "text": text} for text in texts_of(speech.items)]
        else:
            turns.add(speech)
    _place_breakpoints(system, turns)
    request: JsonObject = {}
    if system:
        request["system"] = cast("list[JsonValue]", system)
    request["messages"] = cast("list[JsonValue]", turns.messages)
    if window.prompt.tools:
        request["tools"] = [anthropic_tool(tool) for tool in window.prompt.tools]
    return request


class _Turns:
    """Alternating messages, and the last block of each place for the breakpoints."""

    def __init__(self) -> None:
        self.messages: list[dict[str, JsonValue]] = []
        self.last_block: dict[Place, JsonObject] = {}
        self.client_marks: list[JsonObject] = []

    def add(self, speech: Speech) -> None:
        role = "assistant" if speech.role == "assistant" else "user"
        blocks = _blocks(speech)
        if not blocks:
            return
        content = self._content_for(role, blocks)
        content.extend(blocks)
        self.client_marks += [block for block in blocks if "cache_control" in block]
        if blocks[-1].get("type") in _MARKABLE:
            self.last_block[speech.place] = blocks[-1]

    def _content_for(self, role: str, blocks: list[JsonObject]) -> list[JsonValue]:
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == role:
            if role == "user" or blocks[0].get("type") not in {"thinking", "redacted_thinking"}:
                return cast("list[JsonValue]", last["content"])
            self.messages.append({"role": "user", "content": [{"type": "text", "text": BETWEEN_TEXT}]})
        content: list[JsonValue] = []
        self.messages.append({"role": role, "content": content})
        return content


def _blocks(speech: Speech) -> list[JsonObject]:
    if speech.role == "system":
        seq = speech.message.seq if speech.message else 0
        return [{"type": "text", "text": system_note(seq, "\n".join(texts_of(speech.items)))}]
    blocks = [block for item in speech.items if (block := _block(item, speech)) is not None]
    if not blocks and speech.role == "assistant":
        return [{"type": "text", "text": EMPTY_TEXT}]
    return blocks


def _block(item: Shown, speech: Speech) -> JsonObject | None:
    match item:
        case ShownText():
            return _text(item, speech)
        case ShownAnswer():
            return _result(item)
        case ShownCall():
            return _call(item)
        case ShownDocument():
            return _document(item)
        case ImagePart():
            return _image(item)
        case ThinkingPart():
            return dict(item.raw) if item.is_signed and speech.role == "assistant" else None
        case OpaquePart():
            return _opaque(item, speech)


def _text(item: ShownText, speech: Speech) -> JsonObject:
    text = item.text.rstrip() if speech.role == "assistant" else item.text
    if not text.strip():
        return {"type": "text", "text": EMPTY_TEXT}
    part = item.part
    if _is_native(speech) and isinstance(part, TextPart) and part.raw is not None and part.raw.get("type") == "text":
        return {**part.raw, "text": text}
    return {"type": "text", "text": text}


def _is_native(speech: Speech) -> bool:
    return speech.message is None or speech.message.view.format == "anthropic"


def _result(item: ShownAnswer) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": fit_id(item.call_id)}
    part = item.part
    raw = part.raw if part is not None else None
    if raw is not None and item.text is None:
        block = {**raw, **block}
        if part is not None and not part.image_count:
            block["content"] = clean_text(part.text) or EMPTY_TEXT
        return block
    text = item.text if item.text is not None else clean_text(part.text) if part is not None else ""
    block["content"] = text or EMPTY_TEXT
    if part is None or part.is_error:
        block["is_error"] = True
    return block


def _call(item: ShownCall) -> JsonObject:
    try:
        value = parse_json(item.arguments)
    except InvalidInputError:
        value = None
    inputs: JsonValue = value if isinstance(value, dict) else {"arguments": item.arguments}
    block: JsonObject = {"type": "tool_use", "id": fit_id(item.part.id), "name": fit_name(item.part.name)}
    if "cache_control" in item.part.raw:
        block["cache_control"] = item.part.raw["cache_control"]
    return {**block, "input": inputs}


def _document(item: ShownDocument) -> JsonObject:
    raw = item.part.raw
    source = raw.get("source")
    if item.text is None or not isinstance(source, dict):
        return dict(raw)
    return {**raw, "source": {**source, "data": item.text}}


def _image(part: ImagePart) -> JsonObject:
    if part.raw.get("type") == "image":
        return dict(part.raw)
    if part.url is not None:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    if part.media_type not in _MEDIA_TYPES:
        return {"type": "text", "text": f"[an image of type {part.media_type}, not shown in this form]"}
    source: JsonObject = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def _opaque(item: OpaquePart, speech: Speech) -> JsonObject:
    if _is_native(speech):
        return dict(item.raw)
    return {"type": "text", "text": f"[content of type {clean_text(item.type)}]"}


def _place_breakpoints(system: list[JsonObject], turns: _Turns) -> None:
    """Mark the ends of the stable parts; of the client's own marks only the newest stay, so that there are four."""
    ends = [system[-1]] if system else []
    ends += [turns.last_block[place] for place in ("body", "tail") if place in turns.last_block]
    own = [block for block in ends if "cache_control" not in block]
    room = MAX_BREAKPOINTS - len(own)
    for block in turns.client_marks[: max(len(turns.client_marks) - room, 0)]:
        del block["cache_control"]
    for block in own:
        block["cache_control"] = {"type": "ephemeral"}


def anthropic_tool(tool: JsonValue) -> JsonValue:
    """A tool schema in Anthropic's form, whichever it was given in."""
    if not isinstance(tool, dict) or not isinstance(function := tool.get("function"), dict):
        return tool
    schema: JsonObject = {key: value for key, value in function.items() if key in {"name", "description"}}
    schema["input_schema"] = function.get("parameters", {"type": "object", "properties": {}})
    return schema
