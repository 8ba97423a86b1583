"""Cursors: a page of a list tells nothing of what the list cannot hold."""

import httpx2
import pytest
from tests.server.conftest import Served

pytestmark = pytest.mark.anyio


async def told(client: httpx2.AsyncClient, path: str, cursor: str) -> tuple[int, str]:
    """What a list says to a cursor, without the cursor."""
    answer = await client.get(path, params={"cursor": cursor})
    return answer.status_code, answer.json().get("detail", "").replace(cursor, "CURSOR")


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("scope", ["user", "agent"])
async def test_a_session_of_another_is_as_unknown_as_none(served: Served, scope: str, order: str) -> None:
    """An API key of a user, and one of an agent, cannot learn from a list of sessions which other sessions exist."""
    engine = served.runtime.engine
    ben, own = await engine.add_user("ben"), await engine.session()
    other = await engine.session(user=ben.id, agent="clerk")
    key = f"user:{own.record.user_id}" if scope == "user" else f"agent:{own.record.agent_id}"
    path = f"/api/sessions?order={order}"
    async with served.client(await served.key(key)) as client:
        assert await told(client, path, own.id) == (200, "")
        assert (await told(client, path, other.id))[0] == 404
        assert await told(client, path, other.id) == await told(client, path, "ses_none")


async def test_an_item_of_another_is_as_unknown_as_none(served: Served) -> None:
    """A user's API key cannot learn from a list of items which items of other users exist."""
    engine = served.runtime.engine
    ada, ben = await engine.add_user("ada"), await engine.add_user("ben")
    own = await (await engine.memory(user=ada.id)).add("The pier has 7 berths.", kind="fact")
    other = await (await engine.memory(user=ben.id)).add("The pier has 9 berths.", kind="fact")
    async with served.client(await served.key(f"user:{ada.id}")) as client:
        for path in (f"/api/users/{ada.id}/items", f"/api/users/{ada.id}/quarantine"):
            assert await told(client, path, own.id) == (200, "")
            assert (await told(client, path, other.id))[0] == 404
            assert await told(client, path, other.id) == await told(client, path, "itm_none")
