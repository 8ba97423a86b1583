"""Dreams over HTTP."""

from dataclasses import replace

import httpx2
import pytest
from tests.server.conftest import Served, serve
from tests.server.memory_rows import ADA, BEN, STRUCTURED, about, act_as, dreamt, fact, store_of

from everfold.core.memory.records import MemoryChange
from everfold.core.memory.topics import Dream, Topic
from everfold.testing.kit.memory_builders import change, put

pytestmark = pytest.mark.anyio

DREAMS = f"/api/users/{ADA}/dreams"
HARBOUR = f"/api/users/{ADA}/memory/harbour"
FIRST = about("top_1", content="Berths are let by the day.\nThe crane is old.")
SECOND = replace(FIRST, content="Berths are let by the day.\nThe crane is new.", summary="The crane.", revision=2)


async def hold(served: Served, dream: Dream, *topics: Topic) -> None:
    """Store a dream, and what it changed."""
    store = store_of(served)
    plan = MemoryChange(user_id=ADA, agent_id=dream.agent_id, expected=await store.read_memory_version(ADA))
    await change(store, replace(plan, dream=dream, topics=topics))


async def test_a_dream_shows_what_it_changes(served: Served, admin: httpx2.AsyncClient) -> None:
    """Each topic of a dream stands there before and after, with its items, and with the lines that were lost and gained."""
    await put(store_of(served), FIRST, about("top_2", "over"), fact("itm_1"))
    fresh = about("top_3", "fresh")
    over = replace(about("top_2", "over"), status="superseded", revision=2)
    dream = replace(dreamt("drm_1", SECOND, over, fresh), cost_usd=0.25, generator="model")
    await hold(served, dream, SECOND, over, fresh)
    body = (await admin.get(f"{DREAMS}/drm_1")).json()
    assert (body["state"], body["cost_usd"], body["items"]) == ("applied", 0.25, ["itm_1"])
    changed, removed, added = body["diff"]
    assert [one["change"] for one in (changed, removed, added)] == ["changed", "removed", "added"]
    assert changed["before"] == {"summary": FIRST.summary, "content": FIRST.content}
    assert changed["after"] == {"summary": SECOND.summary, "content": SECOND.content}
    assert (changed["lost"], changed["gained"]) == (["The crane is old."], ["The crane is new."])
    assert changed["items"] == [{"id": "itm_1", "statement": "The berth costs 17 euros."}]
    assert (removed["after"], removed["lost"]) == (None, ["Berths are let by the day."])
    assert (added["before"], added["lost"]) == (None, [])


async def test_a_proposed_dream_is_approved(served: Served, admin: httpx2.AsyncClient) -> None:
    """An approved dream changes the topics as it said; it is judged once."""
    await put(store_of(served), FIRST)
    await hold(served, replace(dreamt("drm_1", SECOND), state="proposed", ended_at=None))
    assert (await admin.get(HARBOUR)).json()["content"] == FIRST.content
    approved = await admin.post(f"{DREAMS}/drm_1/approve")
    assert (approved.status_code, approved.json()["state"]) == (200, "applied")
    assert (await admin.get(HARBOUR)).json()["content"] == SECOND.content
    for verb in ("approve", "reject"):
        assert (await admin.post(f"{DREAMS}/drm_1/{verb}")).status_code == 409
    (entry,) = (await admin.get(f"/api/users/{ADA}/memory/audit?action=dream")).json()["entries"]
    assert (entry["actor"], entry["about"]) == ("key:admin False", ["drm_1", "top_1"])


async def test_a_stale_proposal_is_refused(served: Served, admin: httpx2.AsyncClient) -> None:
    """Approving what cannot be applied any more is a conflict each time, also with an idempotency key."""
    await put(store_of(served), SECOND)
    await hold(served, replace(dreamt("drm_1", SECOND), state="proposed", ended_at=None))
    for headers in ({}, {"Idempotency-Key": "once"}, {"Idempotency-Key": "once"}):
        refused = await admin.post(f"{DREAMS}/drm_1/approve", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert (await admin.get(f"{DREAMS}/drm_1")).json()["state"] == "proposed"


async def test_a_proposed_dream_is_rejected(served: Served, admin: httpx2.AsyncClient) -> None:
    """A rejected dream changes nothing."""
    await put(store_of(served), FIRST)
    await hold(served, replace(dreamt("drm_1", SECOND), state="proposed", ended_at=None))
    assert (await admin.post(f"{DREAMS}/drm_1/reject")).json()["state"] == "rejected"
    assert (await admin.get(HARBOUR)).json()["revision"] == 1


async def test_an_applied_dream_is_reverted(served: Served, admin: httpx2.AsyncClient) -> None:
    """After a revert the topics say what they said before, as new revisions."""
    await put(store_of(served), FIRST)
    await hold(served, dreamt("drm_1", SECOND), SECOND)
    assert (await admin.post(f"{DREAMS}/drm_1/revert")).json()["state"] == "reverted"
    body = (await admin.get(HARBOUR)).json()
    assert (body["content"], body["revision"]) == (FIRST.content, 3)


async def test_dreams_are_listed_newest_first(served: Served, admin: httpx2.AsyncClient) -> None:
    """The newest dreams come first, no more than asked for, and of that user only."""
    for number in range(3):
        await hold(served, dreamt(f"drm_{number}"))
    listed = (await admin.get(f"{DREAMS}?limit=2")).json()["dreams"]
    assert [dream["id"] for dream in listed] == ["drm_2", "drm_1"]
    assert (await admin.get(f"/api/users/{BEN}/dreams")).json() == {"dreams": []}


async def test_what_is_not_there_is_not_found(served: Served, admin: httpx2.AsyncClient) -> None:
    """A dream that never was, or is another user's, is 404 whatever is asked of it."""
    await hold(served, dreamt("drm_1"))
    for path in (f"{DREAMS}/drm_none", f"/api/users/{BEN}/dreams/drm_1"):
        assert (await admin.get(path)).status_code == 404
        for verb in ("approve", "reject", "revert"):
            assert (await admin.post(f"{path}/{verb}")).status_code == 404


async def test_a_dream_is_begun_by_hand(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What was said since the last dream becomes topics at once, and the audit names the key; then there is nothing."""
    async with serve(tmp_path_factory.mktemp("dreams") / "dreams.db", STRUCTURED) as served:
        session = await served.runtime.engine.session(user=ADA, agent="shop")
        for text in ("Remember: my berth is number 12.", "Remember: my boat is called Tern."):
            await session.append([{"role": "user", "content": text}])
        await session.window()
        async with await act_as(served, f"user:{ADA}") as client:
            begun = await client.post(DREAMS, json={"agent": "shop"})
            assert (begun.status_code, begun.json()["state"], begun.json()["agent"]) == (201, "applied", "shop")
            assert (await client.get(f"/api/users/{ADA}/memory")).json()["topics"]
            again = await client.post(DREAMS, json={"agent": "shop"})
            assert (again.status_code, again.json()) == (200, {"dream": None})
            found = (await client.get(f"/api/users/{ADA}/memory/audit?action=dream")).json()["entries"]
        assert sorted(entry["actor"] for entry in found) == ["dreamer", f"key:user {ADA}"]


async def test_nothing_to_dream_of_is_no_dream(admin: httpx2.AsyncClient) -> None:
    """Without a body and without anything said there is no dream."""
    answer = await admin.post(DREAMS)
    assert (answer.status_code, answer.json()) == (200, {"dream": None})
