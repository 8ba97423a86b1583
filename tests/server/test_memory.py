"""Memory as a whole over HTTP: its index, its wipe, its export and import, its budgets."""

import json
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from tests.server.conftest import Served, serve
from tests.server.memory_rows import ADA, BEN, SHOP, STRUCTURED, about, act_as, fact, fill, own, store_of

from everfold.server.schemas.memory import show_wiped
from everfold.testing.kit.memory_builders import put

pytestmark = pytest.mark.anyio

KEPT = ("topics_deleted", "agent_topics_deleted", "extractions_deleted")


async def test_the_index_names_topics_without_content(served: Served, admin: httpx2.AsyncClient) -> None:
    """Topics come by name, without what they say; those past their end, superseded or quarantined are not there."""
    now = served.runtime.clock.now()
    past = replace(about("top_3", "over"), expires_at=now - timedelta(hours=1))
    held = replace(about("top_5", "held"), status="quarantined", threats=("exfiltration",))
    lasting = replace(about("top_4", "boats"), expires_at=now + timedelta(hours=1))
    gone = replace(about("top_6", "gone"), status="superseded")
    await put(store_of(served), about("top_1", "work"), own("top_2", "art"), past, lasting, held, gone)
    for path in ("memory", "topics"):
        body = (await admin.get(f"/api/users/{ADA}/{path}")).json()
        assert [(line["name"], line["tier"], line["agent"]) for line in body["topics"]] == [
            ("art", "agent", SHOP),
            ("boats", "user", None),
            ("work", "user", None),
        ]
        assert set(body["topics"][0]) == {"id", "name", "summary", "tier", "agent", "updated_at", "expires_at"}
        assert (body["revision"], body["epoch"]) == (1, 0)


async def test_an_agents_key_sees_what_its_agent_does(served: Served) -> None:
    """A key of an agent is shown topics and items of the user tier and its own, and of no other agent."""
    await fill(served)
    async with await act_as(served, "agent:shop") as client:
        topics = (await client.get(f"/api/users/{ADA}/memory")).json()["topics"]
        items = (await client.get(f"/api/users/{ADA}/items")).json()["items"]
    assert [line["name"] for line in topics] == ["harbour", "work_of_shop"]
    assert [item["id"] for item in items] == ["itm_a1", "itm_a_shop"]


async def test_a_wipe_counts_and_touches_nobody_else(served: Served, admin: httpx2.AsyncClient) -> None:
    """A wipe tells how much went from each bucket; a second one counts nothing, and the other user has all of theirs."""
    await fill(served)
    before = (await admin.get(f"/api/users/{BEN}/memory/export")).json()
    wiped = (await admin.delete(f"/api/users/{ADA}/memory")).json()
    assert [wiped[name] for name in KEPT] == [1, 2, 0]
    assert (wiped["items_deleted"], wiped["sessions_deleted"]) == (3, 0)
    again = (await admin.delete(f"/api/users/{ADA}/memory")).json()
    assert set(again) >= set(KEPT)
    assert not any(again.values())
    assert (await admin.get(f"/api/users/{ADA}/memory")).json()["topics"] == []
    after = (await admin.get(f"/api/users/{BEN}/memory/export")).json()
    assert [after[part] for part in ("items", "topics")] == [before[part] for part in ("items", "topics")]
    (entry, *_) = (await admin.get(f"/api/users/{ADA}/memory/audit?action=wipe")).json()["entries"]
    assert (entry["actor"], entry["counts"]["items"]) == ("key:admin False", 0)


async def test_a_wipe_with_transcripts_takes_sessions(served: Served, admin: httpx2.AsyncClient) -> None:
    """Sessions and their messages go with `transcripts` and stay without."""
    engine = served.runtime.engine
    session = await engine.session(user=ADA)
    await session.append([{"role": "user", "content": "The mast is made of larch."}])
    assert (await admin.delete(f"/api/users/{ADA}/memory")).json()["messages_deleted"] == 0
    assert await engine.list_sessions(user=ADA)
    wiped = (await admin.delete(f"/api/users/{ADA}/memory?transcripts=true")).json()
    assert (wiped["sessions_deleted"], wiped["messages_deleted"]) == (1, 1)
    assert await engine.list_sessions(user=ADA) == []


