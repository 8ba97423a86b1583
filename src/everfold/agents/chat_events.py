"""What happens while an agent answers, as `Chat` tells it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from everfold.core.sources.refreshing import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """The next piece of the answer, as the model said it: nothing of it is stored yet."""

    text: str
    kind: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of the user or the assistant is stored."""

    seq: int
    role: Literal["user", "assistant"]
    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A tool begins to work. `arguments` is JSON text as the model wrote it; `seq` is the message that calls."""

    seq: int
    call_id: str
    name: str
    arguments: str
    kind: Literal["tool_called"] = "tool_called"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered:
    """A tool's answer is stored as message `seq`."""

    seq: int
    call_id: str
    name: str
    text: str
    is_error: bool
    kind: Literal["tool_answered"] = "tool_answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A compaction is in force."""

    trigger: str
    first_seq: int
    last_seq: int
    folded_count: int
    tokens_before: int
    tokens_after: int
    kind: Literal["compacted"] = "compacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshing:
    """Context sources are being asked; after a gap the answer waits for them."""

    cause: Cause
    sources_count: int
    kind: Literal["refreshing"] = "refreshing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What context sources said is in the log, as message `seq`."""

    seq: int
    cause: Cause
    sources_count: int
    tokens: int
    kind: Literal["refreshed"] = "refreshed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """The model found the request too long; it is asked once more, with a smaller window."""

    reason: str
    kind: Literal["retried"] = "retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """An answer ended before its end.

    Attributes:
        seq: The message that holds what was said of it; None where nothing of it is stored.
        reason: Why.
        text: What was said of it.
        calls: The tools that were called and whose answers are missing.
        is_open: What was said last still waits for an answer; `Chat.answer` gives one.
    """

    reason: str
    seq: int | None = None
    text: str = ""
    calls: tuple[str, ...] = ()
    is_open: bool = False
    kind: Literal["stopped"] = "stopped"


ChatEvent: TypeAlias = (
    TextDelta | Said | ToolCalled | ToolAnswered | Compacted | Refreshing | Refreshed | Retried | Stopped
)
"""One thing that happened."""
