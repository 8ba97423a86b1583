"""Routes that were renamed are refused with their new path."""

import httpx2
import pytest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/api/keys", "/api/api-keys"),
        ("/api/keys/key_1", "/api/api-keys/key_1"),
        ("/api/sessions/ses_1/events", "/api/sessions/ses_1/compactions"),
        ("/api/sessions/ses_1/events/evt_1/retry", "/api/sessions/ses_1/compactions/evt_1/retry"),
        ("/api/agents/main/chat/cut", "/api/agents/main/chat/stop"),
    ],
)
async def test_an_old_route_names_the_new_one(admin: httpx2.AsyncClient, old: str, new: str) -> None:
    """The old path is not found, and the problem says where the route is now."""
    answer = await admin.get(old)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.json()["detail"] == f"this route is now {new}"
