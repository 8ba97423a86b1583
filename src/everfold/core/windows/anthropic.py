"""A window as an Anthropic messages request.

Roles alternate, so neighbouring speeches of one role share a message; results come before text; system messages in
the middle become marked user text at their place; thinking stays where its signature is valid; calls that the provider
ran are shown with their results. Cache breakpoints stand
at the end of the system prompt, of the body and of the tail; with the client's own they are at most four.

Source: the public API reference of the messages API: content blocks, tool use, extended thinking, prompt caching.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, cast

from everfold.core.log.extras import read_part_extras
from everfold.core.log.files import PDF, File, find_file, looks_base64, read_attached
from everfold.core.log.messages import DocumentPart, ImagePart, OpaquePart, Part, TextPart, ThinkingPart
from everfold.core.log.wire import SERVER_BLOCKS
from everfold.core.primitives.json_values import JsonObject, JsonValue, clean_json, clean_text, parse_json
from everfold.core.text.frames import BETWEEN_TEXT, EMPTY_TEXT, system_note
from everfold.core.windows.entries import Renderable
from everfold.core.windows.openai import fit_id, fit_name
from everfold.core.windows.server_calls import RESULT, follow_calls, list_server_parts, name_unpaired
from everfold.core.windows.speech import (
    Place,
    Shown,
    ShownAnswer,
    ShownCall,
    ShownDocument,
    ShownText,
    Speech,
    keeps_extras,
    speak,
    texts_of,
    write_document,
)
from everfold.errors import InvalidInputError

MAX_BREAKPOINTS = 4
"""Source: Anthropic's documented limit of cache breakpoints in one request."""

_MEDIA_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_MARKABLE: Final = frozenset({"text", "image", "document", "tool_use", "tool_result"})
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})

_USER_OPAQUE: Final = frozenset({"search_result", "container_upload"})
"""Blocks that pass through as they came; any other type would make the provider refuse the whole request."""


def render_anthropic(window: Renderable) -> JsonObject:
    """The window as a request: `messages`, and `system` and `tools` when the session has any."""
    system: list[JsonObject] = []
    if window.prompt.system and window.prompt.system.strip():
        system.append({"type": "text", "text": clean_text(window.prompt.system)})
    turns = _Turns()
    for speech in name_unpaired(speak(window)):
        if speech.place == "system":
            system += [{"type": "text", "text": text} for text in texts_of(speech.items) if text.strip()]
        else:
            turns.add(speech)
    tools = [anthropic_tool(tool) for tool in window.prompt.tools]
    _place_breakpoints(tools, system, turns)
    request: JsonObject = {}
    if system:
        request["system"] = cast("list[JsonValue]", system)
    request["messages"] = cast("list[JsonValue]", turns.messages)
    if tools:
        request["tools"] = tools
    return request


class _Turns:
    """Alternating messages, the last block of each place for the breakpoints, and the call ids that are taken."""

    def __init__(self) -> None:
        self.messages: list[dict[str, JsonValue]] = []
        self.last_block: dict[Place, JsonObject] = {}
        self.client_marks: list[JsonObject] = []
        self.taken_ids: set[str] = set()
        self.step_ids: dict[str, str] = {}
        self.waiting: dict[str, OpaquePart] = {}

    def add(self, speech: Speech) -> None:
        role = "assistant" if speech.role == "assistant" else "user"
        if role == "assistant":
            self._name_calls(speech)
        blocks = _blocks(speech, self.step_ids)
        if not blocks:
            return
        content = self._content_for(role, blocks)
        content.extend(blocks)
        for part in list_server_parts(speech):
            follow_calls(self.waiting, part)
        self.client_marks += [block for block in blocks if "cache_control" in block]
        if blocks[-1].get("type") in _MARKABLE:
            self.last_block[speech.place] = blocks[-1]

    def _name_calls(self, speech: Speech) -> None:
        """Give each call of a step an id that no other call of the request has: its own, unless that is taken.

        Source: the endpoint's refusal "`tool_use` ids must be unique"; real logs use the same id again and again.
        """
        seq = speech.message.seq if speech.message else 0
        self.step_ids = {}
        for item in speech.items:
            if isinstance(item, ShownCall):
                call_id = fit_id(item.part.id)
                if call_id in self.taken_ids:
                    text = f"{seq}/{item.part.id}".encode("utf-8", "surrogatepass")
                    call_id = f"call_{hashlib.sha256(text).hexdigest()[:32]}"
                self.taken_ids.add(call_id)
                self.step_ids[item.part.id] = call_id

    def _content_for(self, role: str, blocks: list[JsonObject]) -> list[JsonValue]:
        last = self.messages[-1] if self.messages else None
        if last is not None and last["role"] == role:
            if role == "user" or self.waiting or not any(block.get("type") in _THINKING for block in blocks):
                return cast("list[JsonValue]", last["content"])
            self.messages.append({"role": "user", "content": [{"type": "text", "text": BETWEEN_TEXT}]})
        content: list[JsonValue] = []
        self.messages.append({"role": role, "content": content})
        return content


