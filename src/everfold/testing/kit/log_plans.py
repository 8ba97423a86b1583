"""Plans of what happens in a conversation: who speaks, which calls are made and answered, late or never.

Plans are plain values: the strategies draw them, `log_wire` spells them in a provider's format, and `log_traits`
names what makes the log hard.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import Repr
from typing import Final, Literal, TypeAlias

Wire: TypeAlias = dict[str, object]
LogKind: TypeAlias = Literal["openai", "anthropic"]
Trait: TypeAlias = Literal[
    "abandoned_call",
    "assistant_first",
    "cache_control",
    "consecutive_roles",
    "developer_role",
    "document",
    "empty_message",
    "huge_paste",
    "image",
    "keep_marker",
    "late_result",
    "lone_surrogate",
    "mid_log_system",
    "mixed_results_and_text",
    "name",
    "null_content",
    "odd_call_id",
    "open_step",
    "parallel_calls",
    "part_list",
    "refusal",
    "results_out_of_order",
    "reused_call_id",
    "standing_statement",
    "thinking",
    "tool_calls",
    "unknown_field",
    "unknown_part",
]
Speaker: TypeAlias = Literal["user", "assistant", "system", "developer"]
PartKind: TypeAlias = Literal["text", "image_url", "image_data", "document", "unknown"]
Fate: TypeAlias = Literal["answered", "abandoned", "partly", "late", "open"]
IdStyle: TypeAlias = Literal["fresh", "reused", "odd"]

HUGE_PASTE_CHARS: Final = 8_000
STANDING_STATEMENTS: Final = (
    "Remember: the deposit is paid from the joint account.",
    "Never book anything before nine in the morning.",
    "I prefer the window seat, always.",
    "From now on write every amount in euros.",
    "We decided to keep the old kitchen after all.",
    "Correction: the meeting is on 14 May, not on 12 May.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkPlan:
    """One message that is no part of a step.

    Attributes:
        speaker: Its role; Anthropic logs hold user and assistant only, others become the user's words there.
        parts: Its content as kind and text; a single text part may be sent as a plain string.
        as_string: Whether a single text part is a plain string.
        name: The participant's name, or None; OpenAI only.
        has_unknown_field: Whether the message carries a member that no reference knows.
        has_cache_control: Whether its last text block carries a cache mark; Anthropic only.
        outcome: Whether an assistant's message is a refusal, or has null content; OpenAI only.
    """

    speaker: Speaker
    parts: tuple[tuple[PartKind, str], ...]
    as_string: bool = True
    name: str | None = None
    has_unknown_field: bool = False
    has_cache_control: bool = False
    outcome: Literal["content", "refusal", "null"] = "content"
    kind: Literal["talk"] = "talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """One call with its result; `arguments` is a JSON object and its JSON text."""

    tool: str
    arguments: Mapping[str, object]
    arguments_text: str
    result: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """One assistant message with its calls, and what became of them.

    Attributes:
        text: What the assistant says beside the calls, or None.
        calls: At least one.
        order: The order in which results arrive, a permutation of the indexes of `calls`.
        fate: "abandoned": a user message comes instead of results. "partly": after the first result. "late": the
            results come after that user message. "open": nothing follows, so it must be the last plan of a log.
        id_style: "reused" takes the same ids in every such step; "odd" takes characters that Anthropic refuses.
        thinking: What precedes the calls; Anthropic only.
        trailing_text: What the user says in the very message of the results; Anthropic only.
    """

    text: str | None
    calls: tuple[CallPlan, ...]
    order: tuple[int, ...]
    fate: Fate = "answered"
    id_style: IdStyle = "fresh"
    thinking: Literal["none", "signed", "redacted"] = "none"
    trailing_text: str | None = None
    kind: Literal["step"] = "step"


Plan: TypeAlias = TalkPlan | StepPlan


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GeneratedLog:
    """A log in wire form.

    Attributes:
        kind: The provider whose client would have logged it.
        messages: The wire messages, oldest first.
        traits: What is in it; see `is_tidy` for those that a provider would refuse.
    """

    kind: LogKind
    messages: list[Wire]
    traits: frozenset[Trait]

    @property
    def is_tidy(self) -> bool:
        """Whether none of its traits makes the log, sent as it is, a request that the provider refuses."""
        return not self.traits & UNTIDY_TRAITS[self.kind]

    def __repr__(self) -> str:
        """Show every message with its long texts elided, so that a failing example with pastes stays readable."""
        shown = _REPR.repr(self.messages)
        return f"GeneratedLog(kind={self.kind!r}, traits={sorted(self.traits)}, messages={shown})"


_ALWAYS_UNTIDY: Final[frozenset[Trait]] = frozenset(
    {"abandoned_call", "late_result", "lone_surrogate", "null_content", "open_step", "unknown_field", "unknown_part"}
)
_ANTHROPIC_UNTIDY: Final[frozenset[Trait]] = frozenset(
    {"assistant_first", "cache_control", "consecutive_roles", "empty_message", "odd_call_id", "reused_call_id"}
)
UNTIDY_TRAITS: Final[Mapping[LogKind, frozenset[Trait]]] = {
    "openai": _ALWAYS_UNTIDY,
    "anthropic": _ALWAYS_UNTIDY | _ANTHROPIC_UNTIDY,
}


_REPR: Final = Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxdict, _REPR.maxstring, _REPR.maxother = 12, 100, 20, 120, 120
