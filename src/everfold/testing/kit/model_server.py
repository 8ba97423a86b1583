"""A server on this machine that answers as a provider of models does, with what a test tells it to.

It speaks OpenAI's chat completions (`/v1/chat/completions`) and Anthropic's messages (`/v1/messages`), knows nothing and
calls no other machine. What it was asked is kept, headers and all.

Source: the API references of OpenAI (chat completions, error codes) and Anthropic (messages, errors).
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from threading import Event

from everfold.core.primitives.json_values import JsonObject
from everfold.testing.kit.loopback import Loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of the server.

    Attributes:
        body: JSON as bytes, or whatever else a test wants to send.
        is_held: It is sent only when the server closes: a model that does not answer.
    """

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    is_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that the server got; the names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: JsonObject


class ModelServer(Loopback):
    """Gives its answers in order, the last one again and again.

    Attributes:
        asked: What it was asked so far, in order.
    """

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[Asked] = []
        self._answers = answers or (Answer(body=openai_answer("Fine.")),)
        self._is_closing = Event()
        super().__init__(_make_handler(self), waits=True)

    def release(self) -> None:
        """Let the answers that wait for the end go on."""
        self._is_closing.set()

    def take(self, asked: Asked) -> Answer:
        """Keep a request and give its answer, when it is due."""
        self.asked.append(asked)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if answer.is_held:
            self._is_closing.wait()
        return answer


def _make_handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection, for one request."""

        def do_POST(self) -> None:
            """Answer a request for text."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.take(Asked(path=self.path, headers=headers, body=body))
            with suppress(OSError):  # the client may be gone by now
                self.send_response(answer.status)
                self.send_header("content-type", answer.content_type)
                self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


def openai_answer(text: str | None, *, finish: str = "stop", refusal: str | None = None, calls: bool = False) -> bytes:
    """A chat completion: 1000 tokens read, 400 of them from the cache, 50 written."""
    call: JsonObject = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    message: JsonObject = {"role": "assistant", "content": text, "refusal": refusal}
    if calls:
        message["tool_calls"] = [call]
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1924992000,
            "model": "gpt-5-mini-2031-01-01",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": 1000,
                "completion_tokens": 50,
                "total_tokens": 1050,
                "prompt_tokens_details": {"cached_tokens": 400},
            },
        }
    ).encode()


def anthropic_answer(text: str, *, stop: str = "end_turn", calls: bool = False) -> bytes:
    """A message: 1000 tokens read, 400 of them from the cache and 100 into it, 50 written."""
    call: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
    said: JsonObject = {"type": "text", "text": text}
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5-20251001",
            "content": [said, call] if calls else [said],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 500,
                "cache_read_input_tokens": 400,
                "cache_creation_input_tokens": 100,
                "output_tokens": 50,
            },
        }
    ).encode()


def openai_error(status: int, message: str, *, code: str | None = None, kind: str | None = None) -> Answer:
    """An error as OpenAI and the servers that follow it tell one."""
    error: JsonObject = {"message": message, "type": kind, "code": code, "param": None}
    return Answer(status=status, body=json.dumps({"error": error}).encode())


def anthropic_error(status: int, message: str, *, kind: str) -> Answer:
    """An error as Anthropic tells one."""
    error: JsonObject = {"type": kind, "message": message}
    return Answer(status=status, body=json.dumps({"type": "error", "error": error}).encode())