def _blocks(speech: Speech, call_ids: dict[str, str]) -> list[JsonObject]:
    if speech.role == "system":
        seq = speech.message.seq if speech.message else 0
        return [{"type": "text", "text": system_note(seq, "\n".join(texts_of(speech.items)))}]
    blocks = [block for item in speech.items if (block := _block(item, speech, call_ids)) is not None]
    if speech.role != "results" and keeps_extras(speech.message, "anthropic") and len(blocks) == len(speech.items):
        blocks = [_with_extras(block, item) for block, item in zip(blocks, speech.items, strict=True)]
    if speech.role == "assistant" and all(block["type"] in _THINKING for block in blocks):
        blocks.append({"type": "text", "text": EMPTY_TEXT})
    return blocks


def _block(item: Shown, speech: Speech, call_ids: dict[str, str]) -> JsonObject | None:
    match item:
        case ShownText():
            return _text(item, speech)
        case ShownAnswer():
            return _result(item, call_ids)
        case ShownCall():
            return _call(item, call_ids)
        case ShownDocument() if speech.role == "assistant" or not _is_document(item.part):
            return {"type": "text", "text": write_document(item).rstrip()}
        case ShownDocument():
            return _document(item.part.raw, text=item.text)
        case ImagePart():
            return _image(item)
        case ThinkingPart():
            return _thinking(item) if item.is_signed and speech.role == "assistant" else None
        case OpaquePart():
            return _opaque(item, speech)


def _with_extras(block: JsonObject, item: Shown) -> JsonObject:
    """A block with the members that came with it and are not read; see `everfold.core.log.extras`."""
    part = item.part if isinstance(item, ShownText | ShownCall | ShownAnswer | ShownDocument) else item
    if part is None or not (extras := read_part_extras(part, "anthropic")):
        return block
    return {**block, **cast("JsonObject", clean_json(extras))}


def _text(item: ShownText, speech: Speech) -> JsonObject:
    text = item.text.rstrip() if speech.role == "assistant" else item.text
    if not text.strip():
        return {"type": "text", "text": EMPTY_TEXT}
    block: JsonObject = {"type": "text", "text": text}
    part = item.part
    if _is_native(speech) and isinstance(part, TextPart) and part.raw is not None:
        return _with_keys(block, part.raw, "citations")
    return block


def _with_keys(block: JsonObject, raw: JsonObject, *keys: str) -> JsonObject:
    """The block with those members of the raw one that the provider knows, and its cache mark where that is one."""
    for key in keys:
        if raw.get(key) is not None:
            block[key] = clean_json(raw[key])
    mark = raw.get("cache_control")
    if isinstance(mark, dict) and mark.get("type") == "ephemeral":
        ttl: JsonObject = {"ttl": mark["ttl"]} if mark.get("ttl") in ("5m", "1h") else {}
        block["cache_control"] = {"type": "ephemeral", **ttl}
    return block


def _is_native(speech: Speech) -> bool:
    return speech.message is None or speech.message.view.format == "anthropic"


