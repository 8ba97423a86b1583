"""Stored replies as a provider's response again."""

import pytest

from everfold.core.conversations.replays import write_replay
from everfold.core.conversations.replies import StreamedReply, encode_body, read_reply
from everfold.core.conversations.requests import read_request
from everfold.core.log.envelopes import ENVELOPE_KEY
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject, decode_json

CHAT: JsonObject = {
    "role": "assistant",
    "content": "Fine.",
    "refusal": None,
    "reasoning_content": "hm",
    "annotations": [{"type": "url_citation"}],
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}],
}
BLOCKS: list[JsonObject] = [
    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "eHg="},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "quay"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
    {"type": "text", "text": "Fine.", "citations": [{"cited_text": "a"}, {"cited_text": "b"}]},
    {"type": "text", "text": ""},
    {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}, "caller": {"type": "direct"}},
    {"type": "tool_use", "id": "c2", "name": "look", "input": {}},
]
ITEMS: list[JsonObject] = [
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "eHg="},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "Fine.", "annotations": [{"type": "url_citation"}]},
            {"type": "refusal", "refusal": "No."},
        ],
    },
    {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}", "status": "completed"},
]
STORED: list[tuple[WireFormat, JsonObject, JsonObject]] = [
    (
        "openai",
        CHAT,
        {"id": "x", "created": 1, "model": "m", "finish_reason": "tool_calls", "usage": {"prompt_tokens": 9}},
    ),
    (
        "anthropic",
        {"role": "assistant", "content": [*BLOCKS]},
        {"id": "x", "model": "m", "stop_reason": "tool_use", "usage": {"input_tokens": 9}},
    ),
    (
        "responses",
        {"object": "response", "output": [*ITEMS]},
        {"id": "x", "model": "m", "status": "completed", "usage": {"input_tokens": 9}},
    ),
]


@pytest.mark.parametrize(("form", "message", "envelope"), STORED)
def test_a_replay_says_what_is_stored(form: WireFormat, message: JsonObject, envelope: JsonObject) -> None:
    """Plain and streamed, it reads back as the stored message and envelope, and shows nothing of how they are stored."""
    for is_streamed in (False, True):
        body: JsonObject = {
            "stream": is_streamed,
            "stream_options": {"include_usage": True},
            "messages": [],
            "input": [],
        }
        made = write_replay(read_request(form, body), {**message, ENVELOPE_KEY: envelope})
        assert ENVELOPE_KEY.encode() not in made
        if is_streamed:
            stream = StreamedReply(form)
            stream.feed(made)
            reply = stream.read()
        else:
            reply = read_reply(form, decode_json(made))
        assert (reply.wire, reply.envelope, reply.is_whole) == (message, envelope, True)


def test_usage_is_streamed_where_it_is_asked_for() -> None:
    """A chat completion's stream ends with its usage only where the request includes it, as a provider's does."""
    form, message, envelope = STORED[0]
    made = write_replay(read_request(form, {"stream": True, "messages": []}), {**message, ENVELOPE_KEY: envelope})
    assert b"usage" not in made
    assert made.endswith(b"data: [DONE]\n\n")


def test_a_spoken_reply_is_joined_from_its_pieces() -> None:
    """The id, the words and the recording of a streamed spoken reply are those of a plain one."""
    stream = StreamedReply("openai")
    pieces: list[JsonObject] = [{"id": "a1"}, {"transcript": "Spo", "data": "AA"}, {"transcript": "ken.", "data": "BB"}]
    for piece in [*pieces, {"id": "a1", "expires_at": 1}]:
        event: JsonObject = {"choices": [{"index": 0, "delta": {"audio": piece}}]}
        stream.feed(b"data: " + encode_body(event) + b"\n\n")
    audio = {"id": "a1", "transcript": "Spoken.", "data": "AABB", "expires_at": 1}
    assert stream.read().wire == {"role": "assistant", "content": None, "audio": audio}
