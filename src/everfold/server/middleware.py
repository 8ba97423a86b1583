"""The middleware: what every request passes before a route sees it, as plain ASGI so that it costs little.

Each request gets an id, a caller (from its key) and a bound on its body; each answer gets the id and the headers that
keep a browser safe. What a caller may see is decided by `access`, route by route.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everfold.core.access.api_keys import ApiKey
from everfold.errors import EverfoldError, ForbiddenError
from everfold.ports.system import Ids
from everfold.ports.tracing import Tracer
from everfold.sections import ServerSettings
from everfold.server.bodies import Body, Bounds, bound_body
from everfold.server.hosts import Hosts
from everfold.server.metrics import Metrics
from everfold.server.problems import make_problem, tell_error, tell_failure

COOKIE: Final = "everfold_key"
"""Holds the key that the dashboard was signed in with."""

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Nothing from elsewhere, nothing inline. Source: W3C Content Security Policy Level 3."""

SECURITY_HEADERS: Final[Sequence[tuple[str, str]]] = (
    ("Content-Security-Policy", CONTENT_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
)
"""Source: OWASP Secure Headers Project."""

_SENT_HEADERS: Final = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in SECURITY_HEADERS]

SPAN: Final = "everfold.request"

_STOPPED: Final = "the server was stopped before this was answered; send it again once it is back"

_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
FILE_PATH: Final = "/api/imports"
FILE_TYPE: Final = "application/octet-stream"
"""The one route that takes a file as it is."""

_FILE: Final = re.compile(re.escape(FILE_TYPE), re.IGNORECASE)
_FILE_SECS: Final = 600.0
"""How long a client may take to send a file. Source: own choice, 200 MB at a slow 3 Mbit/s."""

_JSON: Final = re.compile(r"application/(?:[\w.+-]+\+)?json(?:\s*;.*)?", re.IGNORECASE)

_logger = logging.getLogger("everfold.server")

Identify = Callable[[str, str], Awaitable[ApiKey]]
"""Gives the key with a secret that an address sends; raises `UnauthenticatedError`."""


