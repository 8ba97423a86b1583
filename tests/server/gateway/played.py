"""A provider on this machine that answers in all three forms, with what a test tells it to, and keeps what it was sent."""

import gzip
import json
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event
from typing import Any

from everfold.testing.kit.loopback import Loopback

Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One answer that is not the usual one.

    Attributes:
        body: JSON; a reply of the usual form when left out.
        text: What the usual reply says.
        calls: The calls of the usual reply: id, name, arguments.
        is_held: It sends the beginning, and the rest once it is released; a plain answer waits before its head.
        is_cut: It sends the beginning, and then closes the connection.
        is_open: It streams all of it, and closes the connection only once it is released.
        is_packed: A plain answer comes compressed, though none is asked for.
    """

    status: int = 200
    body: Body | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    calls: tuple[tuple[str, str, str], ...] = ()
    is_held: bool = False
    is_cut: bool = False
    is_open: bool = False
    is_packed: bool = False


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request that it got."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Body:
        """The body as JSON; empty where it is no object."""
        try:
            body = json.loads(self.raw)
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    @property
    def text(self) -> str:
        """All of it as text."""
        return self.raw.decode()


class PlayedProvider(Loopback):
    """The server, for as long as it is entered.

    Attributes:
        sent: What it was sent, in order.
        plan: The answers to come; the usual one when there are none.
    """

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.plan: deque[Planned] = deque()
        self.released = Event()
        self._count = 0
        super().__init__(_make_handler(self))

    def release(self) -> None:
        """Let every answer that is held go on."""
        self.released.set()

    def take(self, sent: Sent) -> tuple[Planned, str]:
        """Keep a request, and give its answer with the usual text."""
        self.sent.append(sent)
        self._count += 1
        planned = self.plan.popleft() if self.plan else Planned()
        return planned, f"Reply {self._count}." if planned.text is None else planned.text


def _make_handler(provider: PlayedProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection, for one request."""

        def do_POST(self) -> None:
            """Answer a request with a body."""
            _answer(provider, self)

        def do_GET(self) -> None:
            """Answer a request without one."""
            _answer(provider, self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _answer(provider: PlayedProvider, http: BaseHTTPRequestHandler) -> None:
    raw = http.rfile.read(int(http.headers.get("content-length", 0)))
    headers = {name.lower(): ", ".join(http.headers.get_all(name, ())) for name in http.headers}
    sent = Sent(method=http.command, path=http.path, headers=headers, raw=raw)
    planned, text = provider.take(sent)
    with suppress(OSError):  # the client may be gone by now
        if sent.body.get("stream") and planned.body is None:
            _stream(provider, http, planned, list(stream_reply(http.path, text, planned.calls)))
            return
        if planned.is_held:
            provider.released.wait(60)
        body = planned.body if planned.body is not None else reply(http.path, text, planned.calls)
        written = json.dumps(body).encode()
        packed = {"content-encoding": "gzip"} if planned.is_packed else {}
        written = gzip.compress(written) if packed else written
        _head(http, planned, {"content-type": "application/json", "content-length": str(len(written)), **packed})
        http.wfile.write(written)


def _stream(provider: PlayedProvider, http: BaseHTTPRequestHandler, planned: Planned, events: list[str]) -> None:
    _head(http, planned, {"content-type": "text/event-stream"})
    half = len(events) // 2
    for at, event in enumerate(events):
        if at == half and planned.is_cut:
            return
        if at == half and planned.is_held:
            provider.released.wait(60)
        http.wfile.write(event.encode())
        http.wfile.flush()
    if planned.is_open:
        provider.released.wait(60)


def _head(http: BaseHTTPRequestHandler, planned: Planned, headers: Mapping[str, str]) -> None:
    http.send_response(planned.status)
    for name, value in {**headers, "x-request-id": "req_provider", **planned.headers}.items():
        http.send_header(name, value)
    http.end_headers()


Calls = tuple[tuple[str, str, str], ...]


def reply(path: str, text: str, calls: Calls = ()) -> Body:
    """A plain answer in the form of a route."""
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        message: Body = {"role": "assistant", "content": text, "refusal": None, "reasoning_content": "hm"}
        if calls:
            message["tool_calls"] = [_chat_call(call) for call in calls]
        finish = "tool_calls" if calls else "stop"
        return {
            "id": make_id("chatcmpl"),
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
    if path.endswith("/responses"):
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        return {
            "id": make_id("resp"),
            "object": "response",
            "status": "completed",
            "output": _items(text, calls),
            "usage": usage,
        }
    if path.endswith("/messages"):
        stop = "tool_use" if calls else "end_turn"
        usage = {"input_tokens": 10, "output_tokens": 5}
        head = {"id": make_id("msg"), "type": "message", "role": "assistant", "model": "m", "stop_reason": stop}
        return {**head, "content": _blocks(text, calls), "usage": usage}
    return {"object": "list", "data": [{"id": "m", "object": "model"}]}


def make_id(kind: str) -> str:
    """An id that no other answer has: clients join messages of one id."""
    return f"{kind}_{uuid.uuid4().hex[:12]}"


def _chat_call(call: tuple[str, str, str]) -> Body:
    return {"id": call[0], "type": "function", "function": {"name": call[1], "arguments": call[2]}}


def _items(text: str, calls: Calls) -> list[Body]:
    part = {"type": "output_text", "text": text, "annotations": []}
    said: list[Body] = [
        {"id": make_id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    ]
    made: list[Body] = [
        {
            "id": f"fc_{id_}",
            "type": "function_call",
            "call_id": id_,
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for id_, name, arguments in calls
    ]
    return made or said


def _blocks(text: str, calls: Calls) -> list[Body]:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    made = [{"type": "tool_use", "id": id_, "name": name, "input": json.loads(given)} for id_, name, given in calls]
    return [thinking, {"type": "text", "text": text}, *made]


def stream_reply(path: str, text: str, calls: Calls = ()) -> Iterator[str]:
    """The events of a streamed answer in the form of a route."""
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    if path.endswith("/chat/completions"):
        yield from _stream_chat(pieces, calls)
    elif path.endswith("/responses"):
        yield from _stream_responses(text, pieces, calls)
    else:
        yield from _stream_messages(pieces, calls)


def _event(value: Body, *, is_named: bool = False) -> str:
    name = f"event: {value['type']}\n" if is_named else ""
    return f"{name}data: {json.dumps(value)}\n\n"


def _stream_chat(pieces: list[str], calls: Calls) -> Iterator[str]:
    def chunk(delta: Body, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({"id": make_id("chatcmpl"), "object": "chat.completion.chunk", "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces:
        yield chunk({"content": piece})
    for at, call in enumerate(calls):
        whole = _chat_call(call)
        yield chunk({"tool_calls": [{"index": at, **whole, "function": {"name": call[1], "arguments": ""}}]})
        for half in (call[2][:3], call[2][3:]):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": half}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield _event({"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 10, "total_tokens": 15}})
    yield "data: [DONE]\n\n"


def _stream_responses(text: str, pieces: list[str], calls: Calls) -> Iterator[str]:
    yield _event(
        {"type": "response.created", "response": {"id": make_id("resp"), "status": "in_progress"}}, is_named=True
    )
    for piece in pieces:
        yield _event({"type": "response.output_text.delta", "output_index": 0, "delta": piece}, is_named=True)
    for at, item in enumerate(_items(text, calls)):
        yield _event({"type": "response.output_item.done", "output_index": at, "item": item}, is_named=True)
    yield _event({"type": "response.completed", "response": reply("/v1/responses", text, calls)}, is_named=True)


def _stream_messages(pieces: list[str], calls: Calls) -> Iterator[str]:
    def event(kind: str, **members: object) -> str:
        return _event({"type": kind, **members}, is_named=True)

    yield event(
        "message_start",
        message={"id": make_id("msg"), "role": "assistant", "content": [], "usage": {"input_tokens": 10}},
    )
    yield event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
    yield event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "hm"})
    yield event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "c2ln"})
    yield event("content_block_stop", index=0)
    yield event("content_block_start", index=1, content_block={"type": "text", "text": ""})
    for piece in pieces:
        yield event("content_block_delta", index=1, delta={"type": "text_delta", "text": piece})
    yield event("content_block_stop", index=1)
    for at, (id_, name, arguments) in enumerate(calls, 2):
        yield event(
            "content_block_start", index=at, content_block={"type": "tool_use", "id": id_, "name": name, "input": {}}
        )
        for half in (arguments[:3], arguments[3:]):
            yield event("content_block_delta", index=at, delta={"type": "input_json_delta", "partial_json": half})
        yield event("content_block_stop", index=at)
    yield event("message_delta", delta={"stop_reason": "tool_use" if calls else "end_turn"}, usage={"output_tokens": 5})
    yield event("message_stop")
