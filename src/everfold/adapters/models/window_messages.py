"""A window as the messages of Pydantic AI, made from the very request that the provider is known to take.

The window renders in the provider's own form, and each of its messages becomes the part that Pydantic AI sends as that:
what was decided about order, fences and ids is decided there and only carried over here. Marks for Anthropic's cache
become cache points and settings. What has no part there (a file by its id, sound) is named instead of sent. So is a file that some
model does not take, for it would end every later turn, and one at an address, which Pydantic AI would download.

Source: the message types of Pydantic AI 2; DESIGN section 3.6.
"""

from base64 import b64decode
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, TypeAlias, cast

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    DocumentUrl,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from everfold.core.log.files import PDF, find_file
from everfold.core.primitives.json_values import JsonObject, JsonValue, encode_json
from everfold.core.windows.rendering import Provider
from everfold.core.windows.window import Window

ANTHROPIC: Final = "anthropic"
"""How Pydantic AI names the provider whose form differs."""
_DATA: Final = "data:"
_SHOWN_TYPES: Final = frozenset({PDF, "image/png", "image/jpeg", "image/gif", "image/webp"})
"""The types of files that are sent as data; source: the image and PDF input that OpenAI and Anthropic document."""
_TEXT_TYPES: Final = frozenset({"application/json", "application/xml", "application/yaml", "application/x-yaml"})
"""Texts whose type does not begin with `text/`; source: what Pydantic AI 2 sends as text."""

Part: TypeAlias = ModelRequestPart | ModelResponsePart
_OF_REPLIES: Final = frozenset({TextPart, ThinkingPart, ToolCallPart})


def request_messages(window: Window, *, system: str) -> list[ModelMessage]:
    """The messages of a window's request, for a model of a system as Pydantic AI names it."""
    provider = find_provider(system)
    request = window.render(provider)
    return gather_messages(request, MessageReader(provider).read(request.get("messages")))


def find_provider(system: str) -> Provider:
    """The form that a system as Pydantic AI names it takes."""
    return "anthropic" if system == ANTHROPIC else "openai"


class MessageReader:
    """Reads the messages of requests in a provider's form, in their order; remembers what the called tools are named."""

    def __init__(self, provider: Provider) -> None:
        self._is_anthropic = provider == "anthropic"
        self._names: dict[str, str] = {}

    def read(self, messages: JsonValue) -> list[list[Part]]:
        """The parts that each of these messages becomes."""
        read = _read_anthropic if self._is_anthropic else _read_openai
        return [list(read(message, self._names)) for message in _objects(messages)]


def gather_messages(request: JsonObject, parts: Iterable[Sequence[Part]]) -> list[ModelMessage]:
    """The messages that the parts of a request's messages make, after its system prompt where that stands apart."""
    prompts: list[Part] = [SystemPromptPart(content=_read_text([block])) for block in _objects(request.get("system"))]
    return Gathered().gather([prompts, *parts] if prompts else [*parts])


class Gathered:
    """The messages of one request after another, where each begins with the same parts as the one before.

    Those that are the same are not made again; the last of them is, for it may have grown.
    """

    def __init__(self) -> None:
        self._parts: list[Sequence[Part]] = []
        self._made: list[ModelMessage] = []
        self._ends: list[int] = []

    def gather(self, parts: Sequence[Sequence[Part]]) -> list[ModelMessage]:
        """The messages that the parts of a request's messages make."""
        pairs = zip(self._parts, parts, strict=False)
        same = next((at for at, (old, new) in enumerate(pairs) if old is not new), min(len(self._parts), len(parts)))
        kept = bisect_left(self._ends, same)
        start = self._ends[kept - 1] if kept else 0
        del self._made[kept:], self._ends[kept:]
        for side in _find_sides(parts, start):
            self._made.append(_make([part for one in side for part in one]))
            start += len(side)
            self._ends.append(start)
        self._parts = [*parts]
        return [*self._made]


def _find_sides(parts: Sequence[Sequence[Part]], start: int) -> Iterator[list[Sequence[Part]]]:
    """Neighbours of one side; what has no parts goes with those before it."""
    side: list[Sequence[Part]] = []
    last: bool | None = None
    for one in islice(parts, start, None):
        of_reply = _is_of_reply(one[0]) if one else last
        if last is not None and of_reply != last:
            yield side
            side = []
        side.append(one)
        last = of_reply
    if side:
        yield side


def _is_of_reply(part: Part) -> bool:
    return type(part) in _OF_REPLIES


def _make(parts: Sequence[Part]) -> ModelMessage:
    if parts and _is_of_reply(parts[0]):
        return ModelResponse(parts=cast("list[ModelResponsePart]", parts))
    return ModelRequest(parts=cast("list[ModelRequestPart]", parts))


def _read_openai(message: JsonObject, names: dict[str, str]) -> Iterator[Part]:
    match message:
        case {"role": "user", "content": content}:
            yield UserPromptPart(content=_user_content(content))
        case {"role": "tool", "tool_call_id": str(call_id), "content": content}:
            name = names.get(call_id, "unnamed")
            yield ToolReturnPart(tool_name=name, content=_read_text(content), tool_call_id=call_id)
        case {"role": "assistant"}:
            yield from _openai_answer(message, names)
        case _:
            yield SystemPromptPart(content=_read_text(message.get("content")))


