"""Search over HTTP."""

from pathlib import Path

import httpx2
import pytest
from tests.server.conftest import Served, serve
from tests.server.memory_rows import ADA, BEN, act_as, fill

from everfold.services.sessions import search_users

pytestmark = pytest.mark.anyio


async def speak(served: Served, user: str, agent: str, text: str) -> str:
    """A session in which something was said."""
    session = await served.runtime.engine.session(user=user, agent=agent)
    await session.append([{"role": "user", "content": text}])
    return session.id


async def test_messages_items_and_topics_are_found(served: Served, admin: httpx2.AsyncClient) -> None:
    """What answers is found in each place with a score and, in messages, an exact excerpt; only where it is asked for."""
    await fill(served)
    session = await speak(served, ADA, "shop", "The berth is behind the crane.")
    body = (await admin.get(f"/api/search?q=berths&user={ADA}")).json()
    assert [(hit["session_id"], hit["seq"], hit["excerpt"]) for hit in body["messages"]] == [
        (session, 1, "The berth is behind the crane.")
    ]
    start, end = body["messages"][0]["matches"][0]
    assert body["messages"][0]["excerpt"][start:end] == "berth"
    assert [hit["id"] for hit in body["items"]] == ["itm_a1"]
    assert {hit["id"] for hit in body["topics"]} == {"top_a1", "top_a_shop", "top_a_desk"}
    assert all(hit["score"] > 0 for part in body.values() for hit in part)
    only = (await admin.get(f"/api/search?q=berths&user={ADA}&in=items,topics")).json()
    assert only == {**body, "messages": []}


async def test_a_key_finds_what_it_may_see(served: Served) -> None:
    """A user's key finds that user's alone, without naming them; an agent's key what is said to it and what it knows."""
    await fill(served)
    mine = await speak(served, ADA, "shop", "The berth is behind the crane.")
    other = await speak(served, ADA, "desk", "The berth is beside the desk.")
    await speak(served, BEN, "shop", "The berth is Ben's.")
    async with await act_as(served, f"user:{ADA}") as client:
        body = (await client.get("/api/search?q=berth")).json()
        assert {hit["session_id"] for hit in body["messages"]} == {mine, other}
        assert [hit["id"] for hit in body["items"]] == ["itm_a1"]
        narrow = (await client.get("/api/search?q=berth+noted&agent=desk")).json()
        assert {hit["session_id"] for hit in narrow["messages"]} == {other}
        assert {hit["id"] for hit in narrow["items"]} == {"itm_a1", "itm_a_desk"}
        assert (await client.get(f"/api/search?q=berth&user={BEN}")).status_code == 403
    async with await act_as(served, "agent:shop") as client:
        body = (await client.get(f"/api/search?q=berth+noted&user={ADA}")).json()
        assert {hit["session_id"] for hit in body["messages"]} == {mine}
        assert {hit["id"] for hit in body["items"]} == {"itm_a1", "itm_a_shop"}
        assert (await client.get(f"/api/search?q=berth&user={ADA}&agent=desk")).status_code == 403
        assert (await client.get("/api/search?q=berth")).status_code == 400


async def test_a_session_is_searched_however_much_others_say(served: Served, admin: httpx2.AsyncClient) -> None:
    """A search of one session finds its only message that answers, and what it shares, beside many better ones elsewhere."""
    engine = served.runtime.engine
    long = "We spoke of weather, boats, money and tea, and only at the end of this message of the locker."
    said, other = [await engine.session(user=ADA, agent="shop", beside=True) for _ in range(2)]
    await said.append([{"role": "user", "content": long}, {"role": "assistant", "content": "I see."}])
    branch = await said.branch(2)
    for number in range(110):
        await other.append({"role": "user", "content": f"My locker is {number}."})
    body = (await admin.get(f"/api/search?q=locker&user={ADA}&in=messages&limit=100")).json()
    assert {hit["session_id"] for hit in body["messages"]} == {other.id}
    for session in (said, branch):
        path = f"/api/sessions/{session.id}/search?q=locker"
        best = (await admin.get(f"{path}&limit=1")).json()["messages"]
        assert [(hit["seq"], hit["excerpt"]) for hit in best] == [(1, long)]
        assert (await admin.get(f"{path}&role=tool")).json() == {"messages": []}
        assert (await admin.get(f"{path}&until=2001-01-01T00:00:00Z")).json() == {"messages": []}
    assert (await admin.get(f"/api/sessions/{said.id}/search?q=locker&limit=201")).status_code == 422


