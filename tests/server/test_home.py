"""The first page over HTTP: what is stored, what happened, and what waits."""

from pathlib import Path

import httpx2
import pytest
from tests.server.conftest import Served, serve

from everfold.config import list_settings

pytestmark = pytest.mark.anyio


async def test_home_says_what_is_stored_and_what_happened(served: Served, admin: httpx2.AsyncClient) -> None:
    """Figures, the newest sessions with their titles, and no failure are told of a store with one talk."""
    session = await served.runtime.engine.session(agent="shop")
    await session.append({"role": "user", "content": "Which berth is free on Monday?"})
    await session.window()
    await session.append({"role": "assistant", "content": "Berth 17."})
    body = (await admin.get("/api/home")).json()
    assert (body["users_count"], body["sessions_count"], body["failed_count"]) == (1, 1, 0)
    assert (body["total"]["messages_count"], body["total"]["requests_count"]) == (2, 1)
    assert [day["messages_count"] for day in body["days"]] == [2]
    assert body["days"][0]["day"] == served.runtime.clock.now().date().isoformat()
    assert [(one["id"], one["title"], one["preview"]) for one in body["sessions"]] == [
        (session.id, "Which berth is free on Monday?", "Berth 17.")
    ]


async def test_sessions_are_listed_with_previews_on_demand(served: Served, admin: httpx2.AsyncClient) -> None:
    """A list of sessions has titles and previews only where they are asked for; an erased message gives none."""
    session = await served.runtime.engine.session()
    await session.append([{"role": "user", "content": "Which berth is free?"}])
    plain = (await admin.get("/api/sessions")).json()["sessions"][0]
    assert (plain["title"], plain["preview"]) == (None, None)
    told = (await admin.get("/api/sessions?previews=true")).json()["sessions"][0]
    assert (told["title"], told["preview"]) == ("Which berth is free?", "Which berth is free?")
    alone = (await admin.get(f"/api/sessions/{session.id}")).json()
    assert (alone["title"], alone["preview"]) == (told["title"], told["preview"])
    await session.erase(1)
    told = (await admin.get("/api/sessions?previews=true")).json()["sessions"][0]
    assert (told["title"], told["preview"]) == ("", "")


def test_every_price_has_a_case() -> None:
    """A key of the prices that these tests do not know may change nothing."""
    assert {key for key in list_settings() if key.startswith("prices.")} == {"prices.input_usd", "prices.cached_usd"}


@pytest.mark.parametrize(
    ("prices", "told"),
    [
        ({}, {"input_usd": None, "cached_usd": None}),
        ({"input_usd": 5.0}, {"input_usd": 5.0, "cached_usd": 0.5}),
        ({"input_usd": 5.0, "cached_usd": 1.25}, {"input_usd": 5.0, "cached_usd": 1.25}),
    ],
)
async def test_prices_are_those_of_the_settings(
    tmp_path: Path, prices: dict[str, float], told: dict[str, float | None]
) -> None:
    """Savings are shown at the prices of the settings; cached tokens cost a tenth where no price is set for them."""
    async with (
        serve(tmp_path / "a.db", {"prices": prices}) as served,
        served.client(await served.key("admin")) as admin,
    ):
        assert (await admin.get("/api/home")).json()["prices"] == told
