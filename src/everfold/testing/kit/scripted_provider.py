"""A server on this machine that plays the provider of a whole conversation: the user's words say what it is to do.

It speaks OpenAI's chat completions and Responses and Anthropic's messages, plain and streamed. In the newest text of the user it looks for a marker
(`MARK-7`), and for what that turn is to be: `[tools 3]` asks for three calls at once, `[steps 40]` for forty, one after
another, `[broken]` for one of a tool that fails, `[history 2]` reads the history twice first, `[busy 3]` refuses three times with 503 first, `[held]` streams the
beginning of its answer and then nothing until `release`. It keeps no list of messages: how far a turn is, it counts.

Source: the API references of OpenAI (chat completions, Responses) and Anthropic (messages), and their streamed events.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from typing import Any, Final, NamedTuple

from everfold.core.text.tokens import estimate_text_tokens
from everfold.testing.kit.loopback import Loopback

MARK: Final = re.compile(r"MARK-\w+")
HELD_SECS: Final = 2
"""So long a held answer waits at most."""
_SAID: Final = re.compile(r"^MARK-\w+ .*", re.MULTILINE)
"""What the user said, at the beginning of a line: what is recalled of it elsewhere does not begin one."""
_DIRECTIVE: Final = re.compile(r"\[(history|tools|steps|busy|broken|held)(?: (\d+))?\]")
_PIECES_COUNT: Final = 4
_SAYING: Final = ('"content": "', "output_text.delta", "text_delta")
"""What an event has that says a piece of a text, in each form."""

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """One request that the provider got.

    Attributes:
        mark: The marker in the newest text of the user; empty when there is none.
        status: What it was answered with.
    """

    path: str
    body: Body
    mark: str
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What is said: a text, or calls of a tool."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    is_held: bool = False


def list_user_texts(body: Body) -> list[str]:
    """The texts of the user in a request of any form, newest first."""
    items = body.get("messages", body.get("input", []))
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    return [_join(item.get("content")) for item in reversed(items) if item.get("role") == "user"]


def count_request_tokens(body: Body) -> int:
    """What a request weighs: the texts, the arguments and results of its calls, and its tools, by the fixed estimate."""
    texts = list(_walk([body.get(name) for name in ("messages", "input", "instructions", "system", "tools")]))
    return sum(map(estimate_text_tokens, texts))


def write_answer(mark: str) -> str:
    """What a turn is answered in the end."""
    figures = ", ".join(f"{mark} has figure {number * 37 % 1000}" for number in range(1, 13))
    return f"Answer to {mark}: {figures}."


class ScriptedProvider(Loopback):
    """The server, for as long as it is entered.

    Attributes:
        asked: What it was asked so far, in order.
    """

    def __init__(self) -> None:
        self.asked: list[ProviderRequest] = []
        self._counts: Counter[str] = Counter()
        self._lock = Lock()
        self._released = Event()
        super().__init__(_make_handler(self))

    @property
    def url(self) -> str:
        """The base address for a client of OpenAI."""
        return f"{super().url}/v1"

    def release(self) -> None:
        """Let every answer that is held end."""
        self._released.set()

    def wait_for_release(self) -> None:
        """Hold an answer."""
        self._released.wait(HELD_SECS)
        self._released.clear()

    def take(self, path: str, body: Body) -> _Answer | None:
        """Keep a request and give its answer; None where the provider is busy."""
        text = next((said[-1] for text in list_user_texts(body) if (said := _SAID.findall(text))), "")
        mark = text.partition(" ")[0]
        wanted = {name: int(count or 1) for name, count in _DIRECTIVE.findall(text)}
        with self._lock:
            is_busy = sum(it.mark == mark for it in self.asked) < wanted.get("busy", 0)
            self.asked.append(ProviderRequest(path=path, body=body, mark=mark, status=503 if is_busy else 200))
            if is_busy:
                return None
            self._counts[mark] += 1
            return _choose(mark, wanted, self._counts[mark])


def _choose(mark: str, wanted: Mapping[str, int], number: int) -> _Answer:
    """The answer to the request of a turn with this number."""
    if number <= wanted.get("history", 0):
        return _Answer(calls=((f"call_{mark}_history_{number}", "history_search", mark),))
    number -= wanted.get("history", 0)
    if "tools" in wanted and number == 1:
        calls = [(f"call_{mark}_{at}", "look_up", f"{mark}/{at}") for at in range(1, wanted["tools"] + 1)]
        return _Answer(calls=tuple(calls))
    if number <= wanted.get("steps", 0):
        return _Answer(calls=((f"call_{mark}_{number}", "look_up", f"{mark}/{number}"),))
    if "broken" in wanted and number == 1:
        return _Answer(calls=((f"call_{mark}_1", "explode", f"{mark}/1"),))
    return _Answer(text=write_answer(mark), is_held="held" in wanted)


def _make_handler(provider: ScriptedProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One connection, for one request."""

        def do_POST(self) -> None:
            """Answer a request, plain or streamed."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = provider.take(self.path, body)
            form = _find_form(self.path)
            with suppress(OSError):  # the client may be gone by now
                if answer is None:
                    self._send(503, {"error": {"message": "busy", "type": "server_error", "code": None}})
                elif body.get("stream"):
                    self._stream(form.stream(answer, body), answer)
                else:
                    self._send(200, form.write(answer, body))

        def _send(self, status: int, value: Body) -> None:
            written = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(written)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(written)

        def _stream(self, events: Iterator[str], answer: _Answer) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            said = 0
            for event in events:
                self.wfile.write(event.encode())
                self.wfile.flush()
                said += any(mark in event for mark in _SAYING)
                if answer.is_held and said == _PIECES_COUNT // 2:
                    provider.wait_for_release()
                    return

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


class _Form(NamedTuple):
    """How a form is answered, plain and streamed."""

    write: Callable[["_Answer", Body], dict[str, Any]]
    stream: Callable[["_Answer", Body], Iterator[str]]


def _find_form(path: str) -> _Form:
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return _Form(_chat, _stream_chat)
    return _Form(_message, _stream_message) if path.endswith("/messages") else _Form(_response, _stream_responses)


def _usage(answer: _Answer, body: Body, read: str, written: str) -> dict[str, Any]:
    """What a request and its answer cost, under the names of either form."""
    counts = (count_request_tokens(body), 1 + estimate_text_tokens(answer.text))
    details = {f"{read}_details": {"cached_tokens": 0}, f"{written}_details": {"reasoning_tokens": 0}}
    return {read: counts[0], written: counts[1], "total_tokens": sum(counts), **details}


def _write_calls(answer: _Answer) -> list[dict[str, Any]]:
    return [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(_give(name, key))}}
        for id_, name, key in answer.calls
    ]


def _give(name: str, key: str) -> dict[str, str]:
    return {"query" if name == "history_search" else "key": key}


def _chat(answer: _Answer, body: Body) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = _write_calls(answer)
    finish = "tool_calls" if answer.calls else "stop"
    return {
        **_chat_head("chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(answer, body, "prompt_tokens", "completion_tokens"),
    }


def _chat_head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1924992000, "model": "scripted"}


def _stream_chat(answer: _Answer, body: Body) -> Iterator[str]:
    def chunk(delta: Body, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**_chat_head("chat.completion.chunk"), "choices": [choice]})

    yield chunk({"role": "assistant"})
    for piece in _split(answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(_write_calls(answer)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    usage = _usage(answer, body, "prompt_tokens", "completion_tokens")
    yield _event({**_chat_head("chat.completion.chunk"), "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _response(answer: _Answer, body: Body, *, status: str = "completed") -> dict[str, Any]:
    is_done = status == "completed"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1924992000,
        "status": status,
        "model": "scripted",
        "output": _response_items(answer) if is_done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(answer, body, "input_tokens", "output_tokens") if is_done else None,
    }


def _response_items(answer: _Answer) -> list[dict[str, Any]]:
    if not answer.calls:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        return [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}]
    return [
        {
            "id": f"fc_{id_}",
            "type": "function_call",
            "call_id": id_,
            "name": name,
            "arguments": json.dumps(_give(name, key)),
            "status": "completed",
        }
        for id_, name, key in answer.calls
    ]


def _stream_responses(answer: _Answer, body: Body) -> Iterator[str]:
    for number, (kind, members) in enumerate(_list_response_events(answer, body)):
        yield f"event: {kind}\n" + _event({"type": kind, "sequence_number": number, **members})


def _list_response_events(answer: _Answer, body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.created", {"response": _response(answer, body, status="in_progress")}
    for index, item in enumerate(_response_items(answer)):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            begun = {**item, "content": [], "status": "in_progress"}
            yield "response.output_item.added", {"output_index": index, "item": begun}
            yield from _list_text_events(item["content"][0], {**place, "content_index": 0})
        else:
            begun = {**item, "arguments": "", "status": "in_progress"}
            yield "response.output_item.added", {"output_index": index, "item": begun}
            yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": _response(answer, body)}


def _list_text_events(part: Body, place: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
    for piece in _split(part["text"]):
        yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**place, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**place, "part": part}


def _message(answer: _Answer, body: Body) -> dict[str, Any]:
    usage = {"input_tokens": count_request_tokens(body), "output_tokens": 1 + estimate_text_tokens(answer.text)}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None}
    stop = "tool_use" if answer.calls else "end_turn"
    return {**head, "content": _blocks(answer), "stop_reason": stop, "usage": usage}


def _blocks(answer: _Answer) -> list[dict[str, Any]]:
    if not answer.calls:
        return [{"type": "text", "text": answer.text}]
    return [{"type": "tool_use", "id": id_, "name": name, "input": _give(name, key)} for id_, name, key in answer.calls]


def _stream_message(answer: _Answer, body: Body) -> Iterator[str]:
    for kind, members in _list_message_events(answer, body):
        yield f"event: {kind}\n" + _event({"type": kind, **members})


def _list_message_events(answer: _Answer, body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    whole = _message(answer, body)
    yield "message_start", {"message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        begun = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield "content_block_start", {"index": index, "content_block": begun}
        for piece in _split(block["text"] if is_text else json.dumps(block["input"])):
            said = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield "content_block_delta", {"index": index, "delta": said}
        yield "content_block_stop", {"index": index}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": delta, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield "message_stop", {}


def _event(value: Body) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _split(text: str) -> list[str]:
    size = -(-len(text) // _PIECES_COUNT)
    return [text[at : at + size] for at in range(0, len(text), size)] if text else []


def _join(content: Any) -> str:
    """The text of a content, whichever form it has."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if isinstance(part.get("text"), str))


def _walk(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _walk(member)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)
