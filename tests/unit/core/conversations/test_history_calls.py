"""What a request with our tools is, and what becomes of calls of them, in each form."""

import json
from typing import Any

import pytest

from everfold.core.conversations.history_calls import extend_body, offer, write_reply
from everfold.core.conversations.joined_replies import begin_joining
from everfold.core.conversations.requests import read_request

NAMES = frozenset({"history_search", "history_read"})
ASKED = {"role": "user", "content": "One?"}


@pytest.mark.parametrize("more", [{"n": 2}, {"functions": [{"name": "look"}]}])
def test_none_is_offered_where_it_cannot_be_answered(more: dict[str, Any]) -> None:
    """Several replies, and tools in the old form, leave a request as it is."""
    request = read_request("openai", {"model": "m", "messages": [ASKED], **more})
    assert offer(request) == (request, frozenset())


def test_both_clash() -> None:
    """Where the client uses both names itself, the request is left as it is."""
    tools: list[Any] = [{"type": "function", "name": name, "parameters": {}} for name in sorted(NAMES)]
    request = read_request("responses", {"input": "One?", "tools": tools})
    assert offer(request) == (request, frozenset())


@pytest.mark.parametrize(("store", "kinds"), [(False, ["function_call"]), (True, ["reasoning", "function_call"])])
def test_reasoning_goes_back_where_the_provider_has_it(kinds: list[str], *, store: bool) -> None:
    """Reasoning without its content is left out of a request whose provider stores nothing; a text becomes a message."""
    output: list[Any] = [{"type": "reasoning", "id": "rs_1"}, {"type": "function_call", "call_id": "h1", "name": "a"}]
    made = write_reply("responses", {"object": "response", "output": output})
    body = extend_body("responses", {"input": "One?", "store": store}, made)
    assert body["input"] == [ASKED, *[item for item in output if item["type"] in kinds]]


def chunk(delta: dict[str, Any], finish: str | None = None, **more: object) -> str:
    """One event of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "data: " + json.dumps({"id": "a", "choices": [choice], **more}) + "\n\n"


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_stream_without_our_calls_passes_in_its_own_bytes(size: int, ending: str) -> None:
    """However a stream is cut and its lines end, what has no call of ours comes out as it went in, comments too."""
    calls = [{"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    events = [chunk({"role": "assistant", "content": ""}), ": still here\n\n", chunk({"content": "Hé."})]
    events += [chunk({"tool_calls": calls}), chunk({}, "tool_calls"), "data: [DONE]\n\n"]
    raw = "".join(events).replace("\n", ending).encode()
    joined = begin_joining("openai", NAMES, is_streamed=True)
    passed = b"".join([joined.feed(raw[at : at + size]) for at in range(0, len(raw), size)])
    joined.end_round()
    assert passed + joined.finish() == raw


def test_text_in_the_chunk_that_ends_an_answer_is_passed_on() -> None:
    """A provider may end an answer in the chunk of its last words: these are not kept back with the end."""
    joined = begin_joining("openai", NAMES, is_streamed=True)
    call = {"index": 0, "id": "h1", "function": {"name": "history_search", "arguments": "{}"}}
    first = chunk({"content": "Let me look."}) + chunk({"tool_calls": [call], "content": "Now."}, "tool_calls")
    passed = joined.feed(first.encode())
    assert joined.end_round().wire is not None
    passed += joined.feed(chunk({"role": "assistant", "content": "Found."}, "stop").encode() + b"data: [DONE]\n\n")
    joined.end_round()
    passed += joined.finish()
    wire = joined.read().wire
    assert wire is not None
    assert wire["content"] == "Let me look.Now.\n\nFound."
    assert b"history_search" not in passed
    assert passed.count(b'"finish_reason": "stop"') == passed.count(b"[DONE]") == 1
