"""A window as an OpenAI chat request.

Source: the public API reference of chat completions: roles, content parts, tool_calls and their tool messages, the
patterns of names and ids.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import cast

from everfold.core.log.extras import read_part_extras
from everfold.core.log.files import File, find_file, read_attached
from everfold.core.log.messages import ImagePart, Message, OpaquePart
from everfold.core.primitives.json_values import JsonObject, JsonValue, clean_json, clean_text, encode_json, parse_json
from everfold.core.text.frames import EMPTY_TEXT
from everfold.core.windows.entries import Renderable
from everfold.core.windows.speech import (
    Shown,
    ShownAnswer,
    ShownCall,
    ShownDocument,
    ShownText,
    Speech,
    find_unread,
    keeps_extras,
    show_part,
    speak,
    texts_of,
    write_document,
)
from everfold.errors import InvalidInputError

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID_CHARS = 40
_IMAGE_URL = re.compile(r"https?://\S+|data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=]+")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_DETAILS = frozenset({"auto", "low", "high"})


def render_openai(window: Renderable, *, keeps_addresses: bool = False) -> JsonObject:
    """The window as a request: `messages`, and `tools` when the session has any. User content is always a part list.

    Args:
        window: What to render.
        keeps_addresses: Leave a file its address, which the API does not take, instead of naming the file.
    """
    messages: list[JsonValue] = []
    if window.prompt.system:
        messages.append({"role": "system", "content": clean_text(window.prompt.system)})
    for speech in speak(window):
        if speech.place == "suffix":
            _add_suffix(messages, speech)
        else:
            messages.extend(_render(speech, keeps_addresses=keeps_addresses))
    request: JsonObject = {"messages": messages}
    if window.prompt.tools:
        request["tools"] = [openai_tool(tool) for tool in window.prompt.tools]
    return request


def _render(speech: Speech, *, keeps_addresses: bool) -> Iterable[JsonValue]:
    keeps = keeps_extras(speech.message, "openai")
    match speech.role:
        case "system":
            role = speech.message.wire.get("role", "system") if speech.message else "system"
            message: JsonObject = {"role": role, "content": "\n".join(texts_of(speech.items)) or EMPTY_TEXT}
            yield _with_extras(message, speech.message) if keeps else message
        case "user":
            parts = [_user_part(item, keeps=keeps, keeps_addresses=keeps_addresses) for item in speech.items]
            message = {"role": "user", "content": cast("JsonValue", parts)}
            name = speech.message.view.name if speech.message else None
            if name and _NAME.fullmatch(name):
                message["name"] = name
            yield _with_extras(message, speech.message) if keeps else message
        case "assistant":
            said = _assistant(speech, keeps=keeps)
            yield _with_extras(said, speech.message) if keeps else said
        case "results":
            answers = [item for item in speech.items if isinstance(item, ShownAnswer)]
            yield from map(_result, answers)
            if attached := [it for one in answers for it in _list_attached(one, keeps_addresses=keeps_addresses)]:
                yield {"role": "user", "content": attached}


def _with_extras(shown: JsonObject, message: Message | None) -> JsonObject:
    """A message with the members that came with it and are not read; see `everfold.core.log.extras`."""
    return shown if message is None else {**shown, **_clean(message.view.extras)}


def _clean(extras: JsonObject) -> JsonObject:
    return cast("JsonObject", clean_json(extras)) if extras else extras


def _user_part(item: Shown, *, keeps: bool = False, keeps_addresses: bool = False) -> JsonObject:
    match item:
        case ShownText(part=None):
            return {"type": "text", "text": item.text}
        case ShownText(part=part):
            extras = read_part_extras(part, "openai") if keeps and part is not None else {}
            return {"type": "text", "text": item.text, **_clean(extras)}
        case ImagePart() if keeps:
            return {**_image(item), **_clean(read_part_extras(item, "openai"))}
        case ImagePart():
            return _image(item)
        case ShownDocument():
            file = find_unread(item)
            return {"type": "text", "text": write_document(item)} if file is None else _file(file)
        case OpaquePart() if _is_openai_part(item.raw) and (keeps_addresses or not _is_at_address(item.raw)):
            return {"type": item.type, item.type: clean_json(item.raw[item.type])}
        case OpaquePart() if (file := find_file(item.raw)) is not None:
            return _file(file)
        case OpaquePart():
            return {"type": "text", "text": f"[content of type {clean_text(item.type)}]"}
        case _:
            return {"type": "text", "text": EMPTY_TEXT}


def _file(file: File) -> JsonObject:
    if file.text is not None:
        return {"type": "text", "text": f"[{file.name}]\n{file.text}"}
    if file.data is not None:
        data = f"data:{file.media_type};base64,{file.data}"
        return {"type": "file", "file": {"filename": file.name, "file_data": data}}
    if file.file_id is not None:
        return {"type": "file", "file": {"file_id": file.file_id}}
    return {"type": "text", "text": file.marker}


def _list_attached(item: ShownAnswer, *, keeps_addresses: bool) -> list[JsonValue]:
    """The images and files of a result as content of the user: a message of a tool holds text alone."""
    attached = list_attached(item)
    if not attached:
        return []
    parts = [_user_part(part, keeps_addresses=keeps_addresses) for part in attached]
    return [{"type": "text", "text": f"[from the result of call {fit_id(item.call_id)}]"}, *parts]


def list_attached(item: ShownAnswer) -> list[Shown]:
    """The images and the files of an answer."""
    return [show_part(part) for part in read_attached(item.part)] if item.part is not None else []


def _is_openai_part(raw: JsonObject) -> bool:
    """Whether a part of a type that Everfold does not read is one that the provider takes."""
    match raw:
        case {"type": "file", "file": {"file_id": str(value)} | {"file_data": str(value)}}:
            return value != ""
        case {"type": "input_audio", "input_audio": {"data": str(value), "format": "wav" | "mp3"}}:
            return value != ""
        case _:
            return False


def _is_at_address(raw: JsonObject) -> bool:
    """Whether an address stands for the data of a file."""
    match raw:
        case {"type": "file", "file": {"file_data": str(data)}}:
            return _ADDRESS.match(data) is not None
        case _:
            return False


def show_image_url(part: ImagePart) -> str | None:
    """The address of an image, or its data as one; None where it is neither."""
    url = part.url if part.url is not None else f"data:{part.media_type};base64,{part.data or ''}"
    return clean_text(url) if _IMAGE_URL.fullmatch(url) else None


def _image(part: ImagePart) -> JsonObject:
    url = show_image_url(part)
    if url is None:
        return {"type": "text", "text": "[content of type image]"}
    image: JsonObject = {"url": url}
    if part.detail in _DETAILS:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def _assistant(speech: Speech, *, keeps: bool) -> JsonObject:
    match speech.items:
        case (ShownText(text=text),) if not keeps:  # as nearly every one, at a quarter of the cost
            return {"role": "assistant", "content": text}
    texts = [item.text for item in speech.items if isinstance(item, ShownText)]
    texts += [write_document(item) for item in speech.items if isinstance(item, ShownDocument)]
    texts += [f"[content of type {clean_text(i.type)}]" for i in speech.items if isinstance(i, OpaquePart)]
    calls: list[JsonValue] = [_call(item, keeps=keeps) for item in speech.items if isinstance(item, ShownCall)]
    return _say(texts, calls)


def _say(texts: list[str], calls: list[JsonValue]) -> JsonObject:
    message: JsonObject = {"role": "assistant"}
    if len(texts) > 1:
        message["content"] = [{"type": "text", "text": text} for text in texts]
    elif texts:
        message["content"] = texts[0]
    else:
        message["content"] = None if calls else EMPTY_TEXT
    if calls:
        message["tool_calls"] = calls
    return message


def _call(item: ShownCall, *, keeps: bool) -> JsonValue:
    extras = _clean(read_part_extras(item.part, "openai")) if keeps else {}
    function: JsonValue = {"name": fit_name(item.part.name), "arguments": fit_arguments(item.arguments)}
    return {"id": fit_id(item.part.id), "type": "function", "function": function, **extras}


def fit_arguments(text: str) -> str:
    """The arguments as they were made where they are JSON; else JSON that holds them."""
    try:
        parse_json(text)
    except InvalidInputError:
        return encode_json({"arguments": text}).decode()
    return text


def read_answer(item: ShownAnswer) -> str:
    """What a call was answered, as text."""
    text = item.text
    if text is None and item.part is not None:
        text = clean_text(item.part.text)
        if item.part.is_error:
            text = f"[error] {text}"
    return text or EMPTY_TEXT


def _result(item: ShownAnswer) -> JsonValue:
    text = read_answer(item)
    if list_attached(item):
        text = f"{text.removesuffix(EMPTY_TEXT)}\n[its images and files follow the results]".lstrip()
    message: JsonObject = {"role": "tool", "tool_call_id": fit_id(item.call_id), "content": text}
    return _with_extras(message, item.message) if keeps_extras(item.message, "openai") else message


def _add_suffix(messages: list[JsonValue], speech: Speech) -> None:
    parts: list[JsonValue] = [_user_part(item) for item in speech.items]
    last = messages[-1] if messages else None
    if isinstance(last, dict) and last.get("role") == "user" and isinstance(content := last.get("content"), list):
        content.extend(parts)
    else:
        messages.append({"role": "user", "content": parts})


def fit_id(call_id: str) -> str:
    """A call id as both providers take it: letters, digits, `_` and `-`, at most 40; any other becomes a hash."""
    if len(call_id) <= _ID_CHARS and _NAME.fullmatch(call_id):
        return call_id
    return "call_" + hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fit_name(name: str) -> str:
    """A tool name as both providers take it; characters that they refuse become `_`."""
    return name if _NAME.fullmatch(name) else (re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed")


def openai_tool(tool: JsonValue) -> JsonValue:
    """A tool schema in OpenAI's form, whichever it was given in."""
    tool = clean_json(tool)
    if not isinstance(tool, dict) or "input_schema" not in tool:
        return tool
    function: JsonObject = {key: value for key, value in tool.items() if key in {"name", "description"}}
    function["parameters"] = tool["input_schema"]
    return {"type": "function", "function": function}
