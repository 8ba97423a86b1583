"""From plans to wire messages, in the form that a client of either provider would have logged."""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from everfold.testing.kit.log_plans import (
    CallPlan,
    Fate,
    GeneratedLog,
    LogKind,
    PartKind,
    Plan,
    StepPlan,
    TalkPlan,
    Trait,
    Wire,
)
from everfold.testing.kit.log_traits import list_plan_traits, list_shape_traits

UNKNOWN_MEMBER: Final = "x_trace"
"""A member of a message that no reference knows."""
# A picture of one pixel.
PNG_DATA: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


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
        traits |= list_plan_traits(plan, kind)
    traits |= list_shape_traits(messages)
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
        message[UNKNOWN_MEMBER] = {"hop": 3, "exact": 1.50}
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
    return message | ({UNKNOWN_MEMBER: {"hop": 3, "exact": 1.50}} if plan.has_unknown_field else {})


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
