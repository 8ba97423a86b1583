"""Asking an app in this process, streams too: a reader who has heard enough of one leaves, as a browser does."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

from starlette.types import ASGIApp, Message

STREAM: Final = "text/event-stream"
SECS: Final = 120.0
"""How long an answer may take, or the end of a stream whose reader has left; it only ends a test that hangs."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a request was answered with."""

    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode("utf-8", "replace")

    @property
    def body(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    def header(self, name: str) -> str:
        """A header; empty where there is none."""
        return next((value for key, value in self.headers if key == name), "")


@dataclass
class _Exchange:
    """One request and what comes back."""

    content: bytes
    is_sent: bool = False
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Message:
        """The body, and then that the reader has left, once they have."""
        if not self.is_sent:
            self.is_sent = True
            return {"type": "http.request", "body": self.content, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take what comes back."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(key.decode("latin-1"), value.decode("latin-1")) for key, value in message["headers"]]
            self.begun.set()
        elif message["type"] == "http.response.body":
            self.chunks.append(message.get("body", b""))


async def ask(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    secret: str | None = None,
    query: Mapping[str, object] | str = "",
    body: object = None,
    headers: Mapping[str, str] | None = None,
    stream_secs: float = 0.05,
) -> Answer:
    """Ask, and give the whole answer; of a stream without an end what came in so many seconds.

    A body that is bytes is sent as it is, any other as JSON.

    Raises:
        TimeoutError: it did not answer, or a stream went on when its reader had left.
    """
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode("ascii")
    given = {"host": "everfold.test", "content-length": str(len(content))}
    if content:
        given["content-type"] = "application/json"
    if secret is not None:
        given["authorization"] = f"Bearer {secret}"
    given |= {name.lower(): value for name, value in (headers or {}).items()}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": quote(path, safe="/%").encode("ascii"),
        "root_path": "",
        "query_string": (query if isinstance(query, str) else urlencode(query, doseq=True)).encode("latin-1"),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("everfold.test", 80),
    }
    exchange = _Exchange(content)
    task = asyncio.ensure_future(app(scope, exchange.receive, exchange.send))
    begun = asyncio.ensure_future(exchange.begun.wait())
    try:
        async with asyncio.timeout(SECS):
            await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
            if any(key == "content-type" and value.startswith(STREAM) for key, value in exchange.headers):
                await asyncio.wait({task}, timeout=stream_secs)
                exchange.left.set()
            await task
    finally:
        begun.cancel()
        task.cancel()
    return Answer(status=exchange.status, headers=tuple(exchange.headers), content=b"".join(exchange.chunks))
