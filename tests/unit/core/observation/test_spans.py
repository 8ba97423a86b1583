"""Spans of model calls carry what OpenTelemetry has agreed on."""

from dataclasses import replace

import pytest

from everfold.core.observation.events import ModelCalled
from everfold.core.observation.spans import describe_reply, describe_request, name_model_call
from everfold.core.primitives.ids import CompactionId, SessionId

CALLED = ModelCalled(session_id=None, compaction_id=None, purpose="digest", model="gpt-5-mini-1", elapsed_secs=1.5)


@pytest.mark.parametrize(
    ("setting", "provider", "model"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("scripted", "scripted", "scripted"),
    ],
)
def test_provider_and_model_are_told_apart(setting: str, provider: str, model: str) -> None:
    """The provider is what stands before the first colon, and the span is called by operation and model."""
    attributes = describe_request(replace(CALLED, model=setting), max_output_tokens=700)
    assert attributes["gen_ai.provider.name"] == provider
    assert attributes["gen_ai.request.model"] == model
    assert name_model_call(setting) == f"chat {model}"


def test_ids_are_there_where_they_are_known() -> None:
    """A call that is about a session and an event names them, and one that is not has no such attribute."""
    plain = describe_request(CALLED, max_output_tokens=9)
    called = replace(CALLED, session_id=SessionId("ses_1"), compaction_id=CompactionId("evt_1"))
    about = describe_request(called, max_output_tokens=9)
    assert {name: value for name, value in about.items() if name not in plain} == {
        "gen_ai.conversation.id": "ses_1",
        "everfold.event.id": "evt_1",
    }


def test_a_reply_is_told_in_counts() -> None:
    """Usage, the finish reason in the convention's word, and the cost only where a price is known."""
    called = replace(CALLED, input_tokens=900, cached_tokens=800, output_tokens=90)
    reply = describe_reply(called, finish="complete")
    assert reply == {
        "gen_ai.response.model": "gpt-5-mini-1",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.cache_read.input_tokens": 800,
        "gen_ai.usage.output_tokens": 90,
    }
    priced = describe_reply(replace(called, cost_usd=0.25), finish="length")
    assert priced["everfold.model.cost_usd"] == 0.25
