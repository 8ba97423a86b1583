"""What spans are called and what they carry: ids and figures, never a word of a message, a prompt or a digest.

Calls of a model carry the attributes that OpenTelemetry has agreed on; everything of our own begins with `everfold.`.

Source: OpenTelemetry semantic conventions for generative AI spans, 1.41 and later.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from everfold.core.events import CompactionEvent
from everfold.core.folding import CompactionReport
from everfold.core.planning import CompactionPlan
from everfold.core.sessions import EventId, SessionId
from everfold.core.window import WindowReport

AttributeValue: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = Mapping[str, AttributeValue]

WINDOW = "everfold.window"
COMPACTION_PLAN = "everfold.compaction.plan"
COMPACTION_BEGIN = "everfold.compaction.begin"
COMPACTION_CLAIM = "everfold.compaction.claim"
COMPACTION_DIGEST = "everfold.compaction.digest"
COMPACTION_COMMIT = "everfold.compaction.commit"

_FINISH_REASONS = {"complete": "stop", "length": "length", "refusal": "content_filter", "tool_call": "tool_calls"}


def describe_window(session_id: SessionId, report: WindowReport, *, is_preview: bool = False) -> Attributes:
    """What a finished window is."""
    return {
        "everfold.session.id": session_id,
        "everfold.window.tokens": report.tokens,
        "everfold.window.limit_tokens": report.limit_tokens,
        "everfold.window.message_count": report.message_count,
        "everfold.window.digest_count": report.digest_count,
        "everfold.window.watermark": report.watermark,
        "everfold.window.breaks": [it.reason for it in report.breaks],
        "everfold.window.is_preview": is_preview,
    }


def describe_plan(session_id: SessionId, plan: CompactionPlan | None) -> Attributes:
    """What was decided about a session that a compaction was due for; only the session where nothing can be folded."""
    if plan is None:
        return {"everfold.session.id": session_id}
    return {
        "everfold.session.id": session_id,
        "everfold.compaction.trigger": plan.trigger,
        "everfold.compaction.first_seq": plan.first_seq,
        "everfold.compaction.last_seq": plan.last_seq,
        "everfold.compaction.folded_count": len(plan.folded),
    }


def describe_event(event: CompactionEvent) -> Attributes:
    """Which compaction a span is about."""
    return {
        "everfold.session.id": event.session_id,
        "everfold.event.id": event.id,
        "everfold.event.ordinal": event.ordinal,
        "everfold.event.attempts": event.attempts,
        "everfold.compaction.trigger": event.plan.trigger,
        "everfold.compaction.first_seq": event.plan.first_seq,
        "everfold.compaction.last_seq": event.plan.last_seq,
    }


def describe_report(report: CompactionReport) -> Attributes:
    """What a committed compaction did."""
    return {
        "everfold.compaction.kept_count": report.kept_count,
        "everfold.compaction.folded_count": report.folded_count,
        "everfold.compaction.tokens_before": report.tokens_before,
        "everfold.compaction.tokens_after": report.tokens_after,
        "everfold.compaction.break_cost_tokens": report.break_cost_tokens,
    }


def name_model_call(model: str) -> str:
    """What the span of a call of a model is called: the operation and the model, without its provider."""
    return f"chat {_split_model(model)[1]}"


def describe_request(
    model: str,
    *,
    purpose: str,
    max_output_tokens: int,
    session_id: SessionId | None = None,
    event_id: EventId | None = None,
) -> Attributes:
    """What is known of a call of a model before it is made.

    Args:
        model: Its setting, `openai:gpt-5-mini` for example.
        purpose: What it is for.
        max_output_tokens: The most that it may answer.
        session_id: The session that it is about, where there is one.
        event_id: The compaction that it is for, where there is one.
    """
    provider, name = _split_model(model)
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        "gen_ai.request.max_tokens": max_output_tokens,
        "everfold.model.purpose": purpose,
    }
    if session_id is not None:
        attributes["gen_ai.conversation.id"] = session_id
    if event_id is not None:
        attributes["everfold.event.id"] = event_id
    return attributes


def describe_reply(
    model: str,
    *,
    finish: str,
    input_tokens: int,
    cached_tokens: int,
    output_tokens: int,
    cost_usd: float | None = None,
) -> Attributes:
    """What is known after it: who answered, how it ended, and what was counted. `input_tokens` holds the cached ones."""
    attributes: dict[str, AttributeValue] = {
        "gen_ai.response.model": model,
        "gen_ai.response.finish_reasons": [_FINISH_REASONS.get(finish, finish)],
        "gen_ai.usage.input_tokens": input_tokens,
        "gen_ai.usage.cache_read.input_tokens": cached_tokens,
        "gen_ai.usage.output_tokens": output_tokens,
    }
    if cost_usd is not None:
        attributes["everfold.model.cost_usd"] = cost_usd
    return attributes


def _split_model(setting: str) -> tuple[str, str]:
    """Provider and name of `provider:name`; a setting without a provider is both."""
    provider, colon, name = setting.partition(":")
    return (provider, name) if colon else (setting, setting)
