"""Messages as the core sees them: a typed view over the wire form that a client sent.

The wire form (a JSON object in the form of OpenAI's chat, its Responses API or Anthropic's messages) is what is stored and what is given back. The
view is made from it again whenever it is needed; nothing of the wire form is ever rebuilt from the view.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from everfold.core.primitives.json_values import JsonObject
from everfold.core.primitives.origins import Origin, Source
from everfold.core.statements.extracts import ExtractLine

WireFormat = Literal["openai", "anthropic", "responses"]
"""openai: of chat completions. responses: of OpenAI's Responses API."""
Role = Literal["system", "user", "assistant", "tool"]
"""`developer` reads as system; an Anthropic user message that holds a tool result reads as tool."""

Kind = Literal["fixed", "system", "user", "notice", "assistant", "result", "late", "retracted"]
"""What a message is in its session.

fixed: a leading system message, part of the system prompt. system: one in the middle. user: of user origin, starts a
turn. notice: in a user role but of another origin (tick, refresh, injection). assistant: with or without calls.
result: answers a call of the open step. late: a result whose step had been closed; shown as fenced data.
retracted: taken back; it has its number and can be read, and nothing else is made of it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Text, or a refusal."""

    text: str
    raw: JsonObject | None = None
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image by URL, or by base64 data with its media type."""

    url: str | None
    data: str | None
    media_type: str | None
    detail: str | None
    raw: JsonObject
    kind: Literal["image"] = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """A document. `text` is its text where the wire form carries one, else empty."""

    title: str
    text: str
    raw: JsonObject
    kind: Literal["document"] = "document"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPart:
    """A tool call. `arguments` is JSON text as given, or made from the object as given."""

    id: str
    name: str
    arguments: str
    raw: JsonObject
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPart:
    """What a tool gave back. `text` joins its text parts by line breaks; `image_count` counts its images."""

    call_id: str
    text: str
    is_error: bool
    image_count: int
    raw: JsonObject | None
    kind: Literal["result"] = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingPart:
    """Thinking of a model; valid only for the provider that signed it."""

    text: str
    is_signed: bool
    raw: JsonObject
    kind: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part of a type that Everfold does not know; it passes through to the provider it came from."""

    type: str
    raw: JsonObject
    kind: Literal["opaque"] = "opaque"


Part: TypeAlias = TextPart | ImagePart | DocumentPart | CallPart | ResultPart | ThinkingPart | OpaquePart


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """What one wire message says, part by part, in its order.

    Attributes:
        extras: Members of the message itself that are not read, and given back to the provider as they are.
    """

    format: WireFormat
    role: Role
    name: str | None
    parts: tuple[Part, ...]
    extras: JsonObject = field(default_factory=dict)

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """The tool calls, in their order; only an assistant makes any."""
        return () if self.role != "assistant" else tuple([part for part in self.parts if isinstance(part, CallPart)])

    @property
    def results(self) -> tuple[ResultPart, ...]:
        """The tool results, in their order; a message that holds one has the role `tool`."""
        return () if self.role != "tool" else tuple([part for part in self.parts if isinstance(part, ResultPart)])

    @property
    def text(self) -> str:
        """All that can be read in the message: texts, documents, calls and results, joined by line breaks.

        Thinking is left out: it is the model's own and is not evidence of anything.
        """
        if len(self.parts) == 1:
            return read_part(self.parts[0])
        return "\n".join([text for part in self.parts if (text := read_part(part))])

    def find_offset(self, part: int) -> int:
        """Where the text of a part, which is not empty, begins in `text`."""
        return sum(len(text) + 1 for before in self.parts[:part] if (text := read_part(before)))


_WITH_TEXT = (TextPart, DocumentPart, ResultPart)


def read_part(part: Part) -> str:
    """The readable text of a part; empty for images, thinking and unknown parts."""
    if isinstance(part, _WITH_TEXT):
        return part.text
    return f"{part.name} {part.arguments}" if isinstance(part, CallPart) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A stretch of one part that the visible form leaves out: `[start, end)` of its text, in code points.

    For a part that has no text (an image), start and end are 0 and the whole part is left out. For a call,
    `arguments` holds the valid JSON that stands in.
    """

    part: int
    start: int
    end: int
    arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of the log.

    Attributes:
        wire: The message exactly as the client sent it.
        tokens: The fixed estimate of the visible form; 0 for a fixed message, which the fixed part counts.
        raw_tokens: The fixed estimate of the whole message.
        cuts: What the visible form leaves out; empty when it is the whole message.
        is_boundary: A cut of the log directly after this message splits no block.
        content_hash: SHA-256 of the stored bytes, hex.
        keep: The message asked to be pinned with `[[keep]]`.
    """

    seq: int
    kind: Kind
    origin: Origin
    source: Source
    said_at: datetime
    wire: JsonObject
    view: MessageView
    tokens: int
    raw_tokens: int
    is_boundary: bool
    content_hash: str
    keep: bool = False
    cuts: tuple[Cut, ...] = ()
    lines: tuple[ExtractLine, ...] = ()

    @property
    def is_erased(self) -> bool:
        """Only a tombstone is left, or is shown: it has no parts and no hash."""
        return not self.content_hash

    @property
    def is_retracted(self) -> bool:
        """It was taken back: it is in no window, and is found by its number only."""
        return self.kind == "retracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What planning and digests need of a message, without its content. Field meanings as in `Message`.

    Attributes:
        sum_tokens: Visible tokens of the log up to this message.
        turn_seq: The user message of the turn that it belongs to; 0 before the first.
        turns_count: How many turns the log has up to this message.
        calls: The names of the tools that it calls.
    """

    seq: int
    kind: Kind
    origin: Origin
    name: str | None
    said_at: datetime
    tokens: int
    raw_tokens: int
    is_boundary: bool
    keep: bool
    content_hash: str
    sum_tokens: int
    turn_seq: int
    turns_count: int
    calls: tuple[str, ...] = ()
    lines: tuple[ExtractLine, ...] = field(default=())

    @property
    def is_erased(self) -> bool:
        """It was erased or retracted: it has no lines and no hash."""
        return not self.content_hash


ROLES: dict[Kind, Role] = {
    "fixed": "system",
    "system": "system",
    "user": "user",
    "notice": "user",
    "assistant": "assistant",
    "result": "tool",
    "late": "tool",
    "retracted": "user",
}
"""The role of each kind of message."""


def make_tombstone(note: Note) -> Message:
    """What is left of an erased message, made from its note: a place, a time and the sizes that sums were made of."""
    return Message(
        seq=note.seq,
        kind=note.kind,
        origin=note.origin,
        source="said",
        said_at=note.said_at,
        wire={},
        view=MessageView(format="openai", role=ROLES[note.kind], name=None, parts=()),
        tokens=note.tokens,
        raw_tokens=note.raw_tokens,
        is_boundary=note.is_boundary,
        content_hash="",
    )