def _thinking(part: ThinkingPart) -> JsonObject | None:
    """Thinking as it was signed; None where it could only be sent changed, which its signature forbids."""
    keys = ("type", "thinking", "signature") if part.raw.get("type") == "thinking" else ("type", "data")
    block: JsonObject = {key: part.raw[key] for key in keys if key in part.raw}
    is_whole = len(block) == len(keys) and all(isinstance(value, str) and value for value in list(block.values())[2:])
    return block if is_whole and clean_json(block) == block else None


def _result(item: ShownAnswer, call_ids: dict[str, str]) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": call_ids.get(item.call_id, fit_id(item.call_id))}
    part = item.part
    text = item.text if item.text is not None else clean_text(part.text) if part is not None else ""
    block["content"] = text or EMPTY_TEXT
    raw = part.raw if part is not None and part.raw is not None and part.raw.get("type") == "tool_result" else None
    if raw is not None:
        block = _with_keys(block, raw)
    if part is not None and (attached := read_attached(part)):
        texts: list[JsonValue] = [{"type": "text", "text": text}] if text else []
        own = [*_inner_blocks(raw.get("content"))] if raw is not None and item.text is None else None
        block["content"] = own or [*texts, *map(_attached, attached)]
    if part is None or part.is_error:
        block["is_error"] = True
    return _with_extras(block, item) if keeps_extras(item.message, "anthropic") else block


def _attached(part: Part) -> JsonObject:
    """An image or a file of a result."""
    match part:
        case ImagePart():
            block = _image(part)
        case DocumentPart() if _is_document(part):
            block = _document(part.raw, text=None)
        case DocumentPart() | OpaquePart() if (file := find_file(part.raw)) is not None:
            block = _file(file)
        case _:
            block = _placeholder(part.kind)
    block.pop("cache_control", None)
    return block


def _inner_blocks(content: JsonValue) -> Iterator[JsonValue]:
    """The blocks of a result that holds images too, as the provider takes them inside a result."""
    for raw in content if isinstance(content, list) else []:
        if not isinstance(raw, dict):
            continue
        match raw:
            case {"type": "text", "text": str(text)}:
                yield {"type": "text", "text": clean_text(text) if text.strip() else EMPTY_TEXT}
            case {"type": "image"}:
                yield _native_image(raw) or _placeholder("image")
            case {"type": "document"}:
                block = _document(raw, text=None)
                block.pop("cache_control", None)
                yield block
            case {"type": str(kind)}:
                yield _placeholder(kind)


def _placeholder(kind: str) -> JsonObject:
    return {"type": "text", "text": f"[content of type {clean_text(kind)}]"}


def _call(item: ShownCall, call_ids: dict[str, str]) -> JsonObject:
    try:
        value = clean_json(parse_json(item.arguments))
    except InvalidInputError:
        value = None
    inputs: JsonValue = value if isinstance(value, dict) else {"arguments": item.arguments}
    block: JsonObject = {"type": "tool_use", "id": call_ids[item.part.id], "name": fit_name(item.part.name)}
    return {**_with_keys(block, item.part.raw), "input": inputs}


def _is_document(part: DocumentPart) -> bool:
    return part.raw.get("type") == "document"


def _document(raw: JsonObject, *, text: str | None) -> JsonObject:
    block: JsonObject = {"type": "document"}
    match raw.get("source"):
        case {"type": "text", "data": str(data)}:
            shown = clean_text(data) if text is None else text
            block["source"] = {"type": "text", "media_type": "text/plain", "data": shown or EMPTY_TEXT}
        case {"type": "base64", "media_type": "application/pdf" as media_type, "data": str(data)} if looks_base64(data):
            block["source"] = {"type": "base64", "media_type": media_type, "data": data}
        case {"type": "url", "url": str(url)} if url.startswith(("https://", "http://")):
            block["source"] = {"type": "url", "url": clean_text(url)}
        case {"type": "file", "file_id": str(file_id)} if file_id:
            block["source"] = {"type": "file", "file_id": clean_text(file_id)}
        case {"type": "content", "content": (str() | list()) as content}:
            inner = clean_text(content) if isinstance(content, str) else list(_inner_blocks(content))
            block["source"] = {"type": "content", "content": inner}
        case _:
            return _with_keys(_placeholder("document"), raw)
    return _with_keys(block, raw, "title", "context", "citations")


