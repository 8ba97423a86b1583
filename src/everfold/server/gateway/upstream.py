"""The provider behind the gateway: one client for all requests, and which headers pass in each direction."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

import httpx2

from everfold.sections import GatewaySettings

OPENAI: Final = "https://api.openai.com"
ANTHROPIC: Final = "https://api.anthropic.com"
CONNECT_SECS: Final = 10.0
_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers of one connection. Source: RFC 9110, 7.6.1."""
_NOT_SENT: Final = _HOP | {b"host", b"content-length", b"accept-encoding", b"expect"}
"""What is not passed to the provider. The answer comes uncompressed, so that it can be read while it passes."""
_OWN: Final = b"x-everfold-"

Header = tuple[bytes, bytes]
"""The name in small letters, and the value, as they are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The provider, or both of them by the form of a request.

    Attributes:
        url: Where all requests go; None for the provider of each form.
    """

    client: httpx2.AsyncClient
    url: str | None

    def send(
        self, method: str, path: str, headers: Sequence[Header], body: bytes
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        """Send a request; the answer's body is not read yet.

        Args:
            method: As the client gave it.
            path: Its path with the query, as the client gave it.
            headers: As `choose_headers` gives them.
            body: What is sent.

        Raises:
            httpx2.InvalidURL: The path is too long for a URL.
        """
        return self.client.stream(method, self._locate(path, headers), headers=headers, content=body)

    def _locate(self, path: str, headers: Iterable[Header]) -> str:
        if self.url is not None:
            return self.url + path
        is_anthropic = path.startswith("/v1/messages") or any(name == b"anthropic-version" for name, _ in headers)
        return (ANTHROPIC if is_anthropic else OPENAI) + path


def open_upstream(settings: GatewaySettings) -> Upstream:
    """The provider of the settings. Its connections are not bounded: each request of a client has its own."""
    timeout = httpx2.Timeout(settings.timeout_secs, connect=CONNECT_SECS, pool=None)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30.0)
    url = None if settings.upstream is None else settings.upstream.rstrip("/").removesuffix("/v1")
    return Upstream(client=httpx2.AsyncClient(timeout=timeout, limits=limits), url=url)


def choose_headers(given: Iterable[Header], *, upstream_key: str | None) -> list[Header]:
    """The headers that the provider gets, in their order.

    Args:
        given: The client's.
        upstream_key: The key in place of the client's; None where the client's own passes.
    """
    headers = [(name, value) for name, value in given if name not in _NOT_SENT and not name.startswith(_OWN)]
    headers.append((b"accept-encoding", b"identity"))
    if upstream_key is None:
        return headers
    kept = [(name, value) for name, value in headers if name not in (b"authorization", b"x-api-key")]
    if not upstream_key:
        return kept
    is_anthropic = any(name in (b"x-api-key", b"anthropic-version") for name, _ in headers)
    key = upstream_key.encode()
    return [*kept, (b"x-api-key", key) if is_anthropic else (b"authorization", b"Bearer " + key)]


def answer_headers(response: httpx2.Response) -> list[Header]:
    """The headers of an answer that the client gets: all but those of the connection."""
    return [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _HOP]
