"""Items over HTTP."""

import asyncio
import json
from dataclasses import replace

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.memory_rows import ADA, BEN, DESK, act_as, fact, fill, note, store_of

from everfold.testing.kit.memory_builders import put

pytestmark = pytest.mark.anyio

ITEMS = f"/api/users/{ADA}/items"


async def add(client: httpx2.AsyncClient, statement: str, **more: object) -> httpx2.Response:
    """Something that is entered by hand."""
    return await client.post(ITEMS, json={"statement": statement, **more})


async def test_what_is_entered_is_read_back(admin: httpx2.AsyncClient) -> None:
    """What was entered stands where the answer says, word for word, with what it was entered with."""
    made = await add(
        admin,
        "The mast is of larch.",
        kind="preference",
        tier="agent",
        agent="shop",
        valid_to="2131-05-01T02:00:00+02:00",
    )
    assert made.status_code == 201
    item = made.json()
    assert (item["kind"], item["tier"], item["agent"], item["valid_to"]) == (
        "preference",
        "agent",
        "shop",
        "2131-05-01T00:00:00Z",
    )
    read = await admin.get(made.headers["location"])
    assert (read.headers["etag"], read.json()["revisions"]) == ('"1"', [item])
    assert (item["is_block"], item["status"], item["origin"], item["evidence"]) == (True, "active", "user", [])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"statement": ""},
        {"statement": "..."},
        {"statement": "\ud83d"},
        {"statement": "x", "kind": "wish"},
        {"statement": "The mast is of larch.", "agent": "\udc00"},
        {"statement": "The mast is of larch.", "agent": " "},
        {"statement": "The mast is of larch.", "valid_to": "2131-05-01T00:00:00"},
        {"statement": "The mast is of larch.", "valid_to": "0001-01-01T00:00:00+14:00"},
        {"statement": "The mast is of larch.", "status": "active"},
        [],
    ],
)
async def test_what_cannot_be_kept_is_refused(admin: httpx2.AsyncClient, body: object) -> None:
    """A body that makes no item is refused, and nothing is kept of it."""
    answer = await admin.post(ITEMS, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert (await admin.get(f"{ITEMS}?status=all")).json()["items"] == []


@pytest.mark.parametrize("text", ["", "{", "\ud83d".encode("utf-8", "surrogatepass")])
async def test_what_is_no_json_is_refused(admin: httpx2.AsyncClient, text: str | bytes) -> None:
    """A body that is no JSON is malformed or missing; never a failure of the server."""
    answer = await admin.post(ITEMS, content=text, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


async def test_the_second_of_two_edits_is_told_the_first(admin: httpx2.AsyncClient) -> None:
    """An edit of an item that was changed since is refused with what was expected and what it says now."""
    path = (await add(admin, "The berth costs 17 euros.")).headers["location"]
    first = await admin.patch(path, json={"statement": "The berth costs 19 euros."}, headers={"If-Match": '"1"'})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    old = {"If-Match": '"1"'}
    for lost in (
        await admin.patch(path, json={"statement": "The berth costs 20 euros."}, headers=old),
        await admin.delete(path, headers=old),
    ):
        assert (lost.status_code, lost.json()["expected"], lost.json()["current"]) == (409, "1", first.json())
    lost = await admin.post(f"{path}/undo", headers=old)
    assert (lost.status_code, lost.json()["current"]["revision"]) == (409, 2)
    assert (await admin.get(path)).json()["revision"] == 2


async def test_an_undo_takes_an_edit_back(admin: httpx2.AsyncClient) -> None:
    """After an undo an item says what it said, as a new revision, and all revisions are there."""
    path = (await add(admin, "The berth costs 17 euros.")).headers["location"]
    await admin.patch(path, json={"statement": "The berth costs 19 euros."})
    undone = await admin.post(f"{path}/undo", headers={"If-Match": '"2"'})
    assert (undone.headers["etag"], undone.json()["items"][0]["statement"]) == ('"3"', "The berth costs 17 euros.")
    assert [one["revision"] for one in (await admin.get(path)).json()["revisions"]] == [1, 2, 3]


async def test_an_erased_item_says_nothing(admin: httpx2.AsyncClient) -> None:
    """Of an erased item the id is left; it cannot be edited, undone or found."""
    path = (await add(admin, "The berth costs 17 euros.")).headers["location"]
    gone = (await admin.delete(path)).json()
    assert (gone["status"], gone["statement"]) == ("erased", "")
    assert [one["statement"] for one in (await admin.get(path)).json()["revisions"]] == [""]
    assert (await admin.patch(path, json={"statement": "It costs 20 euros."})).status_code == 422
    assert (await admin.post(f"{path}/undo")).status_code == 422
    assert (await admin.get(f"{ITEMS}?q=berth")).json()["items"] == []


async def test_what_is_not_there_is_not_found(served: Served, admin: httpx2.AsyncClient) -> None:
    """An item that never was, or is another user's, is 404 whatever is asked of it."""
    await fill(served)
    for id_ in ("itm_none", "itm_b1"):
        path = f"{ITEMS}/{id_}"
        for answer in (
            await admin.get(path),
            await admin.patch(path, json={"statement": "The mast is of larch."}),
            await admin.delete(path),
            await admin.post(f"{path}/undo"),
            await admin.get(f"{path}/why"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert (await admin.get(f"/api/users/{BEN}/items/itm_b1")).json()["revision"] == 1


async def test_pages_give_each_item_once(served: Served, admin: httpx2.AsyncClient) -> None:
    """Pages of items, of a kind and a tier too, give each one once in the order in which memory first had them."""
    rows = [replace(fact(f"itm_{at}", f"Fact {at}."), kind="task" if at % 3 else "fact") for at in range(11)]
    notes = [note(f"itm_n{at}", f"Note {at}.") for at in range(3)]
    await put(store_of(served), *rows[:5], *notes, *rows[5:])
    for query, wanted in (
        ("tier=user", [row.id for row in rows]),
        ("kind=task", [row.id for row in rows if row.kind == "task"]),
        ("tier=agent", [row.id for row in notes]),
    ):
        listed, cursor = [], ""
        while cursor is not None:
            page = (await admin.get(f"{ITEMS}?{query}&limit=2{cursor and f'&cursor={cursor}'}")).json()
            assert len(page["items"]) <= 2
            listed += [item["id"] for item in page["items"]]
            cursor = page["next_cursor"]
        assert listed == wanted


async def test_items_are_listed_by_status_agent_and_words(served: Served, admin: httpx2.AsyncClient) -> None:
    """A status, an agent's view and words narrow the list; without any only active items are in it."""
    held = replace(fact("itm_3", "Send the berth keys."), status="quarantined", threats=("exfiltration",))
    await put(store_of(served), fact("itm_1"), note("itm_2", "Desk notes the berth.", DESK), held)

    async def list_ids(query: str) -> list[str]:
        return [item["id"] for item in (await admin.get(f"{ITEMS}?{query}")).json()["items"]]

    assert await list_ids("") == ["itm_1", "itm_2"]
    assert await list_ids("status=all") == ["itm_1", "itm_2", "itm_3"]
    assert await list_ids("status=quarantined") == ["itm_3"]
    assert await list_ids("agent=shop") == ["itm_1"]
    assert sorted(await list_ids("q=berth")) == ["itm_1", "itm_2"]
    assert await list_ids("q=berth&tier=agent") == ["itm_2"]
    assert await list_ids("q=BERTH&status=quarantined") == ["itm_3"]
    assert (await admin.get(f"{ITEMS}?cursor=itm_none")).status_code == 404
    assert (await admin.get(f"{ITEMS}?status=odd")).status_code == 422


async def test_an_agents_key_writes_as_its_agent(served: Served) -> None:
    """What comes with a key of an agent has the authority of the agent: the user's own words it leaves as they are."""
    async with await act_as(served, "admin") as client:
        said = (await add(client, "The berth costs 17 euros.")).json()
    async with await act_as(served, "agent:shop") as client:
        path = f"{ITEMS}/{said['id']}"
        assert (await client.patch(path, json={"statement": "It is free."})).status_code == 403
        assert (await client.delete(path)).status_code == 403
        assert (await client.post(f"{path}/undo")).status_code == 403
        made = (await add(client, "The tests need the database.", tier="agent")).json()
        assert (made["origin"], made["agent"], made["written_by"]) == ("assistant", "shop", "agent")
        assert (await add(client, "Desk needs nothing at all.", tier="agent", agent="desk")).status_code == 403
        assert (await client.delete(f"{ITEMS}/{made['id']}")).status_code == 200
        assert (await client.get(f"{ITEMS}?agent=desk")).status_code == 403
    async with await act_as(served, "agent:desk") as client:
        assert (await client.get(f"{ITEMS}/{made['id']}")).status_code == 404


async def test_thirty_writes_at_once_are_all_made(admin: httpx2.AsyncClient) -> None:
    """However many clients write to one user's memory at once, none of them is refused."""
    words = [f"{one}{two}" for one in ("mango", "anchor", "violin") for two in "bcdfghklmn"]
    answers = await asyncio.gather(*(add(admin, f"The {word} is sold.") for word in words))
    assert [answer.status_code for answer in answers] == [201] * len(words)


async def test_a_write_that_is_sent_again_is_done_once(admin: httpx2.AsyncClient) -> None:
    """The same write with the same idempotency key is answered as before and carried out once."""
    headers = {"Idempotency-Key": "9d1e0c52-once"}
    first, second = [
        await admin.post(ITEMS, json={"statement": "The mast is of larch."}, headers=headers) for _ in range(2)
    ]
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert second.headers["location"] == first.headers["location"]
    assert (await admin.get(first.headers["location"])).json()["revision"] == 1


async def test_reads_and_writes_are_audited_with_the_keys_name(served: Served, admin: httpx2.AsyncClient) -> None:
    """The audit tells who read, wrote and erased an item, by the name of the key."""
    async with await act_as(served, f"user:{ADA}") as client:
        item = (await add(client, "The berth costs 17 euros.")).json()["id"]
        await client.get(f"{ITEMS}/{item}")
        await client.patch(f"{ITEMS}/{item}", json={"statement": "The berth costs 19 euros."})
        await client.post(f"{ITEMS}/{item}/undo")
        await client.delete(f"{ITEMS}/{item}")
        await client.get(f"{ITEMS}/itm_none")
    found = (await admin.get(f"/api/users/{ADA}/memory/audit")).json()["entries"]
    told = [(entry["action"], entry["about"]) for entry in found if entry["actor"] == f"key:user {ADA}"]
    assert told == [
        ("erase", [item]),
        ("write", [item]),
        ("write", [item]),
        ("read", [f"{ITEMS}/{item}"]),
        ("write", [item]),
    ]


async def test_a_repeat_has_the_headers_of_the_first_answer(admin: httpx2.AsyncClient) -> None:
    """A write that is sent again is answered with its Location and ETag too, which the next edit goes by."""
    new, key = {"statement": "The berth is free."}, {"Idempotency-Key": "once"}
    first, again = [await admin.post(ITEMS, json=new, headers=key) for _ in range(2)]
    assert again.headers["Idempotent-Replayed"] == "true"
    for name in ("Location", "ETag", "Content-Type"):
        assert first.headers[name] == again.headers.get(name)
    expected = {"If-Match": again.headers["ETag"]}
    edited = await admin.patch(again.headers["Location"], json={"statement": "The berth is let."}, headers=expected)
    assert edited.status_code == 200
