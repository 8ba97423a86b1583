"""Topics over HTTP."""

from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.memory_rows import ADA, BEN, DESK, about, act_as, dreamt, fact, fill, own, store_of

from everfold.core.memory.records import MemoryChange
from everfold.core.memory.topics import DreamId
from everfold.testing.kit.memory_builders import change, put

pytestmark = pytest.mark.anyio

TOPIC = f"/api/users/{ADA}/memory/harbour"


async def test_a_topic_has_its_revisions(served: Served, admin: httpx2.AsyncClient) -> None:
    """A topic says what it is now, what it was, and which items it was made of, under both spellings of its path."""
    first = about("top_1")
    await put(store_of(served), first)
    await put(store_of(served), replace(first, content="Berths are let by the week.", revision=2))
    for path in ("memory", "topics"):
        answer = await admin.get(f"/api/users/{ADA}/{path}/harbour")
        body = answer.json()
        assert (body["content"], body["revision"], body["items"]) == ("Berths are let by the week.", 2, ["itm_1"])
        assert [one["content"] for one in body["revisions"]] == [first.content, "Berths are let by the week."]
        assert answer.headers["etag"] == '"2"'


async def test_what_is_not_there_is_not_found(served: Served, admin: httpx2.AsyncClient) -> None:
    """A topic that never was, is past its end, was superseded, or is another user's is 404, to read and to erase."""
    past = replace(about("top_1"), expires_at=served.runtime.clock.now() - timedelta(hours=1))
    await put(store_of(served), past, replace(about("top_2", "old"), status="superseded"))
    for path in ("memory/harbour", "topics/harbour", "memory/old", "memory/never"):
        assert (await admin.get(f"/api/users/{ADA}/{path}")).status_code == 404
    assert (await admin.get(f"/api/users/{BEN}/memory/harbour")).status_code == 404
    assert (await admin.delete(f"/api/users/{ADA}/memory/never")).status_code == 404
    assert (await admin.delete(f"/api/users/{BEN}/topics/harbour")).status_code == 404


async def test_a_held_back_topic_is_its_owners(served: Served) -> None:
    """A topic in quarantine is shown to who sees all of the memory, and to no agent."""
    await put(store_of(served), replace(about("top_1"), status="quarantined", threats=("exfiltration",)))
    async with await act_as(served, f"user:{ADA}") as client:
        assert (await client.get(TOPIC)).json()["threats"] == ["exfiltration"]
    async with await act_as(served, "agent:shop") as client:
        assert (await client.get(TOPIC)).status_code == 404


async def test_tier_and_agent_choose_among_topics_of_one_name(served: Served, admin: httpx2.AsyncClient) -> None:
    """Of topics with one name that of the user tier comes first; tier and agent name another, to read and to erase."""
    await put(store_of(served), about("top_1"), own("top_2", "harbour"), own("top_3", "harbour", DESK))
    assert (await admin.get(TOPIC)).json()["id"] == "top_1"
    assert (await admin.get(f"{TOPIC}?tier=agent&agent=shop")).json()["id"] == "top_2"
    assert (await admin.delete(f"{TOPIC}?tier=agent&agent=desk")).json() == {"deleted": ["top_3"]}
    assert (await admin.get(f"{TOPIC}?tier=agent")).json()["id"] == "top_2"
    assert (await admin.delete(TOPIC)).json() == {"deleted": ["top_1", "top_2"]}
    assert (await admin.get(TOPIC)).status_code == 404


async def test_names_of_other_paths_are_reached(served: Served, admin: httpx2.AsyncClient) -> None:
    """A topic that is called as another path of memory is reached under `topics`."""
    await put(store_of(served), about("top_1", "audit"), about("top_2", "export"))
    for name, id_ in (("audit", "top_1"), ("export", "top_2")):
        assert (await admin.get(f"/api/users/{ADA}/topics/{name}")).json()["id"] == id_
        assert (await admin.delete(f"/api/users/{ADA}/topics/{name}")).json() == {"deleted": [id_]}


