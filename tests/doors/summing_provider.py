"""A provider on this machine that remembers nothing: it says `Understood.`, and a summary of no worth where it is asked.

It speaks Anthropic's messages, OpenAI's Responses and chat completions, streamed as coding agents ask for them. A prompt
with `BIG` in it counts as a full context, so that a client compacts.

Source: the API references of Anthropic (messages, streaming) and OpenAI (Responses, chat completions).
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any, Final

from everfold.testing.kit.loopback import Loopback

BIG: Final = "FILL-THE-CONTEXT"
SUMMARY: Final = "<summary>The user and the assistant talked about the project.</summary>"

Event = tuple[str, dict[str, Any]]


class SummingProvider(Loopback):
    """The server, for as long as it is entered."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._numbers = count(1)
        super().__init__(_make_handler(self))

    @property
    def url(self) -> str:
        """The base address for a client of OpenAI."""
        return f"{super().url}/v1"

    def find_request(self, prompt: str) -> list[str]:
        """The texts of the newest request that has a prompt and is no request for a title."""
        walked = [list(_walk(body)) for body in self.bodies]
        found = [texts for texts in walked if any(prompt in text for text in texts)]
        return max(found[-3:], key=lambda texts: sum(map(len, texts)))

    def answer(self, path: str, body: dict[str, Any]) -> Iterator[Event]:
        """The streamed events of an answer."""
        self.bodies.append(body)
        newest = [text for one in (body.get("messages") or body.get("input") or [])[-1:] for text in _walk(one)]
        asked = "\n".join(newest)
        text = SUMMARY if "summar" in asked.lower() and "4711" not in asked.split("\n")[0] else "Understood."
        tokens = 90_000 if BIG in asked and "summar" not in asked.lower() else 2_000
        number = next(self._numbers)
        if path.endswith("/messages"):
            return _stream_anthropic(text, tokens, number)
        if path.endswith("/responses"):
            return _stream_responses(text, tokens, number)
        return _stream_chat(text, tokens, number)


def _stream_anthropic(text: str, tokens: int, number: int) -> Iterator[Event]:
    usage = {"input_tokens": tokens, "output_tokens": 5}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
    begun = {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": begun}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    yield "message_stop", {}


def _stream_responses(text: str, tokens: int, number: int) -> Iterator[Event]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    counts = {"input_tokens": tokens, "output_tokens": 5, "total_tokens": tokens + 5}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    response = {"id": f"resp_{number}", "object": "response", "model": "m", "output": [item]}
    yield "response.created", {"response": {**response, "status": "in_progress", "output": []}}
    yield "response.output_item.added", {"output_index": 0, "item": {**item, "content": []}}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield "response.output_text.delta", {**place, "delta": text}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": {**response, "status": "completed", "usage": {**counts, **details}}}


def _stream_chat(text: str, tokens: int, number: int) -> Iterator[Event]:
    head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    yield (
        "",
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]},
    )
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield "", {**head, "choices": [], "usage": usage}


def _make_handler(provider: SummingProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """There are no models to list."""
            self._send("application/json", b'{"object": "list", "data": [], "models": []}')

        def do_POST(self) -> None:
            """Answer a request with a stream."""
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self._send("application/json", b'{"input_tokens": 2000}')
                return
            parts = [_write(kind, members) for kind, members in provider.answer(path, body)]
            self._send(
                "text/event-stream", ("".join(parts) + "data: [DONE]\n\n" * path.endswith("/completions")).encode()
            )

        def _send(self, kind: str, data: bytes) -> None:
            with suppress(OSError):  # the client may be gone
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def _write(kind: str, members: dict[str, Any]) -> str:
    return (
        f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n"
        if kind
        else f"data: {json.dumps(members)}\n\n"
    )


def _walk(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _walk(member)
    elif isinstance(value, list):
        for one in value:
            yield from _walk(one)
