"""What a window is made of, and the part of a window that is rendered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from everfold.core.compaction.layout import ShownRange
from everfold.core.log.messages import Message
from everfold.core.log.prompts import Prompt

Slice = Literal["fixed", "head", "kept", "digest", "standing", "snapshot", "refresh", "running", "tail", "suffix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEntry:
    """One message of the log, shown in its visible form."""

    message: Message
    slice: Slice
    kind: Literal["message"] = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeEntry:
    """One range of the past: its kept messages and the digest of the rest, which is empty when nothing was folded.

    `asked` has the line that stands over a kept message, by its sequence number: what it answers.
    """

    shown: ShownRange
    kept: tuple[Message, ...]
    digest_text: str
    asked: Mapping[int, str] = field(default_factory=dict)
    kind: Literal["range"] = "range"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEntry:
    """A text of Everfold's own: the standing instructions, the snapshot of memory, or the dynamic suffix."""

    text: str
    slice: Slice
    kind: Literal["text"] = "text"


Entry: TypeAlias = MessageEntry | RangeEntry | TextEntry


class Renderable(Protocol):
    """What a provider's form is made of."""

    @property
    def prompt(self) -> Prompt:
        """System prompt and tools."""
        ...

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is shown, in order."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether the log has no message."""
        ...

    @property
    def fence_key(self) -> str:
        """Keys the marks around text from outside."""
        ...
