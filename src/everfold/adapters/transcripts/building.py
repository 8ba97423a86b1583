"""Build a conversation in OpenAI's chat form from a format that has another form, call ids made where it has none.

A message gets no member that OpenAI's form does not have: it would be sent to the provider with each request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from everfold.adapters.transcripts.openai import check_message
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import TranscriptMessage
from everfold.core.primitives.json_values import JsonValue, encode_json
from everfold.core.primitives.origins import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a message stands in its file, when it was said, and the file's own id of it."""

    line: int
    said_at: datetime | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a tool; `id` is None where the format has none."""

    name: str
    arguments: JsonValue
    id: str | None = None


@dataclass(slots=True, kw_only=True)
class ChatBuilder:
    """The messages so far, and the calls of the last assistant message that no result has answered."""

    messages: list[TranscriptMessage] = field(default_factory=list)
    _open: list[tuple[str, str]] = field(default_factory=list)
    _made_count: int = 0

    def say(self, role: str, content: JsonValue, place: Place, *, origin: Origin | None = None) -> None:
        """Add a message; one without content is left out."""
        if content:
            self._open = []
            self._add({"role": role, "content": content}, place, origin)

    def call(self, content: JsonValue, calls: Sequence[Call], place: Place) -> None:
        """Add an assistant message with calls of tools."""
        named = [(call.id or self._make_id(), call) for call in calls]
        self._open = [(call_id, call.name) for call_id, call in named]
        listed: list[JsonValue] = [
            {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": _as_text(call.arguments)}}
            for call_id, call in named
        ]
        self._add({"role": "assistant", "content": content or None, "tool_calls": listed}, place, None)

    def answer(self, content: JsonValue, place: Place, *, call_id: str | None = None, name: str | None = None) -> None:
        """Add the result of an open call: that of the id, else the first of the name, else the first at all.

        A result that answers no open call is kept as text from outside.
        """
        found = self._find_open(call_id, name)
        if found is None:
            self._add({"role": "user", "content": content or "(an empty result)"}, place, "external")
            return
        self._open.remove(found)
        self._add({"role": "tool", "tool_call_id": found[0], "content": content or ""}, place, None)

    def _find_open(self, call_id: str | None, name: str | None) -> tuple[str, str] | None:
        if call_id is not None:
            return next((one for one in self._open if one[0] == call_id), None)
        named = [one for one in self._open if name is None or one[1] == name]
        return next(iter(named), None)

    def _make_id(self) -> str:
        self._made_count += 1
        return f"call_{self._made_count}"

    def _add(self, wire: dict[str, JsonValue], place: Place, origin: Origin | None) -> None:
        self.messages.append(place_message(check_message(wire, place.line), "openai", place, origin=origin))


def place_message(
    wire: dict[str, JsonValue], wire_format: WireFormat, place: Place, *, origin: Origin | None = None
) -> TranscriptMessage:
    """A message at its place."""
    return TranscriptMessage(
        wire=wire,
        wire_format=wire_format,
        origin=origin,
        said_at=place.said_at,
        line=place.line,
        labels=(place.label,) if place.label else (),
    )


def _as_text(arguments: JsonValue) -> str:
    """The arguments of a call as JSON text; text that is not JSON becomes the member `input`."""
    if isinstance(arguments, str):
        return encode_json({"input": arguments}).decode("utf-8", "surrogatepass")
    return encode_json(arguments if isinstance(arguments, dict) else {"input": arguments}).decode(
        "utf-8", "surrogatepass"
    )


def text_of(value: JsonValue) -> str:
    """A value as text: text as it is, anything else as JSON; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else encode_json(value).decode("utf-8", "surrogatepass")
