"""What the OpenAPI tells of the routes."""

from collections.abc import Iterator

import httpx2
import pytest

pytestmark = pytest.mark.anyio

METHODS = ("get", "post", "put", "patch", "delete")


def list_operations(document: dict[str, dict[str, dict[str, object]]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Every operation with its method and path."""
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                yield f"{method} {path}", methods[method]  # type: ignore[misc]  # an operation is an object


async def test_every_operation_is_described(admin: httpx2.AsyncClient) -> None:
    """Every operation has a summary in words, a rule of access, and the problems that it may answer with."""
    document = (await admin.get("/api/openapi.json")).json()
    for name, operation in list_operations(document):
        assert " " in str(operation["summary"]), name
        assert operation["x-access"], name
        for status in ("400", "401", "403", "404", "409", "413", "415", "422", "429", "500"):
            content = operation["responses"][status]["content"]  # type: ignore[index]  # as above
            assert content == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}, name
    assert "Problem" in document["components"]["schemas"]


async def test_every_write_may_be_named(admin: httpx2.AsyncClient) -> None:
    """Every write of the API takes an idempotency key, and no read does; edits of what has revisions take `If-Match`."""
    document = (await admin.get("/api/openapi.json")).json()
    for name, operation in list_operations(document):
        named = {one["name"] for one in operation.get("parameters", ())}  # type: ignore[attr-defined]  # a list of objects
        assert ("Idempotency-Key" in named) == (not name.startswith("get ")), name
        if "ETag" in str(operation["responses"]) and not name.startswith("get "):
            assert "If-Match" in named, name


async def test_every_reference_is_resolved(admin: httpx2.AsyncClient) -> None:
    """What the document refers to is in it."""
    answer = await admin.get("/api/openapi.json")
    schemas = answer.json()["components"]["schemas"]
    named = {part.split('"')[0] for part in answer.text.split("#/components/schemas/")[1:]}
    assert named <= set(schemas)