async def test_a_wipe_tells_every_bucket(served: Served, admin: httpx2.AsyncClient) -> None:
    """The answer to a wipe has a field for each bucket that the store counts, compactions and digests among them."""
    engine = served.runtime.engine
    session = await engine.session(user=ADA)
    for number in range(9):
        await session.append({"role": "user", "content": f"How long is plank {number}?"})
        await session.append({"role": "assistant", "content": f"Plank {number} is {number * 30} cm long. " * 20})
    await session.compact(keep_recent=2)
    wiped = (await admin.delete(f"/api/users/{ADA}/memory?transcripts=true")).json()
    assert (wiped["compactions_deleted"], wiped["digests_deleted"] > 0) == (1, True)
    again = await engine.wipe(ADA, transcripts=True)
    assert set(show_wiped(replace(again, counts=dict.fromkeys(again.counts, 7))).model_dump().values()) == {7, False}


async def test_an_export_comes_back_from_an_import(served: Served, admin: httpx2.AsyncClient) -> None:
    """An export is a file named after user and day; an import of it for a user without a memory gives it back whole."""
    odd = replace(fact("itm_odd", "The flag is \ud83d."), threats=(), status="expired")
    await put(store_of(served), fact("itm_1"), about("top_1"), odd)
    answer = await admin.get(f"/api/users/{ADA}/memory/export")
    day = served.runtime.clock.now().strftime("%Y%m%d")
    assert answer.headers["content-disposition"] == f'attachment; filename="memory_{ADA}_{day}.json"'
    document = json.loads(answer.content)
    await admin.delete(f"/api/users/{ADA}/memory")
    headers = {"Content-Type": "application/json"}
    taken = await admin.post(f"/api/users/{ADA}/memory/import", content=json.dumps(document), headers=headers)
    assert taken.status_code == 200
    again = json.loads((await admin.get(f"/api/users/{ADA}/memory/export")).content)
    assert (again["items"], again["topics"]) == (document["items"], document["topics"])
    second = await admin.post(f"/api/users/{ADA}/memory/import", content=json.dumps(document), headers=headers)
    assert second.status_code == 409


@pytest.mark.parametrize("document", [{}, {"format": "other"}, {"format": "everfold.user", "version": 99}, []])
async def test_what_is_no_export_is_refused(admin: httpx2.AsyncClient, document: object) -> None:
    """A document that no export gave is refused, and makes no user."""
    answer = await admin.post(f"/api/users/{ADA}/memory/import", json=document)
    assert answer.status_code == 422
    assert (await admin.get(f"/api/users/{ADA}")).status_code == 404


async def test_export_and_import_are_audited(served: Served, admin: httpx2.AsyncClient) -> None:
    """The audit names the key that took a memory along, and the key that brought it."""
    await put(store_of(served), fact("itm_1"))
    document = (await admin.get(f"/api/users/{ADA}/memory/export")).json()
    await admin.delete(f"/api/users/{ADA}/memory")
    await admin.post(f"/api/users/{BEN}/memory/import", json=document)
    for user_id, action in ((ADA, "export"), (BEN, "import")):
        found = (await admin.get(f"/api/users/{user_id}/memory/audit?action={action}")).json()["entries"]
        assert [entry["actor"] for entry in found if entry["actor"].startswith("key:")] == ["key:admin False"]


