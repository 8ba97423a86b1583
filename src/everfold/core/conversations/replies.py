"""Replies of providers, plain and streamed, as the message that is stored of them.

A stream is read while it passes: what was said so far is known at every moment, so that an answer that breaks off is stored
as far as it came. Nothing of what passes is changed.

Source: the API references of OpenAI (chat completions and Responses, their streamed events) and Anthropic (messages,
streaming).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import (
    JsonObject,
    JsonValue,
    encode_json,
    list_objects,
    parse_json,
    read_object,
)
from everfold.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said.

    Attributes:
        wire: The message, in the form that it came in; None where it said nothing that can be stored.
        counted_tokens: What the provider counted for the request, cached tokens included; 0 where it did not.
        text: Its text, for an answer that broke off.
        is_whole: It came to its end.
        envelope: What the response says beside the message: id, model, ending, usage, under the provider's names.
    """

    wire: JsonObject | None = None
    counted_tokens: int = 0
    text: str = ""
    is_whole: bool = True
    envelope: JsonObject = field(default_factory=dict)


def read_reply(form: WireFormat, body: JsonValue) -> Reply:
    """What a plain answer says. Of several choices nothing is taken: the client's next request tells which one it is."""
    if not isinstance(body, dict):
        return Reply()
    match form:
        case "openai":
            choices = list_objects(body.get("choices"))
            choice = choices[0] if len(choices) == 1 else {}
            message = read_object(choice.get("message"))
            wire = {"role": "assistant", **message} if message else None
            body = {**body, "finish_reason": choice.get("finish_reason")}
        case "anthropic":
            content = list_objects(body.get("content"))
            wire = {"role": "assistant", "content": cast("list[JsonValue]", content)} if content else None
        case "responses":
            output = list_objects(body.get("output"))
            wire = {"object": "response", "output": cast("list[JsonValue]", output)} if output else None
    return Reply(wire=wire, counted_tokens=count_tokens(body.get("usage")), envelope=read_envelope(form, body))


_ENVELOPES: Final[Mapping[WireFormat, tuple[str, ...]]] = {
    "openai": ("id", "created", "model", "service_tier", "system_fingerprint", "finish_reason", "usage"),
    "responses": ("id", "created_at", "model", "status", "error", "incomplete_details", "service_tier", "usage"),
    "anthropic": ("id", "model", "stop_reason", "stop_sequence", "usage"),
}
"""What is kept of a response beside its message. All else repeats the request, or may be large."""


def read_envelope(form: WireFormat, body: JsonObject) -> JsonObject:
    """What a response, or an event of one, says beside the message."""
    return {name: body[name] for name in _ENVELOPES[form] if body.get(name) is not None}


def count_tokens(usage: JsonValue) -> int:
    """What a provider counted for a request, cached tokens included."""
    found = read_object(usage)
    names = ("prompt_tokens",) if "prompt_tokens" in found else _INPUT_TOKENS
    return sum([value for name in names if isinstance(value := found.get(name), int)])


