"""What makes a log hard, named from its plans and from how its messages follow each other."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from everfold.testing.kit.log_plans import (
    HUGE_PASTE_CHARS,
    STANDING_STATEMENTS,
    Fate,
    LogKind,
    Plan,
    StepPlan,
    TalkPlan,
    Trait,
    Wire,
)

_TRAIT_BY_FATE: Final[Mapping[Fate, frozenset[Trait]]] = {
    "answered": frozenset(),
    "abandoned": frozenset({"abandoned_call"}),
    "partly": frozenset({"abandoned_call"}),
    "late": frozenset({"abandoned_call", "late_result"}),
    "open": frozenset({"open_step"}),
}


def list_plan_traits(plan: Plan, kind: LogKind) -> set[Trait]:
    """Name the traits that `plan` gives to a log of `kind`."""
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
    if is_openai_reply and plan.outcome in {"refusal", "null"}:
        return traits  # such a reply carries none of the plan's texts
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


def list_shape_traits(messages: list[Wire]) -> set[Trait]:
    """Name the traits that come from how messages follow each other."""
    roles = [message["role"] for message in messages if message["role"] not in {"system", "developer"}]
    traits: set[Trait] = {"assistant_first"} if roles[:1] == ["assistant"] else set()
    if any(role == following != "tool" for role, following in pairwise(roles)):
        traits.add("consecutive_roles")
    return traits
