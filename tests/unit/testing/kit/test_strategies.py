"""The strategies draw what they say: tidy logs that providers accept, and every kind of hard log."""

import json
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from tests.support.sizes import examples

from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.judges.json_rules import list_json_violations
from everfold.testing.kit.log_plans import GeneratedLog, Trait
from everfold.testing.kit.strategies import (
    BrokenMessage,
    st_anthropic_log,
    st_broken_message,
    st_json_value,
    st_openai_log,
)

FEW = settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
OPENAI_ONLY = {"name", "developer_role", "refusal", "null_content", "mid_log_system"}
ANTHROPIC_ONLY = {"cache_control", "thinking", "mixed_results_and_text"}


def _call_ids(message: dict[str, Any]) -> list[str]:
    if message["role"] == "assistant" and isinstance(message["content"], list):
        return [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    return [call["id"] for call in message.get("tool_calls", [])]


def _result_ids(message: dict[str, Any]) -> list[str]:
    if message["role"] == "tool":
        return [message["tool_call_id"]]
    blocks = message["content"] if isinstance(message["content"], list) else []
    return [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]


def _assert_well_formed(log: GeneratedLog) -> None:
    """Assert what holds in any log: no id twice in one message, each result after a call of its id, each once."""
    waiting: list[str] = []
    for message in log.messages:
        for call_id in _result_ids(message):
            assert call_id in waiting
            waiting.remove(call_id)
        called = _call_ids(message)
        assert len(called) == len(set(called))
        waiting += called
    assert not waiting or log.traits & {"abandoned_call", "open_step"}


@FEW
@given(st_openai_log(tidy=True))
def test_tidy_openai_logs_are_accepted(log: GeneratedLog) -> None:
    """A tidy OpenAI log is a valid request as it is."""
    assert log.is_tidy
    assert not log.messages or check_openai_request({"messages": log.messages}) == []


@FEW
@given(st_anthropic_log(tidy=True))
def test_tidy_anthropic_logs_are_accepted(log: GeneratedLog) -> None:
    """A tidy Anthropic log is a valid request as it is."""
    assert log.is_tidy
    assert check_anthropic_request({"messages": log.messages}) == []


@FEW
@given(st.one_of(st_openai_log(), st_anthropic_log()))
def test_any_log_is_well_formed(log: GeneratedLog) -> None:
    """Any log keeps its bound, pairs results with earlier calls and never repeats an id within a message."""
    assert len(log.messages) <= 30
    _assert_well_formed(log)
    assert ("lone_surrogate" in log.traits) or not list_json_violations(log.messages)


@FEW
@given(st_openai_log())
def test_untidy_openai_logs_are_those_that_are_refused(log: GeneratedLog) -> None:
    """An OpenAI log is called tidy exactly when the provider would accept it as it is."""
    assert not log.messages or log.is_tidy == (check_openai_request({"messages": log.messages}) == [])


@FEW
@given(st_anthropic_log())
def test_anthropic_logs_that_are_called_tidy_are_accepted(log: GeneratedLog) -> None:
    """An Anthropic log that is called tidy is refused for nothing but white space at its end."""
    if log.is_tidy and log.messages:
        assert [v for v in check_anthropic_request({"messages": log.messages}) if "ends in whitespace" not in v] == []


class SeenError(Exception):
    """Every trait was seen."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (st_openai_log(max_messages=24), set(get_args(Trait)) - ANTHROPIC_ONLY),
        (st_anthropic_log(max_messages=24), set(get_args(Trait)) - OPENAI_ONLY),
    ],
    ids=["openai", "anthropic"],
)
def test_logs_can_have_every_trait(strategy: SearchStrategy[GeneratedLog], expected: set[Trait]) -> None:
    """Every trait of a format turns up within a few hundred draws."""
    missing = set(expected)

    @settings(FEW, max_examples=400, phases=[Phase.generate], derandomize=True, report_multiple_bugs=False)
    @given(strategy)
    def see(log: GeneratedLog) -> None:
        missing.difference_update(log.traits)
        if not missing:
            raise SeenError

    with suppress(SeenError):  # nothing else ends the drawing early
        see()
    assert not missing


@FEW
@given(st_json_value())
def test_json_values_survive_json(value: object) -> None:
    """A drawn JSON value reads back equal from its JSON text."""
    assert json.loads(json.dumps(value, allow_nan=False)) == value


@FEW
@given(st_broken_message())
def test_broken_messages_are_refused(broken: BrokenMessage) -> None:
    """A broken message is refused by the judge of its format, alone or after an ordinary start."""
    judge = check_openai_request if broken.kind == "openai" else check_anthropic_request
    assert judge({"messages": [broken.message]}) != []
    assert judge({"messages": [{"role": "user", "content": "hi"}, broken.message]}) != []