async def test_an_erase_that_expects_another_revision_is_refused(served: Served, admin: httpx2.AsyncClient) -> None:
    """A topic that was changed since is not erased: the answer has what was expected and what it says now."""
    await put(store_of(served), about("top_1"))
    await put(store_of(served), replace(about("top_1"), content="By the week.", revision=2))
    lost = await admin.delete(TOPIC, headers={"If-Match": '"1"'})
    assert (lost.status_code, lost.json()["expected"]) == (409, "1")
    assert (lost.json()["current"]["content"], lost.json()["current"]["revision"]) == ("By the week.", 2)
    assert (await admin.delete(TOPIC, headers={"If-Match": '"2"'})).status_code == 200


async def test_an_agents_key_erases_its_own_topics_only(served: Served) -> None:
    """A key of an agent erases topics of its own tier; the user's and another agent's it cannot."""
    await fill(served)
    async with await act_as(served, "agent:shop") as client:
        assert (await client.delete(TOPIC)).status_code == 403
        assert (await client.delete(f"/api/users/{ADA}/memory/work_of_desk")).status_code == 404
        assert (await client.get(f"{TOPIC}?tier=agent&agent=desk")).status_code == 403
        assert (await client.delete(f"/api/users/{ADA}/memory/work_of_shop")).status_code == 200


async def test_an_agents_memory_goes_alone(served: Served, admin: httpx2.AsyncClient) -> None:
    """What one agent has for itself goes in one change; the user's, the other agent's and the other user's stay."""
    await fill(served)
    path = f"/api/users/{ADA}/agents/shop/memory"
    shown = (await admin.get(path)).json()
    assert ([line["id"] for line in shown["topics"]], shown["items_count"]) == (["top_a_shop"], 1)
    before = (await admin.get(f"/api/users/{ADA}/memory")).json()
    assert (await admin.delete(path)).json() == {"topics_deleted": 1, "items_deleted": 1, "files_deleted": 0}
    after = (await admin.get(f"/api/users/{ADA}/memory")).json()
    assert (after["revision"], after["epoch"]) == (before["revision"] + 1, before["epoch"] + 1)
    assert [line["id"] for line in after["topics"]] == ["top_a1", "top_a_desk"]
    left = (await admin.get(f"/api/users/{ADA}/items")).json()["items"]
    assert [item["id"] for item in left] == ["itm_a1", "itm_a_desk"]
    other = (await admin.get(f"/api/users/{BEN}/agents/shop/memory")).json()
    assert (len(other["topics"]), other["items_count"]) == (1, 1)
    assert (await admin.delete(path)).json() == {"topics_deleted": 0, "items_deleted": 0, "files_deleted": 0}
    (second, first) = (await admin.get(f"/api/users/{ADA}/memory/audit?action=erase")).json()["entries"]
    assert (first["actor"], first["about"], first["counts"]) == ("key:admin False", ["shop"], {"items": 1, "topics": 1})
    assert second["counts"] == {"items": 0, "topics": 0}


async def test_an_agents_memory_goes_out_of_dreams(served: Served, admin: httpx2.AsyncClient) -> None:
    """A dream that wrote a topic of the agent has it no more, and one that proposed it can not be applied."""
    store = store_of(served)
    mine, shared = own("top_1", "craft"), about("top_2")
    await put(store, mine, shared, fact("itm_1"))
    plan = MemoryChange(user_id=ADA, agent_id=mine.agent_id, expected=await store.read_memory_version(ADA))
    await change(store, replace(plan, dream=dreamt("drm_1", mine, shared)))
    await admin.delete(f"/api/users/{ADA}/agents/shop/memory")
    assert [topic.id for topic in (await store.get_dream(DreamId("drm_1"))).topics] == ["top_2"]


async def test_an_agents_key_sees_its_own_tier_only(served: Served) -> None:
    """A key of an agent reads and erases what that agent has, of another agent nothing; a user's key all of the user."""
    await fill(served)
    async with await act_as(served, "agent:shop") as client:
        assert (await client.get(f"/api/users/{ADA}/agents/desk/memory")).status_code == 403
        assert (await client.delete(f"/api/users/{ADA}/agents/desk/memory")).status_code == 403
        assert (await client.get(f"/api/users/{ADA}/agents/shop/memory")).status_code == 200
        assert (await client.delete(f"/api/users/{ADA}/agents/shop/memory")).status_code == 200
    async with await act_as(served, f"user:{ADA}") as client:
        assert (await client.get(f"/api/users/{BEN}/agents/desk/memory")).status_code == 403
        assert (await client.delete(f"/api/users/{ADA}/agents/desk/memory")).status_code == 200