_INPUT_TOKENS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class StreamedReply:
    """Reads a stream of events as its bytes come."""

    def __init__(self, form: WireFormat) -> None:
        self._rest = b""
        self._reader: _ChatReader | _ResponsesReader | _AnthropicReader = _READERS[form]()

    def feed(self, data: bytes) -> None:
        """Read what has come."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._take(line[5:].strip())

    def _take(self, data: bytes) -> None:
        if not data.startswith(b"{"):
            return
        try:
            event = parse_json(data.decode("utf-8", "replace"))
        except InvalidInputError:
            return
        if isinstance(event, dict):
            self._reader.take(event)

    def read(self) -> Reply:
        """What was said so far."""
        self.feed(b"\n")
        return self._reader.read()


class _ChatReader:
    """Chunks of a chat completion."""

    def __init__(self) -> None:
        self._message: dict[str, JsonValue] = {}
        self._calls: dict[int, JsonObject] = {}
        self._counted_tokens = 0
        self._choices_count = 0
        self._envelope: JsonObject = {}

    def take(self, event: JsonObject) -> None:
        self._counted_tokens = count_tokens(event.get("usage")) or self._counted_tokens
        self._envelope.update(read_envelope("openai", event))
        for choice in list_objects(event.get("choices")):
            index = choice.get("index", 0)
            self._choices_count = max(self._choices_count, index + 1 if isinstance(index, int) else 1)
            if index == 0:
                self._grow(read_object(choice.get("delta")))
                self._envelope.update(read_envelope("openai", {"finish_reason": choice.get("finish_reason")}))

    def _grow(self, delta: JsonObject) -> None:
        for name, value in delta.items():
            if name == "tool_calls":
                for call in list_objects(value):
                    self._grow_call(call)
            elif name != "role":
                _join(self._message, name, value)

    def _grow_call(self, delta: JsonObject) -> None:
        index = delta.get("index", len(self._calls))
        call = self._calls.setdefault(index if isinstance(index, int) else 0, {})
        for name, value in delta.items():
            if name == "index":
                continue
            if isinstance(value, dict):
                inner = call.setdefault(name, {})
                for key, piece in value.items():
                    if isinstance(inner, dict):
                        _join(inner, key, piece)
            elif value is not None:
                call[name] = value

    def read(self) -> Reply:
        text = self._message.get("content")
        message: JsonObject = {"role": "assistant", "content": None, **self._message}
        if self._calls:
            message["tool_calls"] = [{"type": "function", **self._calls[index]} for index in sorted(self._calls)]
        is_said = bool(self._calls or any(value not in (None, "", []) for value in self._message.values()))
        return Reply(
            wire=message if is_said and self._choices_count == 1 else None,
            counted_tokens=self._counted_tokens,
            text=text if isinstance(text, str) else "",
            is_whole="finish_reason" in self._envelope,
            envelope=self._envelope,
        )


def _join(target: dict[str, JsonValue], name: str, value: JsonValue) -> None:
    """Add a piece to a member: texts, lists and objects grow, an id and anything else is replaced."""
    before = target.get(name)
    if isinstance(before, str) and isinstance(value, str) and name != "id":
        target[name] = before + value
    elif isinstance(before, dict) and isinstance(value, dict):
        grown = target[name] = dict(before)
        for inner, piece in value.items():
            _join(grown, inner, piece)
    elif isinstance(before, list) and isinstance(value, list):
        target[name] = [*before, *value]
    elif value is not None or name not in target:
        target[name] = value


class _ResponsesReader:
    """Events of a response."""

    def __init__(self) -> None:
        self._final: JsonObject | None = None
        self._text: list[str] = []
        self._items: list[JsonValue] = []

    def take(self, event: JsonObject) -> None:
        match event.get("type"):
            case "response.output_text.delta":
                self._text.append(str(event.get("delta", "")))
            case "response.output_item.done":
                self._items.append(event.get("item"))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._final = read_object(event.get("response"))

    def read(self) -> Reply:
        text = "".join(self._text)
        if self._final is None:
            return Reply(text=text, is_whole=False)
        output = self._final.get("output") or self._items
        whole = read_reply("responses", {**self._final, "output": output})
        return replace(whole, text=text)


class _AnthropicReader:
    """Events of a message."""

    def __init__(self) -> None:
        self._blocks: dict[int, JsonObject] = {}
        self._pieces: dict[int, list[str]] = {}
        self._usage: dict[str, JsonValue] = {}
        self._envelope: JsonObject = {}
        self._is_whole = False

    def take(self, event: JsonObject) -> None:
        index = event.get("index")
        match event.get("type"):
            case "message_start":
                message = read_object(event.get("message"))
                self._envelope.update(read_envelope("anthropic", message))
                self._usage.update(read_object(message.get("usage")))
            case "message_delta":
                self._envelope.update(read_envelope("anthropic", read_object(event.get("delta"))))
                usage = read_object(event.get("usage"))
                self._usage.update({name: value for name, value in usage.items() if value is not None})
            case "message_stop":
                self._is_whole = True
            case "content_block_start" if isinstance(index, int):
                self._blocks[index] = dict(read_object(event.get("content_block")))
            case "content_block_delta" if isinstance(index, int):
                self._grow(index, read_object(event.get("delta")))

    def _grow(self, index: int, delta: JsonObject) -> None:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        if delta.get("type") == "input_json_delta":
            self._pieces.setdefault(index, []).append(str(delta.get("partial_json", "")))
        elif delta.get("type") == "citations_delta":
            _join(block, "citations", [delta.get("citation")])
        else:
            for name, value in delta.items():
                if name != "type":
                    _join(block, name, value)

    def read(self) -> Reply:
        content = list(self._list_blocks())
        texts = [str(block.get("text", "")) for block in content if block.get("type") == "text"]
        wire: JsonObject = {"role": "assistant", "content": cast("list[JsonValue]", content)}
        return Reply(
            wire=wire if content else None,
            counted_tokens=count_tokens(self._usage),
            text="\n".join(texts),
            is_whole=self._is_whole,
            envelope={**self._envelope, "usage": self._usage},
        )

    def _list_blocks(self) -> Iterator[JsonObject]:
        for index in sorted(self._blocks):
            block = self._blocks[index]
            yield {**block, "input": _read_input(self._pieces[index])} if index in self._pieces else block


def _read_input(pieces: list[str]) -> JsonValue:
    text = "".join(pieces)
    try:
        value = parse_json(text or "{}")
    except InvalidInputError:
        return {"arguments": text}
    return value if isinstance(value, dict) else {"arguments": text}


_READERS: Final[Mapping[WireFormat, type[_ChatReader] | type[_ResponsesReader] | type[_AnthropicReader]]] = {
    "openai": _ChatReader,
    "responses": _ResponsesReader,
    "anthropic": _AnthropicReader,
}


def encode_body(body: JsonObject) -> bytes:
    """A body as JSON in UTF-8; a lone surrogate, which UTF-8 does not have, is written as its escape and so reads back equal.

    Source: RFC 8259, section 8.2 (unpaired surrogates are written as escapes).
    """
    return encode_json(body, at="body").decode("utf-8", "surrogatepass").encode("utf-8", "backslashreplace")