class Middleware:
    """What every request passes.

    Args:
        app: What is behind it.
        identify: Tells keys by their secrets, and refuses one that asks too often.
        ids: Makes the ids of requests.
        settings: The largest body that is read, and how long it may take.
        hosts: What may stand in `Host`; None for everything.
        metrics: Counts what is answered.
        tracer: Takes a span for each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        identify: Identify,
        ids: Ids,
        settings: ServerSettings,
        hosts: Hosts | None,
        metrics: Metrics,
        tracer: Tracer,
    ) -> None:
        self._app = app
        self._identify = identify
        self._ids = ids
        self._bounds = bound_body(settings)
        self._file_bounds = Bounds(
            limit_bytes=settings.import_limit_bytes,
            secs=max(_FILE_SECS, settings.body_secs),
            setting="import_limit_bytes",
        )
        self._hosts = hosts
        self._metrics = metrics
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, headers = Request(scope), _read_headers(scope)
        request.state.request_id = self._name(headers)
        answer = _Answer(send, request.state.request_id, is_api=scope["path"].startswith("/api"))
        begun = perf_counter()
        with self._tracer.span(SPAN, {"http.request.method": request.method}) as span:
            await self._answer(request, headers, receive, answer)
            route = getattr(scope.get("route"), "path", "none")
            span.set_attributes({"http.route": route, "http.response.status_code": answer.status})
        self._metrics.count_request(request.method, route, answer.status, (answer.begun_at or perf_counter()) - begun)

    async def _answer(self, request: Request, headers: "_Headers", receive: Receive, answer: "_Answer") -> None:
        scope, request_id = request.scope, request.state.request_id
        refusal = await self._refuse(request, headers)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        body = Body(receive, self._find_bounds(scope))
        try:
            await self._app(scope, body, answer)
        except asyncio.CancelledError:  # stopping has waited long enough
            if answer.begun_at is not None:
                raise
            await make_problem(request_id, 503, _STOPPED, retryable=True)(scope, receive, answer)
        except Exception:
            _logger.exception("request %s failed: %s %s", request_id, request.method, scope["path"])
            if answer.begun_at is not None:
                raise
            await tell_failure(request_id)(scope, receive, answer)

    def _name(self, headers: "_Headers") -> str:
        given = headers.get("x-request-id", "")
        return given if _REQUEST_ID.fullmatch(given) else self._ids.new_id("req_")

    async def _refuse(self, request: Request, headers: "_Headers") -> Response | None:
        """The answer to a request that goes no further; who calls is noted in its state."""
        request_id, path = request.state.request_id, request.scope["path"]
        try:
            if self._hosts is not None:
                self._hosts.check(request.scope)
            secret, is_cookie = _read_secret(request, headers)
            if is_cookie and request.method not in _SAFE_METHODS:
                _require_same_origin(headers, may_be_silent=path in _OPEN_WITH_BAD_KEY)
        except EverfoldError as error:
            return tell_error(error, request_id)
        try:
            request.state.key = await self._identify(secret, name_client(request)) if secret else None
        except EverfoldError as error:
            if path in _OPEN_WITH_BAD_KEY or not path.startswith(("/api", "/metrics")):
                request.state.key = None
            else:
                return tell_error(error, request_id)
        length = headers.get("content-length", "0")
        bounds = self._find_bounds(request.scope)
        if bounds.is_exceeded(length):
            return make_problem(request_id, 413, bounds.refusal)
        has_body = length not in ("", "0") or "transfer-encoding" in headers
        needed = FILE_TYPE if bounds is self._file_bounds else "application/json"
        allowed = _FILE if bounds is self._file_bounds else _JSON
        if has_body and not allowed.fullmatch(headers.get("content-type", "")):
            return make_problem(request_id, 415, f"the body must be {needed}: send `Content-Type: {needed}`")
        return None

    def _find_bounds(self, scope: Scope) -> Bounds:
        """What the body of a request may be: files are larger than anything else."""
        return self._file_bounds if scope["path"] == FILE_PATH else self._bounds


_OPEN_WITH_BAD_KEY: Final = frozenset({"/api/login", "/api/logout"})
"""Where a browser with an old cookie gets a new one, and so does a script that keeps cookies and sends no `Origin`."""


def name_client(request: Request) -> str:
    """The address that a request comes from; of a proxy on this machine the one that it names."""
    return "" if request.client is None else request.client.host


class _Answer:
    """Adds the headers that every answer has."""

    def __init__(self, send: Send, request_id: str, *, is_api: bool) -> None:
        self._send = send
        self._headers = [(b"x-request-id", request_id.encode("ascii")), *_SENT_HEADERS]
        if is_api:
            self._headers.append((b"vary", b"Authorization, Cookie"))
        self._is_api = is_api
        self.begun_at: float | None = None
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun_at, self.status = perf_counter(), message["status"]
            headers = [*message["headers"], *self._headers]
            if self._is_api and not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)


_Headers = Mapping[str, str]
"""The headers of a request, by their names in small letters."""


def _read_headers(scope: Scope) -> _Headers:
    """Decoded once, where Starlette's own mapping searches and decodes for every look; the first of a name counts."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def _read_secret(request: Request, headers: _Headers) -> tuple[str, bool]:
    """The secret that a request brings, and whether a browser brought it by itself; empty for none."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret.strip():
        return secret.strip(), False
    if given := headers.get("x-api-key", "").strip():
        return given, False
    cookie = request.cookies.get(COOKIE, "")
    return cookie, bool(cookie)


def _require_same_origin(headers: _Headers, *, may_be_silent: bool) -> None:
    """Refuse a write with our cookie that another site had a browser send, or that names no site, unless it may be silent.

    Source: OWASP Cross-Site Request Forgery Prevention Cheat Sheet: verifying the origin with standard headers, beside
    the cookie's `SameSite` and a content type that no form can send.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    is_same = (site in (None, "same-origin")) and (origin is None or origin.partition("://")[2] == headers.get("host"))
    if not is_same or (site is None and origin is None and not may_be_silent):
        raise ForbiddenError(
            "a write with the dashboard's cookie must come from the dashboard itself; programs send the API key as "
            "`Authorization: Bearer ...`"
        )
