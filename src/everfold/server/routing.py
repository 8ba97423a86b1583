"""Routes that carry a write out once, however often a client sends it.

A client that gives a write an `Idempotency-Key` may send it again when its answer got lost: it gets the answer that the
first one had. A refusal before anything was written is not kept: what changed nothing may be tried again. What failed behind
a commit is answered as of unknown outcome, and never carried out again. Of an answer that streams, or that shows a secret, is
kept that there was one.

Source: everfold.core.access.repeats.
"""

import inspect
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.routing import Match
from starlette.types import Scope

from everfold.core.access.api_keys import ApiKey
from everfold.core.access.repeats import MOST_KEY_CHARS, KeptAnswer, KnownRequest, hash_request, make_unknown
from everfold.ports.writing import watch_writes
from everfold.server.answers import ExactAnswer, SecretAnswer
from everfold.server.problems import PROBLEMS, make_problem, request_id_of, tell_error
from everfold.server.runtime import runtime_of

_logger = logging.getLogger("everfold.server")
HEADER: Final = "idempotency-key"
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PARAMETER: Final[dict[str, object]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Names this write: sent again, it is answered as before and carried out once.",
    "schema": {"type": "string", "pattern": "^[ -~]+$", "maxLength": MOST_KEY_CHARS},
    "example": "3f6d1c1e-5b0a-4f8e-9a53-0c1d2e3f4a5b",
}
RENAMED: Final[Mapping[str, str]] = {"event": "compaction"}
"""Old query name, new one."""
_NOT_KEPT: Final[Mapping[type[Response], str]] = {
    StreamingResponse: "this write was begun, and its answer was a stream, which is not kept; read the session's messages",
    SecretAnswer: "this write was carried out, and its secret was shown once; revoke what it created, and create another",
}
"""Answers that are not kept, and what a repeat of their write is told."""
Fields = Mapping[str, object]
"""The fields of an answer by name; the route's schema says how each is shown."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class OnceRoute(APIRoute):
    """A route that refuses unknown query names, and whose writes may be repeated.

    The first line of its docstring is its summary in the reference.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self._begin, self._end = path.partition("{")[0], path.rpartition("}")[2]
        first, _, rest = inspect.cleandoc(endpoint.__doc__ or "").partition("\n")
        self.summary = self.summary or first.rstrip(".")
        self.description = rest.strip()
        if not _READS.issuperset(self.methods or ()):
            extra = self.openapi_extra or {}
            self.openapi_extra = {**extra, "parameters": [*extra.get("parameters", ()), _PARAMETER]}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for this route. A slash that was sent as `%2F` is of a name and separates nothing.

        What does not begin and end like its path is not looked at further: a request is compared with one route after
        the other, a hundred of them, and comparing fully costs twice as much.

        Source: RFC 3986, 2.2: a reserved character and its encoding are not the same.
        """
        path = _read_path(scope)
        if not scope.get("root_path") and not (path.startswith(self._begin) and path.endswith(self._end)):
            return Match.NONE, {}
        match, child = super().matches(scope if path is scope["path"] else {**scope, "path": path})
        if _SLASH in path and match is not Match.NONE:
            child["path_params"] = {name: text.replace(_SLASH, "/") for name, text in child["path_params"].items()}
        return match, child

    def get_route_handler(self) -> Handler:
        """What carries out a request."""
        handle = super().get_route_handler()

        async def handle_once(request: Request) -> Response:
            key: ApiKey | None = getattr(request.state, "key", None)
            if key is not None and request.scope["query_string"] and self.path.startswith("/api/"):
                self._refuse_unknown(request)
            name = request.headers.get(HEADER)
            if name is None or key is None or request.method in _READS:
                return await handle(request)
            return await _answer_once(request, key, name, handle)

        return handle_once

    @cached_property
    def query_names(self) -> frozenset[str]:
        """The names in a query that the route takes."""
        return frozenset(_list_query_names(self.dependant))

    def _refuse_unknown(self, request: Request) -> None:
        unknown = sorted({*request.query_params} - self.query_names)
        if unknown:
            raise RequestValidationError(
                [{"type": "extra_forbidden", "loc": ("query", name), "msg": self._tell_known(name)} for name in unknown]
            )

    def _tell_known(self, unknown: str) -> str:
        new = RENAMED.get(unknown)
        if new in self.query_names:
            return f"is now {new}"
        return f"unknown; this route takes {', '.join(sorted(self.query_names)) or 'no query'}"


def make_router(tag: str) -> APIRouter:
    """A router for one subject, by whose name the reference groups its routes."""
    return APIRouter(tags=[tag], route_class=OnceRoute, responses=PROBLEMS, default_response_class=ExactAnswer)


_ENCODED_SLASH: Final = re.compile("%2F", re.IGNORECASE)
_SLASH: Final = "\ud800"
"""Stands for an encoded slash while a path is matched; no decoded path holds it."""


def _read_path(scope: Scope) -> str:
    """The path of a request, with another character for each slash that was sent encoded."""
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw:
        return path
    kept, count = _ENCODED_SLASH.subn(_SLASH, raw.decode("ascii", "replace"))
    return unquote(kept) if count else path


def _list_query_names(dependant: Dependant) -> Iterator[str]:
    """The names that a route and all that it depends on read from the query, those of a model one by one."""
    for field in dependant.query_params:
        model = field.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from model.model_fields
        else:
            yield field.alias
    for inner in dependant.dependencies:
        yield from _list_query_names(inner)


async def _answer_once(request: Request, key: ApiKey, name: str, handle: Handler) -> Response:
    requests = runtime_of(request).engine.admin.requests
    path = f"{request.url.path}?{request.url.query}"
    begun = await requests.begin(key.id, name, hash_request(request.method, path, await request.body()))
    if not isinstance(begun, KnownRequest):
        return _repeat(request, begun)
    with watch_writes() as written:
        try:
            answer = await handle(request)
        except Exception as error:  # one that is cancelled may have been carried out, and keeps its place
            if requests.is_untouched(written):
                await requests.give_up(begun)
                raise
            answer = _tell_unknown(request, name, error)
    reason = next((reason for kind, reason in _NOT_KEPT.items() if isinstance(answer, kind)), None)
    kept = answer if reason is None else make_problem(request_id_of(request), 409, reason)
    await requests.finish(begun, _keep(kept))
    return answer


def _tell_unknown(request: Request, name: str, error: Exception) -> Response:
    request_id = request_id_of(request)
    _logger.warning("request %s failed behind a commit", request_id, exc_info=error)
    return tell_error(make_unknown(name, f"it failed behind a commit: {type(error).__name__}"), request_id)


def _keep(answer: Response) -> KeptAnswer:
    return KeptAnswer(
        status=answer.status_code,
        body=bytes(answer.body),
        content_type=answer.headers.get("content-type", ""),
        location=answer.headers.get("location", ""),
        etag=answer.headers.get("etag", ""),
    )


def _repeat(request: Request, kept: KeptAnswer) -> Response:
    if kept.body is None:
        return make_problem(
            request_id_of(request),
            409,
            f"this write was answered before, with status {kept.status}, and the answer has been erased since; read the "
            "resource again",
        )
    named = {"Location": kept.location, "ETag": kept.etag}
    headers = {"Idempotent-Replayed": "true"} | {name: text for name, text in named.items() if text}
    return Response(kept.body, status_code=kept.status, media_type=kept.content_type or None, headers=headers)