async def test_messages_are_found_by_role_and_time(served: Served, admin: httpx2.AsyncClient) -> None:
    """`role`, `since` and `until` narrow the messages, and items and topics stay as they are."""
    await fill(served)
    await speak(served, ADA, "shop", "The berth is behind the crane.")
    whole = (await admin.get(f"/api/search?q=berths&user={ADA}")).json()
    (hit,) = whole["messages"]
    for query, count in (
        ("role=user", 1),
        ("role=assistant,tool", 0),
        ("role=assistant,user", 1),
        (f"since={hit['said_at']}", 1),
        (f"until={hit['said_at']}", 0),
        ("since=2001-01-01T00:00:00Z&until=2001-01-02T00:00:00%2B02:00", 0),
    ):
        body = (await admin.get(f"/api/search?q=berths&user={ADA}&{query}")).json()
        assert body == {**whole, "messages": [hit] * count}, query
        of_all = (await admin.get(f"/api/search/messages?q=berths&{query}")).json()["messages"]
        assert [one["seq"] for one in of_all] == [hit["seq"]] * count, query


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("user=default", 422),
        ("user=default&q=", 422),
        ("user=default&q=a&in=attic", 422),
        ("user=default&q=a&limit=201", 422),
        ("user=default&q=a&role=robot", 422),
        ("user=default&q=a&role=", 422),
        ("user=default&q=a&since=yesterday", 422),
        ("user=default&q=a&since=2031-05-01T00:00:00", 422),
        ("user=default&q=a&since=2031-05-01T00:00:00Z&until=2031-05-01T00:00:00Z", 422),
        ("user=somebody&q=a", 400),
        ("q=a", 400),
        ("user=default&q=%3F%21&limit=200", 200),
        ("user=default&q=%00%ff", 200),
    ],
)
async def test_a_question_has_a_form(admin: httpx2.AsyncClient, query: str, status: int) -> None:
    """A search without a question, a user, a known place or role, or a sound time is refused; one without a word finds nothing."""
    answer = await admin.get(f"/api/search?{query}")
    assert answer.status_code == status
    if status == 200:
        assert answer.json() == {"messages": [], "items": [], "topics": []}


async def test_a_search_is_audited(served: Served, admin: httpx2.AsyncClient) -> None:
    """The audit of the user who is searched names the key, and never what was asked."""
    await fill(served)
    await admin.get(f"/api/search?q=larch&user={ADA}")
    (entry,) = (await admin.get(f"/api/users/{ADA}/memory/audit")).json()["entries"]
    assert (entry["action"], entry["actor"], entry["about"]) == ("read", "key:admin False", ["/api/search"])


@pytest.mark.parametrize(("limit", "pages"), [(200, 5), (1, 6)])
async def test_an_admin_searches_all_users_page_by_page(
    served: Served, admin: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, limit: int, pages: int
) -> None:
    """The pages of a search over all users look through each user once, and end early at the limit; each hit names its user."""
    monkeypatch.setattr(search_users, "USERS_PER_LOOK", 7)
    monkeypatch.setattr(search_users, "LOOKS_PER_SEARCH", 2)
    users = [await served.runtime.engine.add_user(f"User {number}") for number in range(60)]
    for user in users[::20]:
        await speak(served, user.id, "shop", f"The berth of {user.name}.")
    path, seen, found, asked = f"/api/search/messages?q=berth&limit={limit}", 0, list[tuple[str, str, str]](), 0
    cursor: str | None = ""
    while cursor is not None:
        asked += 1
        body = (await admin.get(path + (f"&cursor={cursor}" if cursor else ""))).json()
        seen += body["users_count"]
        found += [(hit["user_id"], hit["user_name"], hit["excerpt"]) for hit in body["messages"]]
        cursor = body["next_cursor"]
    assert seen == len(await served.runtime.engine.list_users(limit=1000))
    assert asked == pages
    assert sorted(found) == sorted((user.id, user.name, f"The berth of {user.name}.") for user in users[::20])
    assert (await admin.get(f"{path}&agent=desk")).json()["messages"] == []
    assert (await admin.get(f"{path}&cursor=nobody")).status_code == 404


async def test_recall_is_explained(tmp_path: Path) -> None:
    """For a question the route tells whether a turn recalls, and what became of each message that words find."""
    async with serve(tmp_path / "recall.db", {"recall": {"enabled": True}}) as served:
        session = await served.runtime.engine.session(limit=128_000)
        await session.append([{"role": "user", "content": "The Kestrel lies at berth 17."}])
        async with await act_as(served, "admin") as client:
            told = (
                await client.get(f"/api/sessions/{session.id}/recall", params={"q": "Where is the Kestrel?"})
            ).json()
    assert told["state"] == "nothing_folded"
    assert [(one["seq"], one["verdict"], one["share"]) for one in told["reasons"]] == [(1, "in_window", 1.0)]
