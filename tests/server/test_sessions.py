"""Sessions over HTTP: listing, opening, following, erasing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.conftest import INLINE, Served, serve

from everfold.core.primitives.ids import SessionId
from everfold.ports.browsing import SessionFigures
from everfold.testing.kit.builders import calls, result, talk, user

pytestmark = pytest.mark.anyio

Body = dict[str, Any]


async def open_session(client: httpx2.AsyncClient, **asked: object) -> Body:
    """A session, opened over HTTP."""
    answer = await client.post("/api/sessions", json=asked)
    assert answer.status_code in {200, 201}, answer.text
    body: Body = answer.json()
    return body


async def say(client: httpx2.AsyncClient, session_id: str, *messages: object) -> list[int]:
    """Append, and give the numbers."""
    answer = await client.post(f"/api/sessions/{session_id}/messages", json={"messages": list(messages)})
    assert answer.status_code == 201, answer.text
    seqs: list[int] = answer.json()["seqs"]
    return seqs


async def test_a_session_is_opened_once(admin: httpx2.AsyncClient) -> None:
    """Opening makes the current session where there is none, and gives the same one afterwards, with its status."""
    first = await admin.post("/api/sessions", json={"agent": "guide"})
    second = await admin.post("/api/sessions", json={"agent": "guide"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert first.json()["is_current"]


async def test_each_session_key_has_a_session(admin: httpx2.AsyncClient) -> None:
    """Opening with a session key gives the session of that key, and lists show which has which."""
    bare = await open_session(admin)
    first = await admin.post("/api/sessions", json={"session_key": "thread-42"})
    second = await admin.post("/api/sessions", json={"session_key": "thread-42"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    listed = (await admin.get("/api/sessions", params={"order": "oldest"})).json()["sessions"]
    assert [(one["id"], one["session_key"]) for one in listed] == [(bare["id"], ""), (first.json()["id"], "thread-42")]
    assert (await admin.post("/api/sessions", json={"session_key": " "})).status_code == 422


async def test_a_session_has_a_title(admin: httpx2.AsyncClient) -> None:
    """A title is set, shown before the derived one, found in any case, and taken away; it breaks no cache."""
    made = await open_session(admin)
    await say(admin, made["id"], *talk(1))
    path = f"/api/sessions/{made['id']}"
    derived = (await admin.get(path)).json()
    assert (derived["own_title"], derived["title"]) == ("", derived["title"])
    assert derived["title"]
    titled = (await admin.patch(path, json={"title": " <b>Berths</b>\u202e \n"})).json()
    assert titled == derived | {"own_title": "<b>Berths</b>", "title": "<b>Berths</b>"}
    found = (await admin.get("/api/sessions", params={"title": "bERTHS"})).json()["sessions"]
    assert [(one["id"], one["title"], one["preview"]) for one in found] == [(made["id"], "<b>Berths</b>", None)]
    assert (await admin.get("/api/sessions", params={"title": "cranes"})).json()["sessions"] == []
    assert (await admin.patch(path, json={"title": "W" * 201})).status_code == 422
    assert (await admin.patch(path, json={"title": ""})).json() == derived


async def test_sessions_are_listed_by_time(admin: httpx2.AsyncClient) -> None:
    """A time range leaves the sessions that were created in it; one that holds no moment is refused."""
    made = await open_session(admin)
    created = made["created_at"]

    async def list_ids(**asked: str) -> list[str]:
        return [one["id"] for one in (await admin.get("/api/sessions", params=asked)).json()["sessions"]]

    assert await list_ids(since=created) == await list_ids(until="2999-01-01T00:00:00Z") == [made["id"]]
    assert await list_ids(until=created) == await list_ids(since="2999-01-01T00:00:00Z") == []
    assert (await admin.get("/api/sessions", params={"since": created, "until": created})).status_code == 422
    assert (await admin.get("/api/sessions", params={"since": "2031-05-01"})).status_code == 422


async def test_what_a_session_holds_reads_back(admin: httpx2.AsyncClient) -> None:
    """Limit, system prompt and tools are given back exactly, with the state and its slices."""
    tool = {"name": "look_up", "input_schema": {"type": "object", "z": 1, "a": [1.0, None]}}
    asked = json.dumps({"limit": 9000, "system": "Be brief. \ud800", "tools": [tool]})
    headers = {"Content-Type": "application/json"}
    made = (await admin.post("/api/sessions", content=asked, headers=headers)).json()
    await say(admin, made["id"], *talk(1))
    body = json.loads((await admin.get(f"/api/sessions/{made['id']}")).text)
    assert body["settings"]["limit_tokens"] == body["limit_tokens"] == 9000
    assert body["settings"]["system"] == "Be brief. \ud800"
    assert body["settings"]["tools"] == [tool]
    assert body["state"]["last_seq"] == body["messages_count"] == 2
    slices = {one["name"]: one["tokens"] for one in body["state"]["slices"]}
    assert sum(slices.values()) == body["state"]["tokens"]


async def test_a_session_is_configured_by_its_id(admin: httpx2.AsyncClient) -> None:
    """Any session's limit, system prompt and tools change by its id; what is left out stays."""
    made = await open_session(admin, limit=9000, system="Be brief.", tools=[{"name": "look_up"}])
    path = f"/api/sessions/{made['id']}"
    changed = (await admin.patch(path, json={"limit": 12_000, "tools": []})).json()
    assert changed == (await admin.get(path)).json()
    assert (changed["limit_tokens"], changed["settings"]["tools"]) == (12_000, [])
    assert changed["settings"]["system"] == "Be brief."
    assert (await admin.patch(path, json={"limit": 300})).status_code == 422
    assert (await admin.patch("/api/sessions/ses_nowhere", json={"limit": 9000})).status_code == 404


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}])
async def test_a_change_that_is_refused_changes_nothing(admin: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    """A title beside settings that are refused is not taken either, and with an Idempotency-Key the refusal is the same."""
    path = f"/api/sessions/{(await open_session(admin))['id']}"
    before = (await admin.get(path)).json()
    change = {"title": "Berths", "limit": 300}
    refused = await admin.patch(path, json=change, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "budget_unsatisfiable")
    assert (await admin.get(path)).json() == before
    changed = await admin.patch(path, json={**change, "limit": 12_000})
    assert (changed.json()["own_title"], changed.json()["limit_tokens"]) == ("Berths", 12_000)


async def test_a_new_session_follows_the_current_one(admin: httpx2.AsyncClient) -> None:
    """With `new` another session follows, holds what the one before held but for what is given, and is current."""
    first = await open_session(admin, limit=9000, system="Be brief.")
    answer = await admin.post("/api/sessions", json={"new": True, "limit": 12_000})
    second = answer.json()
    assert answer.status_code == 201
    assert (second["parent_id"], second["is_current"], second["limit_tokens"]) == (first["id"], True, 12_000)
    settings = (await admin.get(f"/api/sessions/{second['id']}")).json()["settings"]
    assert settings["system"] == "Be brief."
    assert not (await admin.get(f"/api/sessions/{first['id']}")).json()["is_current"]


async def test_a_session_that_cannot_be_is_not_made(admin: httpx2.AsyncClient) -> None:
    """A limit that leaves no room is refused with the smallest that works, and nothing is opened or followed."""
    refused = await admin.post("/api/sessions", json={"limit": 100})
    assert (refused.status_code, refused.json()["code"]) == (422, "budget_unsatisfiable")
    first = await open_session(admin, limit=9000)
    refused = await admin.post("/api/sessions", json={"limit": 100, "new": True})
    assert refused.status_code == 422
    listed = (await admin.get("/api/sessions")).json()["sessions"]
    assert [(one["id"], one["is_current"]) for one in listed] == [(first["id"], True)]


async def test_sessions_are_listed_page_by_page_from_either_end(admin: httpx2.AsyncClient) -> None:
    """The newest come first unless the oldest are asked for, and pages give each session once."""
    made = [(await open_session(admin, agent=f"agent {n}"))["id"] for n in range(5)]
    for order, expected in (("newest", made[::-1]), ("oldest", made)):
        listed: list[str] = []
        cursor: str | None = None
        while True:
            params: dict[str, str | int] = {"limit": 2, "order": order, **({"cursor": cursor} if cursor else {})}
            page = (await admin.get("/api/sessions", params=params)).json()
            listed += [one["id"] for one in page["sessions"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert listed == expected
    first = (await admin.get("/api/sessions", params={"limit": 1})).json()["sessions"]
    assert [one["id"] for one in first] == [made[-1]]


@pytest.mark.parametrize("erased", [(4,), (4, 3), ()])
async def test_a_page_from_which_sessions_are_erased_is_filled(
    served: Served, admin: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, erased: tuple[int, ...]
) -> None:
    """Sessions that are erased while a page is read are left out, and the page still leads to all the others."""
    made = [(await open_session(admin, agent=f"agent {n}"))["id"] for n in range(5)]
    store = served.runtime.engine._store
    read_figures, gone = store.read_figures, [made[n] for n in erased]

    async def erase_and_read(session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
        while gone:
            await served.runtime.engine.erase_session(gone.pop())
        return await read_figures(session_ids)

    monkeypatch.setattr(store, "read_figures", erase_and_read)
    expected = [one for n, one in enumerate(made) if n not in erased][::-1]
    page = (await admin.get("/api/sessions", params={"limit": 2})).json()
    assert [one["id"] for one in page["sessions"]] == expected[:2]
    after = (await admin.get("/api/sessions", params={"limit": 9, "cursor": page["next_cursor"]})).json()
    assert [one["id"] for one in after["sessions"]] == expected[2:]


@pytest.mark.parametrize("cursor", [None, 5])
async def test_a_page_is_read_again_where_its_last_session_is_erased_too(
    served: Served, admin: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, cursor: int | None
) -> None:
    """A page whose last session is erased before the page is filled again leaves out both, and is no error."""
    made = [(await open_session(admin, agent=f"agent {n}"))["id"] for n in range(6)]
    newest = 5 if cursor is None else 4
    store = served.runtime.engine._store
    read_figures, gone = store.read_figures, [made[newest - 2], made[newest - 1]]

    async def read_between_erases(session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
        if len(gone) == 2:
            await served.runtime.engine.erase_session(gone.pop(0))
            figures = await read_figures(session_ids)
            await served.runtime.engine.erase_session(gone.pop(0))
            return figures
        return await read_figures(session_ids)

    monkeypatch.setattr(store, "read_figures", read_between_erases)
    asked = {} if cursor is None else {"cursor": made[cursor]}
    page = await admin.get("/api/sessions", params={"limit": "3", **asked})
    assert page.status_code == 200
    expected = [one for n, one in enumerate(made) if n <= newest and n not in (newest - 1, newest - 2)][::-1]
    assert [one["id"] for one in page.json()["sessions"]] == expected[:3]


async def test_a_list_tells_how_far_each_session_is(admin: httpx2.AsyncClient) -> None:
    """Count of messages, watermark, title and preview in the list are those that the session itself tells."""
    made = await open_session(admin, limit=4000)
    await say(admin, made["id"], *talk(8))
    await admin.post(f"/api/sessions/{made['id']}/compact", json={"keep_recent": 2})
    [listed] = (await admin.get("/api/sessions?previews=true")).json()["sessions"]
    own = (await admin.get(f"/api/sessions/{made['id']}")).json()
    assert {name: own[name] for name in listed} == listed
    assert listed["messages_count"] == 16
    assert listed["compacted_through"] > 0


async def test_keys_see_their_own_sessions(served: Served, admin: httpx2.AsyncClient) -> None:
    """A list holds what the key sees; whom it does not see it may not ask for, and a foreign session is as unknown."""
    ada, ben = [(await admin.post("/api/users", json={"name": name})).json()["id"] for name in ("Ada", "Ben")]
    made = {
        (who, agent): (await open_session(admin, user=who, agent=agent))["id"]
        for who in (ada, ben)
        for agent in ("guide", "clerk")
    }
    for scope, own in (
        (f"user:{ada}", {made[ada, "guide"], made[ada, "clerk"]}),
        ("agent:guide", {made[ada, "guide"], made[ben, "guide"]}),
    ):
        async with served.client(await served.key(scope)) as client:
            listed = (await client.get("/api/sessions")).json()["sessions"]
            assert {one["id"] for one in listed} == own
            unknown = (await client.get("/api/sessions/ses_nobody")).json()
            for session_id in made.values():
                answer = await client.get(f"/api/sessions/{session_id}")
                assert answer.status_code == (200 if session_id in own else 404)
                if session_id not in own:
                    told = answer.json()["detail"].replace(session_id, "ses_nobody")
                    assert told == unknown["detail"]
    async with served.client(await served.key(f"user:{ada}", name="again")) as client:
        assert (await client.get("/api/sessions", params={"user": ben})).status_code == 403
        assert (await client.post("/api/sessions", json={"user": ben})).status_code == 403
        assert (await client.post("/api/sessions", json={"agent": "guide"})).json()["id"] == made[ada, "guide"]
    async with served.client(await served.key("agent:clerk")) as client:
        assert (await client.get("/api/sessions", params={"agent": "guide"})).status_code == 403
        assert (await client.post("/api/sessions", json={"user": ben})).json()["id"] == made[ben, "clerk"]


async def test_users_are_named_strictly(admin: httpx2.AsyncClient) -> None:
    """`default` and UUIDs name users; a name or the nil UUID cannot be read."""
    for text in ("Ada", "", "00000000-0000-0000-0000-000000000000"):
        assert (await admin.get("/api/sessions", params={"user": text})).status_code == 400
        assert (await admin.post("/api/sessions", json={"user": text})).status_code == 400


async def test_sessions_follow_branch_and_come_back(admin: httpx2.AsyncClient) -> None:
    """New, reset, branch, rewind and resume make what they say, and one session is current after each."""
    first = await open_session(admin)
    await say(admin, first["id"], *talk(3))
    url = f"/api/sessions/{first['id']}"
    branch = await admin.post(f"{url}/branch", json={"seq": 2})
    assert branch.status_code == 201
    assert (branch.json()["is_current"], branch.json()["messages_count"]) == (False, 2)
    rewound = (await admin.post(f"{url}/rewind", json={"seq": 4})).json()
    assert (rewound["is_current"], rewound["branch_seq"], rewound["started_by"]) == (True, 4, "rewind")
    assert (await admin.post(f"{url}/new")).status_code == 409
    resumed = await admin.post(f"{url}/resume")
    assert (resumed.status_code, resumed.json()["is_current"]) == (200, True)
    followed = (await admin.post(f"{url}/new")).json()
    reset = (await admin.post(f"/api/sessions/{followed['id']}/reset")).json()
    assert (followed["parent_id"], reset["parent_id"]) == (first["id"], followed["id"])
    listed = (await admin.get("/api/sessions")).json()["sessions"]
    assert [one["id"] for one in listed if one["is_current"]] == [reset["id"]]
    assert len(listed) == 5


async def test_no_step_is_split(admin: httpx2.AsyncClient) -> None:
    """A branch within a step, or past the end, is refused and says where the step ends; nothing is made."""
    made = await open_session(admin)
    await say(admin, made["id"], user("Look."), calls("call_1"), result("call_1", "Seen."), *talk(1))
    for verb in ("branch", "rewind"):
        refused = await admin.post(f"/api/sessions/{made['id']}/{verb}", json={"seq": 2})
        assert refused.status_code == 422
        assert "message 3" in refused.json()["detail"]
        assert (await admin.post(f"/api/sessions/{made['id']}/{verb}", json={"seq": 99})).status_code == 422
        assert (await admin.post(f"/api/sessions/{made['id']}/{verb}", json={"seq": 0})).status_code == 422
    assert len((await admin.get("/api/sessions")).json()["sessions"]) == 1


async def test_an_erased_session_is_gone(admin: httpx2.AsyncClient) -> None:
    """Erasing counts what went, and nothing can be done with it any more; branches must be meant to go too."""
    made = await open_session(admin)
    await say(admin, made["id"], *talk(2))
    branch = (await admin.post(f"/api/sessions/{made['id']}/branch", json={"seq": 2})).json()
    assert (await admin.delete(f"/api/sessions/{made['id']}")).status_code == 409
    gone = await admin.delete(f"/api/sessions/{made['id']}", params={"branches": True})
    assert set(gone.json()["sessions"]) == {made["id"], branch["id"]}
    assert gone.json()["messages"] == 4
    for session_id in (made["id"], branch["id"]):
        assert (await admin.get(f"/api/sessions/{session_id}")).status_code == 404
        more = await admin.post(f"/api/sessions/{session_id}/messages", json={"messages": talk(1)})
        assert more.status_code == 404


@pytest.mark.parametrize("path", ["", "/messages/1"])
async def test_what_is_erased_of_memory_is_audited_under_the_key(tmp_path: Path, path: str) -> None:
    """When an erase takes something from memory, the audit names the key that did it."""
    settings = {**INLINE, "memory": {"system": "structured"}}
    async with serve(tmp_path / "served.db", settings) as served:
        secret = await served.key("admin", name="the operator")
        async with served.client(secret) as client:
            made = await open_session(client)
            await say(client, made["id"], user("Remember: my berth is number 7."), *talk(1))
            assert (await client.delete(f"/api/sessions/{made['id']}{path}")).json()["items"]
        audit = await (await served.runtime.engine.memory()).audit()
        assert "key:the operator" in {entry.actor for entry in audit}


async def test_a_sound_session_verifies(admin: httpx2.AsyncClient) -> None:
    """A verification over HTTP says how much it saw and finds nothing in a log that was folded."""
    made = await open_session(admin, limit=4000)
    await say(admin, made["id"], *talk(8))
    await admin.post(f"/api/sessions/{made['id']}/compact", json={"keep_recent": 2})
    seen = (await admin.get(f"/api/sessions/{made['id']}/verify")).json()
    assert seen == {"problems": [], "checked": {"messages_count": 16, "compactions_count": 1}}
    assert (await admin.get(f"/api/sessions/{made['id']}/calls")).json() == {"calls": [], "next_cursor": None}
