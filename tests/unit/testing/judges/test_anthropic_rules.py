"""Each rule of the Anthropic judge accepts one example and refuses another."""

from typing import Any

import pytest

from everfold.testing import check_anthropic_request, check_window_rules

USER = {"role": "user", "content": "hi"}
REPLY = {"role": "assistant", "content": "hello"}
MARK = {"cache_control": {"type": "ephemeral"}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
TEXT = {"type": "text", "text": "hello"}
SEARCHES = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}


def _use(call_id: str = "toolu_1", **changes: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}} | changes


def _result(call_id: str = "toolu_1", **changes: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"} | changes


def _said(role: str, *blocks: object) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def _step(call: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    return [USER, _said("assistant", call), _said("user", result)]


def _source(block: str, **source: Any) -> list[dict[str, Any]]:
    return [_said("user", {"type": block, "source": source})]


ACCEPTED: dict[str, dict[str, Any]] = {
    "talk": {"system": "be kind", "messages": [USER, REPLY, USER]},
    "system blocks": {"system": [TEXT | MARK], "messages": [USER]},
    "one step": {"messages": _step(_use(), _result())},
    "parallel calls answered out of order, then text": {
        "messages": [USER, _said("assistant", _use("a"), _use("b")), _said("user", _result("b"), _result("a"), TEXT)]
    },
    "text after a call": {"messages": [USER, _said("assistant", _use(), TEXT), _said("user", _result())]},
    "thinking before a call": {"messages": [USER, _said("assistant", THINKING, _use()), _said("user", _result())]},
    "redacted thinking": {"messages": [USER, _said("assistant", {"type": "redacted_thinking", "data": "x"}, TEXT)]},
    "images": {"messages": [_said("user", PNG), REPLY, *_source("image", type="url", url="https://e.org/a")]},
    "documents": {
        "messages": [
            *_source("document", type="base64", media_type="application/pdf", data="JVBERi0="),
            REPLY,
            *_source("document", type="text", media_type="text/plain", data="x"),
            REPLY,
            *_source("document", type="content", content=[TEXT]),
            REPLY,
            *_source("document", type="file", file_id="file_1"),
        ]
    },
    "search result": {
        "messages": [_said("user", {"type": "search_result", "source": "s", "title": "t", "content": [TEXT]})]
    },
    "result with an image": {"messages": _step(_use(), _result(content=[TEXT, PNG]))},
    "result without content": {"messages": _step(_use(), _result(content=[]))},
    "failed result": {"messages": _step(_use(), _result(is_error=True, content="no such file"))},
    "server tool": {"messages": [USER, _said("assistant", SEARCHES, FOUND, TEXT), USER]},
    "paused server tool": {"messages": [USER, _said("assistant", SEARCHES)]},
    "compaction of the provider": {"messages": [USER, _said("assistant", {"type": "compaction", "content": "So."})]},
    "four marks, the long one first": {
        "system": [TEXT | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [_said("user", TEXT | MARK), REPLY, _said("user", TEXT | MARK, TEXT | MARK)],
    },
    "trailing space before the end": {"messages": [USER, {"role": "assistant", "content": "so "}, USER]},
}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "server result without its call": (
        {"messages": [USER, _said("assistant", FOUND), USER]},
        "answers no server call before it",
    ),
    "server call without its result": (
        {"messages": [USER, _said("assistant", SEARCHES, TEXT), USER]},
        "no result answers the server calls s",
    ),
    "no messages": ({"messages": []}, "a non-empty list"),
    "message that is no object": ({"messages": ["hi"]}, "an object is required"),
    "system as a number": ({"system": 3, "messages": [USER]}, "system: a string or a list"),
    "empty system": ({"system": " ", "messages": [USER]}, "system: the text is empty"),
    "image in system": ({"system": [PNG], "messages": [USER]}, "system[0].type"),
    "system role": ({"messages": [{"role": "system", "content": "x"}]}, "neither user nor assistant"),
    "unknown message key": ({"messages": [USER | {"name": "Ann"}]}, "unknown key 'name'"),
    "assistant first": ({"messages": [REPLY, USER]}, "first message must be the user's"),
    "two in a row": ({"messages": [USER, USER]}, "two user messages in a row"),
    "empty content": ({"messages": [{"role": "user", "content": ""}]}, "the text is empty"),
    "empty list": ({"messages": [{"role": "user", "content": []}]}, "a non-empty string or list"),
    "empty text block": ({"messages": [_said("user", TEXT | {"text": " \n"})]}, "the text is empty"),
    "text block without text": ({"messages": [_said("user", {"type": "text"})]}, ".text: a string"),
    "block that is no object": ({"messages": [_said("user", "x")]}, "content[0]: an object"),
    "unknown block": ({"messages": [_said("user", {"type": "video"})]}, "'video' is none of"),
    "unknown block key": ({"messages": [_said("user", TEXT | {"index": 1})]}, "unknown key 'index'"),
    "thinking of a user": ({"messages": [_said("user", THINKING)]}, "'thinking' is none of"),
    "call of a user": ({"messages": [_said("user", _use())]}, "'tool_use' is none of"),
    "final whitespace": ({"messages": [USER, {"role": "assistant", "content": "so "}]}, "ends in whitespace"),
    "final whitespace in a block": (
        {"messages": [USER, _said("assistant", TEXT | {"text": "so\n"})]},
        "ends in whitespace",
    ),
    "final thinking": ({"messages": [USER, _said("assistant", THINKING)]}, "ends in a thinking block"),
    "call id": ({"messages": _step(_use("a:0"), _result("a:0"))}, ".id: a string that matches"),
    "tool name": ({"messages": _step(_use(name="a.b"), _result())}, ".name: a string that matches"),
    "input as text": ({"messages": _step(_use(input="{}"), _result())}, ".input: an object"),
    "call without result": ({"messages": [USER, _said("assistant", _use()), USER]}, "no tool_result answers call"),
    "open call at the end": ({"messages": [USER, _said("assistant", _use())]}, "the end: no tool_result"),
    "result after text": (
        {"messages": [USER, _said("assistant", _use()), _said("user", TEXT, _result())]},
        "after other content",
    ),
    "result without call": ({"messages": [_said("user", _result())]}, "answers no call"),
    "result too late": (
        {"messages": [USER, _said("assistant", _use()), USER, REPLY, _said("user", _result())]},
        "answers no call",
    ),
    "result twice": (
        {"messages": [USER, _said("assistant", _use()), _said("user", _result(), _result())]},
        "answered twice",
    ),
    "one of two results": (
        {"messages": [USER, _said("assistant", _use("a"), _use("b")), _said("user", _result("a"))]},
        "no tool_result answers call 'b'",
    ),
    "an id reused in a later step": (
        {"messages": [*_step(_use(), _result()), _said("assistant", _use()), _said("user", _result())]},
        "not unique",
    ),
    "is_error as text": ({"messages": _step(_use(), _result(is_error="no"))}, "is_error: true or false"),
    "failed without content": ({"messages": _step(_use(), _result(is_error=True, content=""))}, "must not be empty"),
    "empty text in a result": ({"messages": _step(_use(), _result(content=[TEXT | {"text": ""}]))}, "text is empty"),
    "result content as a number": ({"messages": _step(_use(), _result(content=3))}, "a string or a list of blocks"),
    "thinking without signature": (
        {"messages": [USER, _said("assistant", THINKING | {"signature": ""}, TEXT)]},
        ".signature: a non-empty string",
    ),
    "thinking without text": (
        {"messages": [USER, _said("assistant", THINKING | {"thinking": None}, TEXT)]},
        ".thinking: a string",
    ),
    "redacted thinking without data": (
        {"messages": [USER, _said("assistant", {"type": "redacted_thinking"}, TEXT)]},
        ".data: a non-empty string",
    ),
    "thinking after text": ({"messages": [USER, _said("assistant", TEXT, THINKING, TEXT)]}, "must come first"),
    "five marks": ({"messages": [_said("user", *[TEXT | MARK] * 5)]}, "5 blocks carry cache_control"),
    "five marks, one inside a result": (
        {"system": [TEXT | MARK] * 4, "messages": _step(_use(), _result(content=[TEXT | MARK]))},
        "5 blocks carry cache_control",
    ),
    "five marks, one on a tool": (
        {"tools": [MARK], "system": [TEXT | MARK] * 4, "messages": [USER]},
        "5 blocks carry cache_control",
    ),
    "mark of another type": (
        {"messages": [_said("user", TEXT | {"cache_control": {"type": "forever"}})]},
        "type ephemeral",
    ),
    "mark of another age": (
        {"messages": [_said("user", TEXT | {"cache_control": {"type": "ephemeral", "ttl": "2h"}})]},
        "neither 5m nor 1h",
    ),
    "long mark after a short one": (
        {"messages": [_said("user", TEXT | MARK, TEXT | {"cache_control": {"type": "ephemeral", "ttl": "1h"}})]},
        "stands after one of 5m",
    ),
    "mark on thinking": (
        {"messages": [USER, _said("assistant", THINKING | MARK, TEXT)]},
        "unknown key 'cache_control'",
    ),
    "mark on an empty text": ({"messages": [_said("user", TEXT | {"text": ""} | MARK)]}, "the text is empty"),
    "image media type": (
        {"messages": _source("image", type="base64", media_type="image/bmp", data="AAAA")},
        "media_type: 'image/bmp'",
    ),
    "image data": ({"messages": _source("image", type="base64", media_type="image/png", data="a b")}, "base64"),
    "image source": ({"messages": _source("image", type="text", data="x")}, "a type of base64, file, url"),
    "image address": ({"messages": _source("image", type="url", url="ftp://x")}, "a web address"),
    "image file": ({"messages": _source("image", type="file")}, "file_id"),
    "document media type": (
        {"messages": _source("document", type="base64", media_type="image/png", data="AAAA")},
        "media_type",
    ),
    "document text": ({"messages": _source("document", type="text", media_type="text/html", data="x")}, "text/plain"),
    "search result without title": (
        {"messages": [_said("user", {"type": "search_result", "source": "s", "content": []})]},
        "source and title",
    ),
    "lone surrogate": ({"messages": [{"role": "user", "content": "a\udc00"}]}, "does not encode to UTF-8"),
}


@pytest.mark.parametrize("request_body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepts(request_body: dict[str, Any]) -> None:
    """A request that the provider documents as valid has no violations."""
    assert check_anthropic_request(request_body) == []


@pytest.mark.parametrize(("request_body", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses(request_body: dict[str, Any], words: str) -> None:
    """A request with one fault is refused, and a violation names that fault."""
    violations = check_anthropic_request(request_body)
    assert any(words in violation for violation in violations), violations


def test_interleaved_thinking_is_accepted_when_allowed() -> None:
    """With interleaved thinking on, thinking may stand between blocks, but the first block must still be thinking."""
    between = {"messages": [USER, _said("assistant", THINKING, TEXT, THINKING, TEXT)]}
    after = {"messages": [USER, _said("assistant", TEXT, THINKING, TEXT)]}
    assert check_anthropic_request(between, interleaved_thinking=True) == []
    assert check_anthropic_request(between) != []
    assert check_anthropic_request(after, interleaved_thinking=True) != []


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([REPLY], "not with the user"),
        ([USER, {"role": "system", "content": "x"}], "system content stands among the messages"),
        ([USER, _said("assistant", _use())], "no tool_result answers"),
        ([_said("user", _result())], "answers no call"),
    ],
)
def test_window_rules_refuse(messages: list[Any], words: str) -> None:
    """A window that starts with the assistant, hides system content in the log or splits a step breaks the rules."""
    assert any(words in violation for violation in check_window_rules({"messages": messages}, kind="anthropic"))


def test_window_rules_accept_a_step() -> None:
    """A window with a whole step passes the window rules."""
    assert check_window_rules({"messages": _step(_use(), _result())}, kind="anthropic") == []