def _image(part: ImagePart) -> JsonObject:
    if part.raw.get("type") == "image":
        block = _native_image(part.raw)
        return _with_keys(_placeholder("image") if block is None else block, part.raw)
    source: JsonObject = {"type": "url", "url": part.url}
    if part.url is None:
        source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return _native_image({"source": source}) or _placeholder(f"image {part.media_type or ''}".rstrip())


def _native_image(raw: JsonObject) -> JsonObject | None:
    """An image block of what the provider knows, or None where it would refuse the image."""
    match raw.get("source"):
        case {"type": "base64", "media_type": str(media_type), "data": str(data)} if (
            media_type in _MEDIA_TYPES and looks_base64(data)
        ):
            return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
        case {"type": "url", "url": str(url)} if url.startswith(("https://", "http://")):
            return {"type": "image", "source": {"type": "url", "url": clean_text(url)}}
        case {"type": "file", "file_id": str(file_id)} if file_id:
            return {"type": "image", "source": {"type": "file", "file_id": clean_text(file_id)}}
        case _:
            return None


def _opaque(item: OpaquePart, speech: Speech) -> JsonObject:
    is_known = item.type in _USER_OPAQUE
    if speech.role == "assistant":
        is_known = item.type in SERVER_BLOCKS or item.type.endswith(RESULT)
    if _is_native(speech) and is_known:
        return cast("JsonObject", clean_json(item.raw))
    file = find_file(item.raw) if speech.role == "user" else None
    return _placeholder(item.type) if file is None else _file(file)


def _file(file: File) -> JsonObject:
    if file.text is not None:
        return {"type": "text", "text": f"[{file.name}]\n{file.text}"}
    title: JsonObject = {"title": file.title} if file.title else {}
    if file.data is not None and file.media_type == PDF:
        return {"type": "document", "source": {"type": "base64", "media_type": PDF, "data": file.data}, **title}
    if file.url is not None:
        return {"type": "document", "source": {"type": "url", "url": file.url}, **title}
    return {"type": "text", "text": file.marker}


def _place_breakpoints(tools: Sequence[JsonValue], system: list[JsonObject], turns: _Turns) -> None:
    """Mark the ends of the stable parts; of the client's own marks only the newest stay, so that there are four."""
    ends = [system[-1]] if system else []
    ends += [turns.last_block[place] for place in ("body", "tail") if place in turns.last_block]
    own = [block for block in ends if "cache_control" not in block]
    marked = [tool for tool in tools if isinstance(tool, dict) and "cache_control" in tool]
    own = own[max(len(own) + len(marked) - MAX_BREAKPOINTS, 0) :]
    budget = MAX_BREAKPOINTS - len(own) - len(marked)
    for block in turns.client_marks[: max(len(turns.client_marks) - budget, 0)]:
        del block["cache_control"]
    for block in own:
        block["cache_control"] = {"type": "ephemeral"}
    _order_lifetimes([*marked, *system, *(block for message in turns.messages for block in _blocks_of(message))])


def _blocks_of(message: dict[str, JsonValue]) -> list[JsonObject]:
    return cast("list[JsonObject]", message["content"])


def _order_lifetimes(blocks: Sequence[JsonObject]) -> None:
    """Marks before a client's mark of an hour get an hour too: the provider refuses a longer one after a shorter."""
    marks = [mark for block in blocks if isinstance(mark := block.get("cache_control"), dict)]
    last = max((index for index, mark in enumerate(marks) if mark.get("ttl") == "1h"), default=0)
    for mark in marks[:last]:
        mark["ttl"] = "1h"


def anthropic_tool(tool: JsonValue) -> JsonValue:
    """A tool schema in Anthropic's form, whichever it was given in."""
    tool = clean_json(tool)
    if not isinstance(tool, dict) or not isinstance(function := tool.get("function"), dict):
        return tool
    schema: JsonObject = {key: value for key, value in function.items() if key in {"name", "description"}}
    schema["input_schema"] = function.get("parameters", {"type": "object", "properties": {}})
    return schema
