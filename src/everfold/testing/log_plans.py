"""From a plan of what happens in a conversation to its wire messages, in either provider's format.

A plan says who speaks and which calls are made and answered, late or never; the builders give it the form that a
client of that provider would have logged, and name the traits that make the log hard. Plans are plain values: the
strategies draw them, the builders are pure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, pairwise
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
PNG_DATA: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
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


class _Ids:
    """Call ids of one log, in each style."""

    def __init__(self, kind: LogKind) -> None:
        self._prefix = "call_" if kind == "openai" else "toolu_"
        self._numbers = count(1)

    def list_for(self, step: StepPlan) -> list[str]:
        match step.id_style:
            case "fresh":
                return [f"{self._prefix}{next(self._numbers):04d}" for _ in step.calls]
            case "reused":
                return [f"{self._prefix}{position}" for position, _ in enumerate(step.calls)]
            case "odd":
                return [f"functions.{call.tool}:{next(self._numbers)}" for call in step.calls]


def build_openai_log(plans: Iterable[Plan], *, messages_count: int) -> GeneratedLog:
    """Spell `plans` as OpenAI chat messages, whole plans only, until the next would pass `messages_count`."""
    ids = _Ids("openai")
    return _collect("openai", ([*_openai_messages(plan, ids)] for plan in plans), plans, messages_count)


def build_anthropic_log(plans: Iterable[Plan], *, messages_count: int) -> GeneratedLog:
    """Spell `plans` as Anthropic messages, whole plans only, until the next would pass `messages_count`."""
    ids = _Ids("anthropic")
    return _collect("anthropic", ([*_anthropic_messages(plan, ids)] for plan in plans), plans, messages_count)


def join_roles(log: GeneratedLog) -> GeneratedLog:
    """Make an Anthropic log of otherwise tidy plans alternate: same roles join, an assistant's start gets an opener.

    Thinking that would no longer come first is left out, and so is white space at the end of the last text.
    """
    joined: list[Wire] = [] if log.messages[:1] and log.messages[0]["role"] == "user" else [_plain("user", "Hello.")]
    for message in log.messages:
        if not joined or joined[-1]["role"] != message["role"]:
            joined.append({"role": message["role"], "content": _as_blocks(message["content"])})
            continue
        new = [block for block in _as_blocks(message["content"]) if "thinking" not in str(block["type"])]
        joined[-1] = {"role": message["role"], "content": [*_as_blocks(joined[-1]["content"]), *new]}
    last = _as_blocks(joined[-1]["content"])[-1]
    if last["type"] == "text":
        last["text"] = str(last["text"]).rstrip()
    untied: frozenset[Trait] = frozenset({"consecutive_roles", "assistant_first"})
    return GeneratedLog(kind=log.kind, messages=joined, traits=log.traits - untied)


def _collect(kind: LogKind, groups: Iterable[list[Wire]], plans: Iterable[Plan], messages_count: int) -> GeneratedLog:
    messages: list[Wire] = []
    traits: set[Trait] = set()
    for plan, group in zip(plans, groups, strict=True):
        if len(messages) + len(group) > messages_count:
            break
        if plan.kind == "talk" and plan.speaker in {"system", "developer"} and messages and kind == "openai":
            traits.add("mid_log_system")
        messages += group
        traits |= _plan_traits(plan, kind)
    traits |= _shape_traits(messages)
    return GeneratedLog(kind=kind, messages=messages, traits=frozenset(traits))


def _openai_messages(plan: Plan, ids: _Ids) -> Iterator[Wire]:
    if plan.kind == "talk":
        yield _openai_talk(plan)
        return
    call_ids = ids.list_for(plan)
    calls = [
        {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments_text}}
        for call_id, call in zip(call_ids, plan.calls, strict=True)
    ]
    yield {"role": "assistant", "content": plan.text, "tool_calls": calls}
    results: list[Wire] = [
        {"role": "tool", "tool_call_id": call_ids[index], "content": plan.calls[index].result} for index in plan.order
    ]
    yield from _with_fate(plan.fate, results)


def _with_fate(fate: Fate, results: list[Wire]) -> Iterator[Wire]:
    early_count = {"answered": len(results), "partly": 1, "abandoned": 0, "late": 0, "open": 0}[fate]
    yield from results[:early_count]
    if fate not in {"answered", "open"}:
        yield _plain("user", "Never mind the rest, let us go on.")
    if fate == "late":
        yield from results


def _openai_talk(plan: TalkPlan) -> Wire:
    message: Wire = {"role": plan.speaker}
    texts_only = [part for part in plan.parts if part[0] == "text"] or [("text", "")]
    parts = plan.parts if plan.speaker == "user" else tuple(texts_only)
    if plan.name is not None:
        message["name"] = plan.name
    if plan.as_string and len(parts) == 1 and parts[0][0] == "text":
        message["content"] = parts[0][1]
    else:
        message["content"] = [_openai_part(kind, text) for kind, text in parts]
    if plan.speaker == "assistant" and plan.outcome != "content":
        message["content"] = None
        if plan.outcome == "refusal":
            message["refusal"] = "I cannot help with that."
    if plan.has_unknown_field:
        message["x_trace"] = {"hop": 3, "exact": 1.50}
    return message


def _openai_part(kind: PartKind, text: str) -> Wire:
    match kind:
        case "text":
            return {"type": "text", "text": text}
        case "image_url":
            return {"type": "image_url", "image_url": {"url": "https://example.org/plan.png", "detail": "low"}}
        case "image_data":
            return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG_DATA}"}}
        case "document":
            return {"type": "file", "file": {"file_id": "file-7f3a"}}
        case "unknown":
            return {"type": "hologram", "hologram": {"frames": [1, 2], "note": text}}


def _anthropic_messages(plan: Plan, ids: _Ids) -> Iterator[Wire]:
    if plan.kind == "talk":
        yield _anthropic_talk(plan)
        return
    call_ids = ids.list_for(plan)
    blocks = _thinking_blocks(plan)
    if plan.text:
        blocks.append({"type": "text", "text": plan.text})
    blocks += [
        {"type": "tool_use", "id": call_id, "name": call.tool, "input": dict(call.arguments)}
        for call_id, call in zip(call_ids, plan.calls, strict=True)
    ]
    yield {"role": "assistant", "content": blocks}
    results = [_anthropic_result(call_ids[index], plan.calls[index]) for index in plan.order]
    yield from _anthropic_fate(plan, results)


def _anthropic_fate(plan: StepPlan, results: list[Wire]) -> Iterator[Wire]:
    words: list[Wire] = [{"type": "text", "text": "Never mind the rest, let us go on."}]
    match plan.fate:
        case "answered":
            tail: list[Wire] = [{"type": "text", "text": plan.trailing_text}] if plan.trailing_text else []
            yield {"role": "user", "content": [*results, *tail]}
        case "partly":
            yield {"role": "user", "content": [*results[:1], *words]}
        case "abandoned":
            yield {"role": "user", "content": words}
        case "late":
            yield {"role": "user", "content": words}
            yield {"role": "user", "content": results}
        case "open":
            return


def _thinking_blocks(plan: StepPlan) -> list[Wire]:
    match plan.thinking:
        case "none":
            return []
        case "signed":
            return [{"type": "thinking", "thinking": "The user wants facts, so look first.", "signature": "c2lnbmVk"}]
        case "redacted":
            return [{"type": "redacted_thinking", "data": "b3BhcXVl"}]


def _anthropic_result(call_id: str, call: CallPlan) -> Wire:
    result: Wire = {"type": "tool_result", "tool_use_id": call_id, "content": call.result}
    if call.is_error:
        result |= {"is_error": True, "content": call.result or "failed"}
    return result


def _anthropic_talk(plan: TalkPlan) -> Wire:
    role = "assistant" if plan.speaker == "assistant" else "user"
    parts = plan.parts if role == "user" else tuple(part for part in plan.parts if part[0] == "text")
    if plan.as_string and len(parts) == 1 and parts[0][0] == "text" and not plan.has_cache_control:
        return _with_unknown_field(_plain(role, parts[0][1]), plan)
    blocks = [_anthropic_block(kind, text) for kind, text in parts] or [{"type": "text", "text": "(nothing)"}]
    if plan.has_cache_control:
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
    return _with_unknown_field({"role": role, "content": blocks}, plan)


def _with_unknown_field(message: Wire, plan: TalkPlan) -> Wire:
    return message | ({"x_trace": {"hop": 3, "exact": 1.50}} if plan.has_unknown_field else {})


def _anthropic_block(kind: PartKind, text: str) -> Wire:
    match kind:
        case "text":
            return {"type": "text", "text": text}
        case "image_url":
            return {"type": "image", "source": {"type": "url", "url": "https://example.org/plan.png"}}
        case "image_data":
            return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_DATA}}
        case "document":
            source = {"type": "text", "media_type": "text/plain", "data": text or "(empty)"}
            return {"type": "document", "source": source, "title": "Notes"}
        case "unknown":
            return {"type": "hologram", "frames": [1, 2], "note": text}


def _plain(role: str, text: str) -> Wire:
    return {"role": role, "content": text}


def _as_blocks(content: object) -> list[Wire]:
    return list(content) if isinstance(content, list) else [{"type": "text", "text": content}]


_TRAIT_BY_FATE: Final[Mapping[Fate, frozenset[Trait]]] = {
    "answered": frozenset(),
    "abandoned": frozenset({"abandoned_call"}),
    "partly": frozenset({"abandoned_call"}),
    "late": frozenset({"abandoned_call", "late_result"}),
    "open": frozenset({"open_step"}),
}


def _plan_traits(plan: Plan, kind: LogKind) -> set[Trait]:
    return _talk_traits(plan, kind) if plan.kind == "talk" else _step_traits(plan, kind)


def _step_traits(plan: StepPlan, kind: LogKind) -> set[Trait]:
    # One call that is answered "partly" is answered.
    fate: Fate = "answered" if plan.fate == "partly" and len(plan.calls) == 1 else plan.fate
    present: dict[Trait, bool] = {
        "tool_calls": True,
        "parallel_calls": len(plan.calls) > 1,
        "results_out_of_order": plan.order != tuple(sorted(plan.order)),
        "reused_call_id": plan.id_style == "reused",
        "odd_call_id": plan.id_style == "odd",
        "thinking": kind == "anthropic" and plan.thinking != "none",
        "mixed_results_and_text": kind == "anthropic" and (plan.trailing_text is not None or plan.fate == "partly"),
    }
    texts = [plan.text, plan.trailing_text, *(call.result for call in plan.calls)]
    traits = {trait for trait, is_present in present.items() if is_present} | _TRAIT_BY_FATE[fate]
    return traits.union(*(_text_traits(text) - {"empty_message"} for text in texts if text is not None))


def _talk_traits(plan: TalkPlan, kind: LogKind) -> set[Trait]:
    kinds = {part_kind for part_kind, _ in plan.parts} if plan.speaker == "user" else {"text"}
    is_openai_reply = kind == "openai" and plan.speaker == "assistant"
    present: dict[Trait, bool] = {
        "part_list": not plan.as_string or len(plan.parts) > 1,
        "image": bool(kinds & {"image_url", "image_data"}),
        "document": "document" in kinds,
        "unknown_part": "unknown" in kinds,
        "unknown_field": plan.has_unknown_field,
        "cache_control": kind == "anthropic" and plan.has_cache_control,
        "name": kind == "openai" and plan.name is not None,
        "developer_role": kind == "openai" and plan.speaker == "developer",
        "refusal": is_openai_reply and plan.outcome == "refusal",
        "null_content": is_openai_reply and plan.outcome == "null",
        "keep_marker": plan.speaker == "user" and plan.parts[0][1].startswith("[[keep]]"),
    }
    traits = {trait for trait, is_present in present.items() if is_present}
    return traits.union(*(_text_traits(text) for _, text in plan.parts))


def _text_traits(text: str) -> set[Trait]:
    traits: set[Trait] = set()
    if not text.strip():
        traits.add("empty_message")
    if len(text) >= HUGE_PASTE_CHARS:
        traits.add("huge_paste")
    if len(text.encode("utf-8", "ignore")) < len(text.encode("utf-8", "surrogatepass")):
        traits.add("lone_surrogate")
    if text in STANDING_STATEMENTS:
        traits.add("standing_statement")
    return traits


def _shape_traits(messages: list[Wire]) -> set[Trait]:
    roles = [message["role"] for message in messages if message["role"] not in {"system", "developer"}]
    traits: set[Trait] = {"assistant_first"} if roles[:1] == ["assistant"] else set()
    if any(role == following != "tool" for role, following in pairwise(roles)):
        traits.add("consecutive_roles")
    return traits
