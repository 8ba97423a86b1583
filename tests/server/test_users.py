"""Users over HTTP."""

import httpx2
import pytest

pytestmark = pytest.mark.anyio


async def test_the_default_user_is_listed(admin: httpx2.AsyncClient) -> None:
    """A new store has one user, who is the default one."""
    answer = await admin.get("/api/users")
    body = answer.json()
    assert answer.status_code == 200
    assert [(user["id"], user["is_default"]) for user in body["users"]] == [(body["default_user_id"], True)]