def _openai_answer(message: JsonObject, names: dict[str, str]) -> Iterator[ModelResponsePart]:
    if text := _read_text(message.get("content")):
        yield TextPart(content=text)
    for call in _objects(message.get("tool_calls")):
        match call:
            case {"id": str(call_id), "function": {"name": str(name), "arguments": str(arguments)}}:
                names[call_id] = name
                yield ToolCallPart(tool_name=name, args=arguments, tool_call_id=call_id)


def _read_anthropic(message: JsonObject, names: dict[str, str]) -> Iterator[Part]:
    for block in _objects(message.get("content")):
        if message.get("role") == "assistant":
            yield from _anthropic_answer(block, names)
        else:
            yield from _anthropic_prompt(block, names)


def _anthropic_answer(block: JsonObject, names: dict[str, str]) -> Iterator[ModelResponsePart]:
    match block:
        case {"type": "tool_use", "id": str(call_id), "name": str(name), "input": dict(arguments)}:
            names[call_id] = name
            yield ToolCallPart(tool_name=name, args=encode_json(arguments).decode(), tool_call_id=call_id)
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            yield ThinkingPart(content=text, signature=signature, provider_name=ANTHROPIC)
        case {"type": "redacted_thinking", "data": str(data)}:
            yield ThinkingPart(content="", id="redacted_thinking", signature=data, provider_name=ANTHROPIC)
        case _:
            if text := _read_text([block]):
                yield TextPart(content=text)


def _anthropic_prompt(block: JsonObject, names: dict[str, str]) -> Iterator[ModelRequestPart]:
    point: list[UserContent] = [CachePoint()] if "cache_control" in block else []
    match block:
        case {"type": "tool_result", "tool_use_id": str(call_id)}:
            yield ToolReturnPart(
                tool_name=names.get(call_id, "unnamed"),
                content=_read_result(block.get("content")),
                tool_call_id=call_id,
                outcome="failed" if block.get("is_error") else "success",
            )
            if point:
                yield UserPromptPart(content=point)
        case {"type": "image" | "document" as kind, "source": dict(source)}:
            yield UserPromptPart(content=[_read_source(kind, source), *point])
        case _:
            yield UserPromptPart(content=[_read_text([block]), *point])


def _read_result(content: JsonValue) -> str | list[UserContent]:
    """What an Anthropic result holds: its text, or its texts, images and documents."""
    given: list[UserContent] = []
    for block in [] if isinstance(content, str) else _objects(content):
        match block:
            case {"type": "image" | "document" as kind, "source": dict(source)}:
                given.append(_read_source(kind, source))
            case _:
                given.append(_read_text([block]))
    return _read_text(content) if all(isinstance(item, str) for item in given) else given


def _read_source(kind: str, source: JsonObject) -> UserContent:
    """An image or a document of an Anthropic message."""
    match source:
        case {"type": "url", "url": str(url)}:
            return ImageUrl(url=url) if kind == "image" else DocumentUrl(url=url, media_type="application/pdf")
        case {"type": "base64", "media_type": str(media_type), "data": str(data)}:
            with suppress(ValueError):
                return BinaryContent(data=b64decode(data), media_type=media_type)
            return f"[content of type {kind}]"
        case {"type": "text", "data": str(text)}:
            return BinaryContent(data=text.encode(), media_type="text/plain")
        case _:
            return f"[content of type {kind}]"


def _user_content(content: JsonValue) -> Sequence[UserContent]:
    if isinstance(content, str):
        return [content]
    given: list[UserContent] = []
    for part in _objects(content):
        match part:
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                given.append(_read_data("image", url) if url.startswith(_DATA) else ImageUrl(url=url))
            case {"type": "file", "file": {"file_data": str(url)}}:
                given.append(_read_file(part, url))
            case _:
                given.append(_read_text([part]))
    return given


def _read_file(part: JsonObject, url: str) -> UserContent:
    """A file by its data; one of a type that some model does not take, or at an address, is named."""
    content = _read_data("file", url) if url.startswith(_DATA) else None
    if isinstance(content, str) or (isinstance(content, BinaryContent) and _is_shown(content)):
        return content
    file = find_file(part)
    return file.marker if file else "[content of type file]"


def _is_shown(content: BinaryContent) -> bool:
    """Whether data is a PDF, an image, or a text in UTF-8."""
    kind = content.media_type.partition(";")[0]
    if not (kind.startswith("text/") or kind in _TEXT_TYPES):
        return kind in _SHOWN_TYPES
    try:
        content.data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read_data(kind: str, url: str) -> UserContent:
    """What an address of data holds; one that holds none is named."""
    head, _, data = url.partition(";base64,")
    with suppress(ValueError):
        if content := b64decode(data):
            return BinaryContent(data=content, media_type=head.removeprefix(_DATA))
    return f"[content of type {kind}]"


def _read_text(content: JsonValue) -> str:
    """The text of a content, whichever form it has; what has none is named."""
    if isinstance(content, str):
        return content
    texts = []
    for part in _objects(content):
        text = part.get("text")
        texts.append(text if isinstance(text, str) else f"[content of type {part.get('type')}]")
    return "\n".join(texts)


def _objects(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
