"""The provider behind the gateway: one client for all requests, and which headers pass in each direction."""

from collections.abc import Iterable, Mapping
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
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers of one connection. Source: RFC 9110, 7.6.1."""
_NOT_SENT: Final = _HOP | {"host", "content-length", "accept-encoding", "expect"}
"""What is not passed to the provider. The answer comes uncompressed, so that it can be read while it passes."""
_OWN: Final = "x-everfold-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """The provider, or both of them by the form of a request.

    Attributes:
        url: Where all requests go; None for the provider of each form.
    """

    client: httpx2.AsyncClient
    url: str | None

    def send(
        self, method: str, path: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> AbstractAsyncContextManager[httpx2.Response]:
        """Send a request; the answer's body is not read yet.

        Args:
            method: As the client gave it.
            path: Its path with the query.
            headers: As `choose_headers` gives them.
            body: What is sent.
        """
        return self.client.stream(method, self._locate(path, headers), headers=list(headers), content=body)

    def _locate(self, path: str, headers: Iterable[tuple[str, str]]) -> str:
        if self.url is not None:
            return self.url + path
        is_anthropic = path.startswith("/v1/messages") or any(name == "anthropic-version" for name, _ in headers)
        return (ANTHROPIC if is_anthropic else OPENAI) + path


def open_upstream(settings: GatewaySettings) -> Upstream:
    """The provider of the settings. Its connections are not bounded: each request of a client has its own."""
    timeout = httpx2.Timeout(settings.timeout_secs, connect=CONNECT_SECS, pool=None)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30.0)
    url = None if settings.upstream is None else settings.upstream.rstrip("/").removesuffix("/v1")
    return Upstream(client=httpx2.AsyncClient(timeout=timeout, limits=limits), url=url)


def choose_headers(given: Mapping[str, str], *, upstream_key: str | None) -> list[tuple[str, str]]:
    """The headers that the provider gets.

    Args:
        given: The client's, by their names in small letters.
        upstream_key: The key in place of the client's; None where the client's own passes.
    """
    headers = [(name, value) for name, value in given.items() if name not in _NOT_SENT and not name.startswith(_OWN)]
    headers.append(("accept-encoding", "identity"))
    if upstream_key is None:
        return headers
    kept = [(name, value) for name, value in headers if name not in ("authorization", "x-api-key")]
    if not upstream_key:
        return kept
    is_anthropic = "x-api-key" in given or "anthropic-version" in given
    return [*kept, ("x-api-key", upstream_key) if is_anthropic else ("authorization", f"Bearer {upstream_key}")]


def answer_headers(response: httpx2.Response) -> list[tuple[bytes, bytes]]:
    """The headers of an answer that the client gets: all but those of the connection."""
    return [(name.lower(), value) for name, value in response.headers.raw if name.lower().decode("latin-1") not in _HOP]
