"""Answers: what the client is sent, and what is read of a provider's answer while it passes."""

import json
from collections.abc import Mapping
from typing import Final

import httpx2
from starlette.types import Message, Send

from everfold.core.conversations.replies import Reply, StreamedReply, read_reply
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject, JsonValue, parse_json
from everfold.core.text.refusals import find_message, is_too_long
from everfold.errors import InvalidInputError
from everfold.server.gateway.callers import SESSION_HEADER
from everfold.server.gateway.replay import Replay
from everfold.server.gateway.turn import Context, Turn
from everfold.server.gateway.upstream import answer_headers

CONTEXT_HEADER: Final = "x-everfold-context"
REASON_HEADER: Final = "x-everfold-reason"


def is_stream(response: httpx2.Response) -> bool:
    """Whether a provider answers with a stream of events."""
    return bool(response.headers.get("content-type", "").startswith("text/event-stream"))


class Reader:
    """Reads an answer while it passes, streamed or plain."""

    def __init__(self, form: WireFormat, response: httpx2.Response) -> None:
        self._form = form
        self._response = response
        self._streamed = StreamedReply(form) if is_stream(response) else None
        self._pieces: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        """Take a piece of it."""
        if self._streamed is not None:
            self._streamed.feed(piece)
        else:
            self._pieces.append(piece)

    def read(self) -> Reply:
        """What it says so far."""
        if self._streamed is not None:
            return self._streamed.read()
        return read_reply(self._form, read_json(unpack(self._response, b"".join(self._pieces))))


class Answer:
    """What the client is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.is_begun = False
        self._is_streamed = False

    async def begin(self, response: httpx2.Response, turn: Turn, *, has_length: bool = True) -> None:
        """Send the head of a provider's answer.

        Args:
            response: The answer.
            turn: The turn that it belongs to.
            has_length: The body that follows is the provider's own, of the length that its head names.
        """
        self._is_streamed = is_stream(response)
        own = answer_headers(response)
        passed = own if has_length else [one for one in own if one[0] != b"content-length"]
        await self._start(response.status_code, [*passed, *_own_headers(turn.context, turn.session_id, turn.reason)])

    async def add(self, piece: bytes) -> None:
        """Send a piece of the body."""
        if piece:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self) -> None:
        """End the body."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_whole(self, response: httpx2.Response, turn: Turn, body: bytes, *, has_length: bool = True) -> None:
        """Send an answer whose body is there."""
        await self.begin(response, turn, has_length=has_length)
        await self.add(body)
        await self.end()

    async def send_replay(self, replay: Replay) -> None:
        """Send a reply that is stored."""
        kind = b"text/event-stream; charset=utf-8" if replay.is_streamed else b"application/json"
        length = (b"content-length", str(len(replay.body)).encode())
        await self._start(200, [(b"content-type", kind), length, *_own_headers("replayed", replay.session_id)])
        await self.add(replay.body)
        await self.end()

    async def refuse(
        self, path: str, status: int, message: str, code: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        """An error of ours, in the form that the client's SDK reads; in a stream that has begun, as its last event."""
        if self.is_begun and not self._is_streamed:
            return
        kind = _ERROR_KINDS.get(status, "api_error")
        error: JsonObject = {"type": kind, "message": message}
        whole: JsonObject = {"type": "error", "error": error}
        if not path.startswith("/v1/messages"):
            whole = {"error": {**error, "code": code, "param": None}}
        if self.is_begun:
            await self.add(b"\n\n" + write_error_event(_find_form(path), whole))
            await self.end()
            return
        body = json.dumps(whole).encode()
        more = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        length = (b"content-length", str(len(body)).encode())
        await self._start(status, [(b"content-type", b"application/json"), length, *more])
        await self._send({"type": "http.response.body", "body": body})

    async def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.is_begun = True
        message: Message = {"type": "http.response.start", "status": status, "headers": headers}
        await self._send(message)


_ERROR_KINDS: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
}


def _find_form(path: str) -> WireFormat:
    if path.startswith("/v1/messages"):
        return "anthropic"
    return "responses" if path.startswith("/v1/responses") else "openai"


def write_error_event(form: WireFormat, told: JsonObject) -> bytes:
    """An error's body as an event of a stream that has begun."""
    if form == "openai":
        return b"data: " + json.dumps(told).encode() + b"\n\n"
    error = told.get("error")
    if form == "responses":
        told = error if isinstance(error, dict) else {}
    return b"event: error\ndata: " + json.dumps({**told, "type": "error"}).encode() + b"\n\n"


def _own_headers(context: Context, session_id: str, reason: str = "") -> list[tuple[bytes, bytes]]:
    headers = [(CONTEXT_HEADER.encode(), context.encode())]
    if session_id:
        headers.append((SESSION_HEADER.encode(), session_id.encode()))
    if reason:
        headers.append((REASON_HEADER.encode(), reason[:200].encode("ascii", "replace")))
    return headers


def tells_too_long(response: httpx2.Response, refusal: bytes) -> bool:
    """Whether a provider refused a request because it does not fit the model's context."""
    told = unpack(response, refusal)
    body = read_json(told)
    said = told.decode("utf-8", "replace") if body is None else body
    error = body.get("error") if isinstance(body, dict) else None
    named = error if isinstance(error, dict) else {}
    return is_too_long(response.status_code, named.get("code"), named.get("type"), find_message(said))


async def read_raw(response: httpx2.Response) -> bytes:
    """The body of an answer as it came, to which the length and the encoding in its headers apply."""
    return b"".join([piece async for piece in response.aiter_raw()])


def unpack(response: httpx2.Response, body: bytes) -> bytes:
    """The body of an answer without its compression; as it came where it has none, or is not compressed as its headers say."""
    if "content-encoding" not in response.headers:
        return body
    try:
        return httpx2.Response(response.status_code, headers=response.headers, content=body).content
    except httpx2.DecodingError:
        return body


def read_json(body: bytes) -> JsonValue:
    """A body as JSON; None where it is none: the provider says then what is wrong with it."""
    try:
        return parse_json(body.decode("utf-8"))
    except (InvalidInputError, UnicodeDecodeError):
        return None
