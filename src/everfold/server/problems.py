"""Errors over HTTP: each is a problem document, made from one table.

Source: RFC 9457, Problem Details for HTTP APIs.
"""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from everfold.errors import EverfoldError, InvalidInputError, RateLimitedError, UnauthenticatedError, shorten
from everfold.server.answers import ExactAnswer

MEDIA_TYPE = "application/problem+json"

HTTP_CODES: Mapping[int, str] = {
    400: "malformed_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "unsupported_media_type",
    421: "misdirected",
    422: "invalid_input",
    429: "rate_limited",
    431: "too_large",
    500: "internal",
    502: "bad_gateway",
    503: "unavailable",
}
"""The word for programs of what HTTP itself refuses; an error of ours brings its own word and status."""

_DOCUMENTED = (400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 502, 503)

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in _DOCUMENTED
}
"""What every route may answer instead of what it is asked for, for the OpenAPI; see `describe_problem`."""

MOST_FIELDS = 20
"""How many fields that do not fit are named; a body may have any number of them. Source: own choice."""

_INTERNAL = "the server failed on this request; its log has the cause under the request id"


RENAMED_ROUTES = (
    (re.compile(r"^/api/keys(?=/|$)"), "/api/api-keys"),
    (re.compile(r"^(/api/sessions/[^/]+)/events(?=/|$)"), r"\1/compactions"),
    (re.compile(r"^(/api/agents/[^/]+/chat)/cut$"), r"\1/stop"),
)
"""Old path, new path: a request to the old one answers 404 and names the new one."""


def find_new_path(path: str) -> str | None:
    """The new path of a route that was renamed; None for every other path."""
    for old, new in RENAMED_ROUTES:
        if old.match(path):
            return old.sub(new, path)
    return None


class FieldProblem(BaseModel):
    """What does not fit in one field of a request."""

    field: str = Field(description="Where, such as `body.messages.0.role`.", examples=["body.name"])
    message: str = Field(examples=["Field required"])


class Problem(BaseModel):
    """What failed, on what, what was expected, and what to do."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.", examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(description="A stable word for programs.", examples=["not_found"])
    detail: str = Field(examples=["this user's memory has no item 'itm_1'; list the items"])
    request_id: str = Field(examples=["req_0f4c9d2b"])
    retryable: bool = Field(default=False, description="The same request may succeed later, unchanged.")
    ids: dict[str, str | int] = Field(
        default={}, description="The ids that the error speaks of.", examples=[{"item": "itm_1"}]
    )
    errors: list[FieldProblem] | None = Field(default=None, description="What does not fit, field by field.")
    expected: str | None = Field(default=None, description="After a lost race: the revision that the request named.")
    current: dict[str, object] | None = Field(default=None, description="After a lost race: the resource as it is now.")


class LostRaceError(Exception):
    """An edit named a revision that is not the newest one."""

    def __init__(self, detail: str, *, expected: str, current: Mapping[str, object]) -> None:
        super().__init__(detail)
        self.expected = expected
        self.current = dict(current)


def describe_problem(document: dict[str, Any]) -> dict[str, Any]:
    """An OpenAPI document with the schemas that `PROBLEMS` refers to."""
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(schema.pop("$defs", {}))
    schemas["Problem"] = schema
    return document


class FieldsError(InvalidInputError):
    """Fields of a request do not fit, each with what is wrong with it."""

    def __init__(self, detail: str, errors: Sequence[FieldProblem]) -> None:
        super().__init__(detail)
        self.errors = tuple(errors)


def request_id_of(request: Request) -> str:
    """The id of a request, as its answer names it."""
    return cast("str", request.scope.get("state", {}).get("request_id", ""))


def make_problem(
    request_id: str,
    status: int,
    detail: str,
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    retryable: bool = False,
    **more: object,
) -> ExactAnswer:
    """The answer that tells a problem. What is None is left out."""
    problem = Problem.model_validate(
        {
            "title": HTTPStatus(status).phrase,
            "status": status,
            "code": code or HTTP_CODES.get(status, "error"),
            "detail": _clean(shorten(detail)),
            "request_id": request_id,
            "retryable": retryable,
            **more,
        }
    )
    return ExactAnswer(
        problem.model_dump(mode="json", exclude_none=True),
        status_code=status,
        headers=None if headers is None else dict(headers),
        media_type=MEDIA_TYPE,
    )


def tell_error(error: EverfoldError, request_id: str) -> ExactAnswer:
    """The answer for an error of ours."""
    headers = {}
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateLimitedError):
        headers["Retry-After"] = str(max(1, round(float(error.ids.get("retry_after_secs", 1)))))
    return make_problem(
        request_id,
        error.http_status,
        str(error),
        code=error.code,
        headers=headers,
        retryable=error.retryable,
        ids=error.ids,
        errors=error.errors[:MOST_FIELDS] if isinstance(error, FieldsError) else None,
    )


def add_problems(app: FastAPI) -> None:
    """Have every error of an app answered with a problem document."""

    async def tell_ours(request: Request, error: Exception) -> ExactAnswer:
        return tell_error(cast("EverfoldError", error), request_id_of(request))

    async def tell_http(request: Request, error: Exception) -> ExactAnswer:
        raised = cast("HTTPException", error)
        new = find_new_path(request.url.path) if raised.status_code == HTTPStatus.NOT_FOUND else None
        detail = f"this route is now {new}" if new else str(raised.detail)
        return make_problem(request_id_of(request), raised.status_code, detail, headers=raised.headers)

    async def tell_invalid(request: Request, error: Exception) -> ExactAnswer:
        found = cast("RequestValidationError", error).errors()
        is_unreadable = any(one["type"] == "json_invalid" for one in found)
        return make_problem(
            request_id_of(request),
            400 if is_unreadable else 422,
            "the body is no JSON" if is_unreadable else f"the request does not fit: {_name_fields(found)}",
            errors=[{"field": _name_place(one), "message": _clean(shorten(one["msg"]))} for one in found[:MOST_FIELDS]],
        )

    async def tell_race(request: Request, error: Exception) -> ExactAnswer:
        lost = cast("LostRaceError", error)
        return make_problem(
            request_id_of(request), 409, str(lost), retryable=True, expected=lost.expected, current=lost.current
        )

    app.add_exception_handler(EverfoldError, tell_ours)
    app.add_exception_handler(HTTPException, tell_http)
    app.add_exception_handler(RequestValidationError, tell_invalid)
    app.add_exception_handler(LostRaceError, tell_race)


def tell_failure(request_id: str) -> ExactAnswer:
    """The answer to an unexpected error: it shows no internals."""
    return make_problem(request_id, 500, _INTERNAL)


def _name_fields(found: Sequence[Mapping[str, object]]) -> str:
    return "; ".join(f"{_name_place(one)}: {one['msg']}" for one in found[:3])


def _name_place(problem: Mapping[str, object]) -> str:
    """Where a field is; the names on the way there are the client's own."""
    return _clean(shorten(".".join(map(str, cast("Sequence[object]", problem["loc"])))))


def _clean(text: str) -> str:
    """A text that can be sent as UTF-8, whatever a client gave us to repeat."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
