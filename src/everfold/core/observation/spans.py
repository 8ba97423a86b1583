"""The names and attributes of spans: ids and figures, never text of a message, a prompt or a digest.

Calls of a model carry the attributes that OpenTelemetry has agreed on; everything of our own begins with `everfold.`.

Source: OpenTelemetry semantic conventions for generative AI spans, 1.41 and later.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from everfold.core.compaction.folding import CompactionReport
from everfold.core.compaction.planning import CompactionPlan
from everfold.core.compaction.record import Compaction
from everfold.core.observation.events import ModelCalled
from everfold.core.primitives.ids import SessionId
from everfold.core.windows.reports import WindowReport

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
        "everfold.window.compacted_through": report.compacted_through,
        "everfold.window.breaks": [it.reason for it in report.cache_breaks],
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


def describe_compaction(event: Compaction) -> Attributes:
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
        "everfold.compaction.resent_tokens": report.resent_tokens,
    }


def name_model_call(model: str) -> str:
    """What the span of a call of a model is called: the operation and the model, without its provider."""
    return f"chat {_split_model(model)[1]}"


def describe_request(called: ModelCalled, *, max_output_tokens: int) -> Attributes:
    """What is known of a call of a model before it is made; `called.model` is its setting, `openai:gpt-5-mini` for one."""
    provider, name = _split_model(called.model)
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": name,
        "gen_ai.request.max_tokens": max_output_tokens,
        "everfold.model.purpose": called.purpose,
    }
    if called.session_id is not None:
        attributes["gen_ai.conversation.id"] = called.session_id
    if called.compaction_id is not None:
        attributes["everfold.event.id"] = called.compaction_id
    return attributes


def describe_reply(called: ModelCalled, *, finish: str) -> Attributes:
    """The attributes known after a call: model, outcome and usage. `input_tokens` includes the cached ones."""
    attributes: dict[str, AttributeValue] = {
        "gen_ai.response.model": called.model,
        "gen_ai.response.finish_reasons": [_FINISH_REASONS.get(finish, finish)],
        "gen_ai.usage.input_tokens": called.input_tokens,
        "gen_ai.usage.cache_read.input_tokens": called.cached_tokens,
        "gen_ai.usage.output_tokens": called.output_tokens,
    }
    if called.cost_usd is not None:
        attributes["everfold.model.cost_usd"] = called.cost_usd
    return attributes


def _split_model(setting: str) -> tuple[str, str]:
    """Provider and name of `provider:name`; a setting without a provider is both."""
    provider, colon, name = setting.partition(":")
    return (provider, name) if colon else (setting, setting)
