"""A query holds only names that its route takes."""

import re

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.operations import list_operations

pytestmark = pytest.mark.anyio


async def test_every_route_refuses_an_unknown_name_and_takes_those_of_its_reference(
    served: Served, admin: httpx2.AsyncClient
) -> None:
    """Every route of the API refuses a misspelled name and lists exactly the names that the reference says of it."""
    operations = [one for one in list_operations(served.app.openapi()) if one.path.startswith("/api/")]
    assert len(operations) > 60
    for operation in operations:
        path = re.sub(r"\{\w+\}", "x", operation.path)
        answer = await admin.request(operation.method, path, params={"usr": "nobody"})
        names = ", ".join(sorted(one["name"] for one in operation.parameters("query")))
        assert answer.status_code == 422, operation
        expected = {"field": "query.usr", "message": f"unknown; this route takes {names or 'no query'}"}
        assert answer.json()["errors"] == [expected], operation


async def test_a_refused_write_is_not_carried_out(admin: httpx2.AsyncClient) -> None:
    """A write with an unknown name changes nothing, and may be sent again without it under its idempotency key."""
    headers = {"Idempotency-Key": "open-once"}
    refused = await admin.post("/api/sessions?usr=nobody", json={"agent": "guide"}, headers=headers)
    assert refused.status_code == 422
    assert (await admin.get("/api/sessions")).json()["sessions"] == []
    assert (await admin.post("/api/sessions", json={"agent": "guide"}, headers=headers)).status_code == 201


async def test_an_old_name_is_told_its_new_one(admin: httpx2.AsyncClient) -> None:
    """A name that was renamed is refused with the new one."""
    made = (await admin.post("/api/sessions", json={"agent": "guide"})).json()
    refused = await admin.get(f"/api/sessions/{made['id']}/strips", params={"event": "evt_1"})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "the request does not fit: query.event: is now compaction",
    )


@pytest.mark.parametrize(
    ("path", "status"), [("/api/sessions?usr=nobody", 401), ("/?again=1", 200), ("/health/live?x=1", 200)]
)
async def test_what_is_open_takes_any_query(served: Served, path: str, status: int) -> None:
    """Without an API key the API says nothing but that, and pages and probes pass with any query."""
    async with served.client(None) as client:
        assert (await client.get(path)).status_code == status


@pytest.mark.parametrize("path", ["/?again=1", "/assets/app.js?again=1", "/health/ready?x=1", "/metrics?x=1"])
async def test_only_the_api_is_strict(admin: httpx2.AsyncClient, path: str) -> None:
    """The dashboard's files, probes and metrics pass with any query, with an API key too."""
    assert (await admin.get(path)).status_code == 200
