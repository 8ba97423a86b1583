"""Each rule of the OpenAI judge accepts one example and refuses another."""

from collections.abc import Mapping
from typing import Any

import pytest

from everfold.testing import check_openai_request, check_window_rules

USER = {"role": "user", "content": "hi"}


def _call(call_id: str = "c1", **changes: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": "{}"}} | changes


def _calling(*calls: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _result(call_id: str = "c1", **changes: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"} | changes


def _with_function(**changes: Any) -> dict[str, Any]:
    return _call(function={"name": "look", "arguments": "{}"} | changes)


def _user_part(part: object) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [part]}]


ACCEPTED = {
    "every role": [
        {"role": "system", "content": "be kind"},
        {"role": "developer", "content": [{"type": "text", "text": "be brief"}]},
        {"role": "user", "content": "hi", "name": "Ann-1"},
        {"role": "assistant", "content": "hello"},
    ],
    "one step": [USER, _calling(_call()), _result()],
    "parallel calls answered out of order": [USER, _calling(_call("a"), _call("b")), _result("b"), _result("a")],
    "an id reused in a later step": [USER, _calling(_call()), _result(), _calling(_call()), _result()],
    "a custom call": [
        USER,
        _calling({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}),
        _result(),
    ],
    "result as parts": [USER, _calling(_call()), _result(content=[{"type": "text", "text": "ok"}])],
    "image by url": _user_part(
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    ),
    "image by data": _user_part({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}),
    "audio": _user_part({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
    "file": _user_part({"type": "file", "file": {"file_id": "file-1"}}),
    "refusal": [USER, {"role": "assistant", "content": None, "refusal": "I cannot do that."}],
    "refusal as a part": [USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
    "empty texts": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}],
    "assistant first": [{"role": "assistant", "content": "welcome"}, USER],
    "a system message in the middle": [USER, {"role": "system", "content": "note"}, USER],
    "emoji and CJK": [{"role": "user", "content": "折り紙 🗻"}],
}

REFUSED = {
    "no messages": ([], "messages: a non-empty list"),
    "message that is no object": (["hi"], "an object is required"),
    "unknown role": ([{"role": "bot", "content": "x"}], "'bot' is none of"),
    "unknown key": ([USER | {"id": 3}], "unknown key 'id'"),
    "call id on a user message": ([USER | {"tool_call_id": "c1"}], "unknown key 'tool_call_id'"),
    "name with a space": ([USER | {"name": "Ann B"}], ".name: a string that matches"),
    "null content": ([{"role": "user", "content": None}], "a string or a non-empty list of parts"),
    "empty part list": ([{"role": "user", "content": []}], "a string or a non-empty list of parts"),
    "unknown part": (_user_part({"type": "video", "video": {}}), "not one of the parts"),
    "unknown part key": (_user_part({"type": "text", "text": "x", "cache_control": {}}), "unknown key 'cache_control'"),
    "text part without text": (_user_part({"type": "text"}), ".text: a string"),
    "image in a system message": (
        [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}]}],
        "not one of the parts text",
    ),
    "image url of another scheme": (
        _user_part({"type": "image_url", "image_url": {"url": "ftp://x"}}),
        "url: a string",
    ),
    "image without object": (_user_part({"type": "image_url", "image_url": "https://e.org"}), "an object with a url"),
    "unknown detail": (
        _user_part({"type": "image_url", "image_url": {"url": "https://e.org/a.png", "detail": "max"}}),
        "detail",
    ),
    "audio format": (_user_part({"type": "input_audio", "input_audio": {"data": "A", "format": "ogg"}}), "format"),
    "file without id": (_user_part({"type": "file", "file": {"filename": "a"}}), "file_id or file_data"),
    "file at an address": (
        _user_part({"type": "file", "file": {"filename": "a", "file_data": "https://e.org/a.pdf"}}),
        "not an address",
    ),
    "assistant without anything": ([USER, {"role": "assistant", "content": None}], "needs content or tool_calls"),
    "refusal of another type": ([USER, {"role": "assistant", "content": "x", "refusal": 1}], "a string or null"),
    "refusal part without text": (
        [USER, {"role": "assistant", "content": [{"type": "refusal"}]}],
        ".refusal: a string",
    ),
    "empty calls": ([USER, _calling()], "a non-empty list is required"),
    "call without id": ([USER, _calling(_call(id=None)), _result()], "[0].id: a string"),
    "call id too long": ([USER, _calling(_call("c" * 41)), _result("c" * 41)], "1 to 40 characters"),
    "call type": ([USER, _calling(_call(type="tool")), _result()], "neither function nor custom"),
    "call with an unknown key": ([USER, _calling(_call(index=0)), _result()], "unknown key 'index'"),
    "call without function": ([USER, _calling(_call(function=None)), _result()], ".function: an object"),
    "function name": ([USER, _calling(_with_function(name="a b")), _result()], ".name: a string that matches"),
    "arguments as an object": ([USER, _calling(_with_function(arguments={})), _result()], ".arguments: a string"),
    "arguments that do not parse": ([USER, _calling(_with_function(arguments="{")), _result()], "no valid JSON"),
    "arguments with NaN": ([USER, _calling(_with_function(arguments='{"a": NaN}')), _result()], "no valid JSON"),
    "id twice in one message": ([USER, _calling(_call(), _call()), _result()], "stands twice"),
    "call without result": ([USER, _calling(_call())], "no tool message answers call 'c1'"),
    "result after another message": ([USER, _calling(_call()), USER, _result()], "no tool message answers call 'c1'"),
    "result without call": ([USER, _result()], "answers no open call"),
    "result twice": ([USER, _calling(_call()), _result(), _result()], "answers no open call"),
    "result without id": ([USER, _calling(_call()), _result(tool_call_id="")], "a non-empty string is required"),
    "result without content": ([USER, _calling(_call()), _result(content=None)], "a string or a non-empty list"),
    "lone surrogate": ([{"role": "user", "content": "a\ud800"}], "does not encode to UTF-8"),
    "lone surrogate in a key": ([USER | {"\udfff": 1}], "does not encode to UTF-8"),
    "NaN": ([USER | {"score": float("nan")}], "no JSON number"),
    "key that is no string": ([USER | {3: 1}], "the key 3 is no string"),
    "value that is no JSON": ([USER | {"name": b"x"}], "bytes is no JSON value"),
}


@pytest.mark.parametrize("messages", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepts(messages: list[Any]) -> None:
    """A request that the provider documents as valid has no violations."""
    assert check_openai_request({"model": "m", "messages": messages}) == []


@pytest.mark.parametrize(("messages", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(messages: list[Any], words: str) -> None:
    """A request with one fault is refused, and a violation names that fault."""
    violations = check_openai_request({"messages": messages})
    assert any(words in violation for violation in violations), violations


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([{"role": "system", "content": "s"}, {"role": "assistant", "content": "x"}], "not with the user"),
        ([], "not with the user"),
        ([USER, _calling(_call())], "no tool message answers"),
        ([USER, _result()], "answers no open call"),
    ],
)
def test_window_rules_refuse(messages: list[Any], words: str) -> None:
    """A window that starts with the assistant, or splits a step, breaks the window rules."""
    assert any(words in violation for violation in check_window_rules({"messages": messages}, kind="openai"))


def test_window_rules_judge_the_shape_alone() -> None:
    """A window of the right shape passes, also when its text could not be sent."""
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "\ud800"}, _calling(_call()), _result()]
    assert check_window_rules({"messages": messages}, kind="openai") == []
