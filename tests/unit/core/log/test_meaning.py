"""Meaning: two wire forms that say the same are told from two that do not."""

import json

import pytest
from hypothesis import given

from everfold.core.log.meaning import means_same
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject
from everfold.testing import st_anthropic_log, st_openai_log
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.log_plans import GeneratedLog

IMAGE: JsonObject = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def call(arguments: str, **more: object) -> JsonObject:
    """An assistant message with one call."""
    function = {"name": "look_up", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}], **more}  # type: ignore[dict-item]


SAME: list[tuple[JsonObject, JsonObject]] = [
    (user("Hello."), user([{"type": "text", "text": "Hello."}])),
    (user("Hello."), user("  Hello.\n")),
    (user("Hello."), user([{"type": "text", "text": "Hello."}, {"type": "text", "text": " "}])),
    (assistant("Yes."), {**assistant("Yes."), "refusal": None, "annotations": [], "id": "msg_1"}),
    (call('{"a": 1, "b": [2]}'), call('{"b":[2.0],"a":1}', content=None)),
    (call(""), call("{}")),
    (call("no json"), call(" no json ")),
    (
        call('{"a": 1}'),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {"a": 1}}]},
    ),
    (
        {"role": "tool", "tool_call_id": "c1", "content": "Done."},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Done."}]},
    ),
    (user([IMAGE]), user([dict(reversed(IMAGE.items()))])),
]
OTHER: list[tuple[JsonObject, JsonObject]] = [
    (user("Hello."), user("hello.")),
    (user("Hello."), assistant("Hello.")),
    (user("a b"), user("a  b")),
    (user("Hello."), user([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}])),
    (user("Hello."), {**user("Hello."), "name": "ben"}),
    (user("Hello."), user([{"type": "text", "text": "Hello."}, IMAGE])),
    (call('{"a": 1}'), call('{"a": true}')),
    (call('{"a": 1}'), call('{"a": "1"}')),
    (
        {"role": "tool", "tool_call_id": "c1", "content": "Done."},
        {"role": "tool", "tool_call_id": "c2", "content": "Done."},
    ),
    (
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x", "is_error": True}]},
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=range(len(SAME)))
def test_equal_meaning(one: JsonObject, other: JsonObject) -> None:
    """Text against one text part, arguments as JSON, white space at the ends, and unread fields make no other message."""
    assert means_same(read_wire(one), read_wire(other))
    assert means_same(read_wire(other), read_wire(one))


@pytest.mark.parametrize(("one", "other"), OTHER, ids=range(len(OTHER)))
def test_another_meaning(one: JsonObject, other: JsonObject) -> None:
    """Another role, name, word, value, part or call is another message."""
    assert not means_same(read_wire(one), read_wire(other))
    assert not means_same(read_wire(other), read_wire(one))


@given(st_openai_log() | st_anthropic_log())
def test_a_message_means_itself_and_what_it_reads_back_as(log: GeneratedLog) -> None:
    """Every generated message means the same as its copy through JSON with its members in another order."""
    for wire in log.messages:
        again = json.loads(json.dumps(wire, sort_keys=True))
        assert means_same(read_wire(wire), read_wire(again))