async def test_budgets_are_those_of_the_block(served: Served, admin: httpx2.AsyncClient) -> None:
    """The user tier and each agent's have what their lines take, within the limits of the settings."""
    await fill(served)
    body = (await admin.get(f"/api/users/{ADA}/budgets")).json()
    assert (body["user"]["items_count"], body["user"]["limit_chars"]) == (1, 1375)
    assert body["user"]["used_chars"] > len("The berth of a costs 17 euros.")
    assert [(one["agent"], one["items_count"], one["limit_chars"]) for one in body["agents"]] == [
        ("desk", 1, 2200),
        ("shop", 1, 2200),
    ]
    async with await act_as(served, "agent:desk") as client:
        seen = (await client.get(f"/api/users/{ADA}/budgets")).json()
    assert [one["agent"] for one in seen["agents"]] == ["desk"]


async def test_foreign_memory_is_forbidden(served: Served) -> None:
    """A key of one user reads, wipes and exports that user's memory only; one that only reads wipes nothing."""
    await fill(served)
    async with await act_as(served, f"user:{ADA}") as client:
        assert (await client.get(f"/api/users/{ADA}/memory")).status_code == 200
        for path in (
            "memory",
            "items",
            "budgets",
            "memory/export",
            "memory/audit",
            "dreams",
            "quarantine",
            "extractions",
        ):
            assert (await client.get(f"/api/users/{BEN}/{path}")).status_code == 403
        assert (await client.delete(f"/api/users/{BEN}/memory")).status_code == 403
        assert (await client.post(f"/api/users/{ADA}/memory/import", json={})).status_code == 403
    async with await act_as(served, f"user:{BEN}", read_only=True) as client:
        assert (await client.delete(f"/api/users/{BEN}/memory")).status_code == 403
        assert (await client.get(f"/api/users/{BEN}/memory")).status_code == 200
    async with await act_as(served, "agent:shop") as client:
        for path in ("memory/export", "memory/audit", "dreams", "quarantine", "extractions"):
            assert (await client.get(f"/api/users/{ADA}/{path}")).status_code == 403
        assert (await client.delete(f"/api/users/{ADA}/memory")).status_code == 403


async def test_texts_with_half_a_character_are_answered(served: Served, admin: httpx2.AsyncClient) -> None:
    """What is stored with half of a character reads back exactly, in a list, alone and in a lost race."""
    await put(
        store_of(served), fact("itm_1", "The flag is \ud83d, not \udc00."), replace(about("top_1"), summary="\ud83d")
    )
    listed = await admin.get(f"/api/users/{ADA}/items")
    assert json.loads(listed.content)["items"][0]["statement"] == "The flag is \ud83d, not \udc00."
    index = await admin.get(f"/api/users/{ADA}/memory")
    assert json.loads(index.content)["topics"][0]["summary"] == "\ud83d"
    lost = await admin.patch(
        f"/api/users/{ADA}/items/itm_1", json={"statement": "The flag is blue."}, headers={"If-Match": '"7"'}
    )
    assert lost.status_code == 409
    assert json.loads(lost.content)["current"]["statement"] == "The flag is \ud83d, not \udc00."


async def test_what_is_said_comes_to_be_known(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a person asks to remember in a session is an item over HTTP, with the message that says it."""
    async with serve(tmp_path_factory.mktemp("said") / "said.db", STRUCTURED) as served:
        session = await served.runtime.engine.session(user=ADA, agent="shop")
        await session.append([{"role": "user", "content": "Remember: my berth is number 12."}])
        await session.window()
        async with await act_as(served, "admin") as client:
            (item,) = (await client.get(f"/api/users/{ADA}/items")).json()["items"]
            (why,) = (await client.get(f"/api/users/{ADA}/items/{item['id']}/why")).json()["because"]
            (found,) = (await client.get(f"/api/users/{ADA}/extractions")).json()["entries"]
        assert why["message"]["text"][why["start"] : why["end"]] == why["quote"]
        assert (found["session_id"], found["session_deleted"], found["items"]) == (session.id, False, [item["id"]])
        async with await act_as(served, "agent:desk") as client:
            (why,) = (await client.get(f"/api/users/{ADA}/items/{item['id']}/why")).json()["because"]
        assert (why["message"], why["session_id"]) == (None, session.id)
