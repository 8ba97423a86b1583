"""No answer that refuses a request repeats more than a piece of what came in."""

import json
from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.operations import Operation, list_operations
from tests.support.long_inputs import LONG, find_repeated
from tests.support.sizes import AT_FULL_SIZE, some

from everfold.server.problems import MOST_FIELDS

pytestmark = pytest.mark.anyio

STREAMS: Final = frozenset({"GET /api/stream"})
"""What would not end by itself where a text is taken for what it is."""


def list_requests(operation: Operation, long: str) -> Iterator[dict[str, Any]]:
    """The operation with a long text in its path, in each parameter, in each header, and in each field of its body."""
    paths = [one["name"] for one in operation.parameters("path")]
    fields = sorted((operation.body or {}).get("properties", ()))
    plain = operation.path
    for name in paths:
        plain = plain.replace(f"{{{name}}}", "1")
    for name in paths:
        path = operation.path.replace(f"{{{name}}}", httpx2.QueryParams({"": long})[""].replace("/", ""))
        yield {"url": path.replace("{", "").replace("}", ""), "json": {}}
    for one in operation.parameters("query"):
        yield {"url": plain, "params": {one["name"]: long}, "json": {}}
    if operation.is_write:
        headed = long.encode("ascii", "ignore").decode() or "x"
        yield {"url": plain, "headers": {"If-Match": headed}, "json": dict.fromkeys(fields, 1)}
        yield {"url": plain, "headers": {"Idempotency-Key": headed}, "json": {}}
        yield {"url": plain, "content": long.encode(), "headers": {"Content-Type": "application/json"}}
        yield {"url": plain, "json": {long: long}}
        yield {"url": plain, "json": {field: {long: long} for field in fields}}
        for field in fields:
            yield {"url": plain, "json": {field: long}}


@pytest.mark.parametrize("kind", LONG)
async def test_no_answer_repeats_a_long_input(served: Served, kind: str) -> None:
    """Whatever part of a request is a very long text, the problem document that refuses it quotes a piece of it.

    By day each operation is sent one kind of text.
    """
    long, refused = LONG[kind], 0
    async with served.client(await served.key("admin")) as client:
        document = (await client.get("/api/openapi.json")).json()
        for number, operation in enumerate(list_operations(document), list(LONG).index(kind)):
            if str(operation) in STREAMS or (number % len(LONG) and not AT_FULL_SIZE):
                continue
            for request in list_requests(operation, long):
                answer = await client.request(operation.method, **request)
                if answer.status_code < 400:
                    continue
                refused += 1
                said = answer.text
                if said.startswith("{"):
                    said = json.dumps(answer.json(), ensure_ascii=False)
                assert not find_repeated(said, long), (str(operation), request.keys(), said[:600])
                assert answer.status_code != 500, (str(operation), said)
    assert refused > some(100, 25)


async def test_few_of_many_wrong_fields_are_named(served: Served) -> None:
    """A body with thousands of fields that do not fit is answered with the first of them."""
    async with served.client(await served.key("admin")) as client:
        session = (await client.post("/api/sessions", json={})).json()
        messages = [{"role": 1}] * 3_000
        answer = await client.post(f"/api/sessions/{session['id']}/messages", json={"messages": messages, "x": 1})
        many = await client.post("/api/users", json={f"field{number}": 1 for number in range(3_000)})
    assert {answer.status_code, many.status_code} <= {400, 422}
    assert len(many.json()["errors"]) <= MOST_FIELDS
    assert max(len(answer.text), len(many.text)) < 10_000
