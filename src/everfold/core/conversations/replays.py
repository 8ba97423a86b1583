"""Replays: a stored reply as a provider's response again, plain or streamed, for a client that sends its request again.

All of it is what was stored: the message, and its envelope (id, model, ending, usage). A stream gives each part in one piece.

Source: the API references of OpenAI (chat completions and Responses, their streamed events) and Anthropic (messages,
streaming).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from everfold.core.conversations.replies import encode_body
from everfold.core.conversations.requests import ClientRequest
from everfold.core.log.envelopes import ENVELOPE_KEY
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject, JsonValue, list_objects, read_object


def write_replay(request: ClientRequest, wire: JsonObject) -> bytes:
    """The body of the response to a request whose reply is stored.

    Args:
        request: The request that is sent again.
        wire: The stored reply, in the request's form, with its envelope.
    """
    message = {name: value for name, value in wire.items() if name != ENVELOPE_KEY}
    envelope = cast("JsonObject", wire[ENVELOPE_KEY])
    write, stream = _WRITERS[request.form]
    body = write(request, message, envelope)
    return b"".join(stream(request, body)) if request.is_streamed else encode_body(body)


def _write_event(event: JsonObject, name: str = "") -> bytes:
    named = f"event: {name}\n".encode() if name else b""
    return named + b"data: " + json.dumps(event).encode() + b"\n\n"


# --- chat completions


def _write_chat(_: ClientRequest, message: JsonObject, envelope: JsonObject) -> JsonObject:
    head = {name: value for name, value in envelope.items() if name not in ("finish_reason", "usage")}
    choice: JsonObject = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": envelope.get("finish_reason"),
    }
    usage = {name: envelope[name] for name in ("usage",) if name in envelope}
    return {**head, "object": "chat.completion", "choices": [choice], **usage}


def _stream_chat(request: ClientRequest, body: JsonObject) -> Iterator[bytes]:
    [choice] = list_objects(body["choices"])
    head: JsonObject = {name: value for name, value in body.items() if name != "usage"}
    head["object"] = "chat.completion.chunk"
    said: JsonObject = {"index": 0, "delta": _write_delta(read_object(choice["message"])), "finish_reason": None}
    ended: JsonObject = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield _write_event({**head, "choices": [said]})
    yield _write_event({**head, "choices": [ended]})
    if "usage" in body and read_object(request.body.get("stream_options")).get("include_usage") is True:
        yield _write_event({**head, "choices": [], "usage": body["usage"]})
    yield b"data: [DONE]\n\n"


def _write_delta(message: JsonObject) -> JsonObject:
    if "tool_calls" not in message:
        return message
    calls = [{"index": index, **call} for index, call in enumerate(list_objects(message["tool_calls"]))]
    return {**message, "tool_calls": cast("list[JsonValue]", calls)}


# --- Anthropic's messages


def _write_message(_: ClientRequest, message: JsonObject, envelope: JsonObject) -> JsonObject:
    return {"type": "message", "stop_reason": None, "stop_sequence": None, **message, **envelope}


def _stream_message(_: ClientRequest, body: JsonObject) -> Iterator[bytes]:
    ending = ("stop_reason", "stop_sequence")
    begun: JsonObject = {**body, "content": [], **dict.fromkeys(ending)}
    delta: JsonObject = {name: body[name] for name in ending}
    yield _write_named({"type": "message_start", "message": begun})
    for index, block in enumerate(list_objects(body["content"])):
        for event in _list_block_events(block):
            yield _write_named({**event, "index": index})
    yield _write_named({"type": "message_delta", "delta": delta, "usage": body.get("usage")})
    yield _write_named({"type": "message_stop"})


def _list_block_events(block: JsonObject) -> Iterator[JsonObject]:
    """The events of a block: its beginning is empty, as clients join what follows to it."""
    deltas = list(_list_deltas(block)) if block.get("type") in _GROWING else []
    empty: JsonObject = {name: _EMPTY[name] for name in block if name in _EMPTY} if deltas else {}
    yield {"type": "content_block_start", "content_block": {**block, **empty}}
    for delta in deltas:
        yield {"type": "content_block_delta", "delta": delta}
    yield {"type": "content_block_stop"}


_GROWING: Final = ("text", "thinking", "tool_use", "server_tool_use", "mcp_tool_use")
"""The types of blocks that come in pieces; any other comes whole at its beginning."""
_EMPTY: Final[Mapping[str, JsonValue]] = {"text": "", "thinking": "", "signature": "", "citations": [], "input": {}}


def _list_deltas(block: JsonObject) -> Iterator[JsonObject]:
    for name in ("text", "thinking", "signature"):
        if name in block:
            yield {"type": f"{name}_delta", name: block[name]}
    for citation in list_objects(block.get("citations")):
        yield {"type": "citations_delta", "citation": citation}
    if "input" in block:
        yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


# --- Responses


def _write_response(request: ClientRequest, message: JsonObject, envelope: JsonObject) -> JsonObject:
    asked: JsonObject = {name: request.body.get(name, usual) for name, usual in _ASKED.items()}
    return {**asked, "error": None, "incomplete_details": None, **message, **envelope}


_ASKED: Final[Mapping[str, JsonValue]] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
"""What a response repeats of its request, with what holds where the request does not say it."""


def _stream_responses(_: ClientRequest, body: JsonObject) -> Iterator[bytes]:
    for number, event in enumerate(_list_response_events(body)):
        yield _write_named({**event, "sequence_number": number})


def _list_response_events(body: JsonObject) -> Iterator[JsonObject]:
    begun: JsonObject = {**body, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(list_objects(body["output"])):
        for event in _list_item_events(item):
            yield {**event, "output_index": index}
    yield {"type": f"response.{body.get('status', 'completed')}", "response": body}


def _list_item_events(item: JsonObject) -> Iterator[JsonObject]:
    kind, place = item.get("type"), {"item_id": item.get("id")}
    begun: JsonObject = {**item, **_BEGUN.get(str(kind), {})}
    yield {"type": "response.output_item.added", "item": begun}
    if kind == "message":
        for index, part in enumerate(list_objects(item.get("content"))):
            for event in _list_part_events(part):
                yield {**event, **place, "content_index": index}
    if kind == "function_call":
        yield {"type": "response.function_call_arguments.delta", **place, "delta": item.get("arguments")}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": item.get("arguments")}
    yield {"type": "response.output_item.done", "item": item}


_BEGUN: Final[Mapping[str, JsonObject]] = {
    "message": {"content": [], "status": "in_progress"},
    "function_call": {"arguments": "", "status": "in_progress"},
}
"""How an item begins that comes in pieces; any other comes whole at its beginning."""


def _list_part_events(part: JsonObject) -> Iterator[JsonObject]:
    is_text = part.get("type") == "output_text"
    yield {"type": "response.content_part.added", "part": {**part, "text": ""} if is_text else part}
    if is_text:
        yield {"type": "response.output_text.delta", "delta": part.get("text"), "logprobs": []}
        yield {"type": "response.output_text.done", "text": part.get("text"), "logprobs": []}
    yield {"type": "response.content_part.done", "part": part}


def _write_named(event: JsonObject) -> bytes:
    return _write_event(event, str(event["type"]))


_Write = Callable[[ClientRequest, JsonObject, JsonObject], JsonObject]
_Stream = Callable[[ClientRequest, JsonObject], Iterator[bytes]]
_WRITERS: Final[Mapping[WireFormat, tuple[_Write, _Stream]]] = {
    "openai": (_write_chat, _stream_chat),
    "responses": (_write_response, _stream_responses),
    "anthropic": (_write_message, _stream_message),
}
