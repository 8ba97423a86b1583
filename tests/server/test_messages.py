"""Messages over HTTP: what is appended reads back equal, and is found by range, around and page by page."""

import json
from typing import Any

import httpx2
import pytest
from tests.server.conftest import Served

from everfold.testing.kit.builders import assistant, calls, result, talk, user

pytestmark = pytest.mark.anyio

Body = dict[str, Any]

ODD: list[Body] = [
    {"z": 1, "role": "user", "content": "keys keep their order", "a": {"y": 1, "b": [None, True, {"q": 1}]}},
    {"role": "user", "content": "half \ud83d of a character, and \udc00 the other"},
    {"role": "user", "content": "numbers", "n": [1.0, 1, -0.0, 1e300, 12345678901234567890, 0.1]},
    {"role": "user", "content": "half a key", "\ud800key": {"\udfff": "\ud800"}},
    {"role": "user", "content": "\u0000\u200b\u202e <script>alert(1)</script> e\u0301 \U0001f9d1\u200d\U0001f680"},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "odd_part", "odd_part": {"x": 1}}]},
]


@pytest.fixture
async def session_id(admin: httpx2.AsyncClient) -> str:
    """A session without a message."""
    return str((await admin.post("/api/sessions", json={"limit": 16_000})).json()["id"])


async def say(client: httpx2.AsyncClient, session_id: str, *messages: object, **more: object) -> httpx2.Response:
    """Append; lone surrogates go as escapes."""
    body = json.dumps({"messages": list(messages), **more})
    return await client.post(
        f"/api/sessions/{session_id}/messages", content=body, headers={"Content-Type": "application/json"}
    )


async def read(client: httpx2.AsyncClient, session_id: str, **asked: str | int) -> Body:
    """A page of messages."""
    answer = await client.get(f"/api/sessions/{session_id}/messages", params=asked)
    assert answer.status_code == 200, answer.text
    body: Body = json.loads(answer.text)
    return body


async def test_the_newest_messages_are_retracted(admin: httpx2.AsyncClient, session_id: str) -> None:
    """A retraction names what it took back; the messages are listed as retracted, and the request is without them."""
    path = f"/api/sessions/{session_id}"
    await admin.post(f"{path}/messages", json={"messages": talk(2)})
    done = await admin.post(f"{path}/retract", json={"count": 2})
    assert (done.status_code, done.json()) == (200, {"seqs": [3, 4], "items": [], "restored": []})
    listed = (await admin.get(f"{path}/messages")).json()["messages"]
    assert [one["is_retracted"] for one in listed] == [False, False, True, True]
    assert listed[2]["text"] == talk(2)[2]["content"]
    assert len((await admin.get(f"{path}/window")).json()["request"]["messages"]) == 2
    assert (await admin.post(f"{path}/retract", json={"count": 3})).status_code == 422
    assert (await admin.post(f"{path}/retract", json={"last": 1})).status_code == 409
    assert (await admin.post(f"{path}/retract", json={"last": 2})).json()["seqs"] == [2]


async def test_an_overlapping_batch_appends_the_rest(admin: httpx2.AsyncClient, session_id: str) -> None:
    """Over HTTP too, named messages are stored once and are looked up by their names and hashes."""
    path = f"/api/sessions/{session_id}"
    wires = talk(2)
    first = await admin.post(f"{path}/messages", json={"messages": wires[:2], "client_ids": ["a", "b"]})
    both = await admin.post(f"{path}/messages", json={"messages": wires, "client_ids": ["a", "b", "c", None]})
    assert (first.json()["seqs"], both.json()["seqs"]) == ([1, 2], [1, 2, 3, 4])
    found = await admin.get(f"{path}/lookup", params={"client_id": ["a", "c", "x"]})
    assert found.json() == {"seqs": {"a": 1, "c": 3}}
    assert (await admin.get(f"{path}/lookup", params={"hash": "zzz"})).status_code == 422


async def test_what_is_appended_reads_back_equal(admin: httpx2.AsyncClient, session_id: str) -> None:
    """Key order, forms of numbers and every code point of a message come back as they were sent."""
    answer = await say(admin, session_id, *ODD)
    assert answer.json() == {"seqs": list(range(1, len(ODD) + 1))}
    page = await read(admin, session_id)
    assert [json.dumps(message["wire"]) for message in page["messages"]] == [json.dumps(wire) for wire in ODD]
    one = json.loads((await admin.get(f"/api/sessions/{session_id}/messages/2")).text)
    assert one["text"] == ODD[1]["content"]


async def test_a_message_of_a_number_that_no_log_reaches_is_not_asked_for(
    admin: httpx2.AsyncClient, session_id: str
) -> None:
    """It is told as the fault of the number in the path, to be read and to be erased, and the last number is only not found."""
    path = f"/api/sessions/{session_id}/messages"
    for far in (2**62 + 1, 10**30):
        assert (await admin.get(f"{path}/{far}")).status_code == 422
        assert (await admin.delete(f"{path}/{far}")).status_code == 422
    assert (await admin.get(f"{path}/{2**62}")).status_code == 404


async def test_messages_are_appended_all_or_none(admin: httpx2.AsyncClient, session_id: str) -> None:
    """When one of several messages is none, nothing is stored, and the answer says what was wrong."""
    wrong: list[object] = [{"role": "nobody", "content": "x"}, "text", None, {"content": "x"}, []]
    for bad in wrong:
        refused = await say(admin, session_id, user("fine"), bad)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert (await say(admin, session_id)).status_code == 422
    assert (await read(admin, session_id))["messages"] == []


async def test_an_append_is_named_once(admin: httpx2.AsyncClient, session_id: str) -> None:
    """The same client id again gives the same numbers; for another message it is a conflict."""
    first = await say(admin, session_id, *talk(1), client_id="mail/1")
    again = await say(admin, session_id, *talk(1), client_id="mail/1")
    other = await say(admin, session_id, user("another"), client_id="mail/1")
    assert (first.json(), again.json(), other.status_code) == ({"seqs": [1, 2]}, {"seqs": [1, 2]}, 409)
    assert (await read(admin, session_id))["last_seq"] == 2


async def test_a_repeated_request_appends_once(admin: httpx2.AsyncClient, session_id: str) -> None:
    """The same request with the same idempotency key is carried out once."""
    url, body, headers = f"/api/sessions/{session_id}/messages", {"messages": talk(1)}, {"Idempotency-Key": "one"}
    first = await admin.post(url, json=body, headers=headers)
    again = await admin.post(url, json=body, headers=headers)
    assert first.json() == again.json() == {"seqs": [1, 2]}
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (await read(admin, session_id))["last_seq"] == 2


async def test_without_an_origin_it_follows_the_source(admin: httpx2.AsyncClient, session_id: str) -> None:
    """A tick and an injection that name no origin are the system's and from outside, over HTTP too."""
    await say(admin, session_id, user("Every hour."), source="tick")
    await say(admin, session_id, user("From a calendar."), source="injection")
    assert [one["origin"] for one in (await read(admin, session_id))["messages"]] == ["system", "external"]


async def test_origin_source_and_time_are_kept(admin: httpx2.AsyncClient, session_id: str) -> None:
    """What a message is said to be is stored; authority follows from it, and what cannot be is refused."""
    said_at = "2031-05-01T09:30:00+02:00"
    await say(admin, session_id, user("From outside."), origin="external", said_at=said_at)
    await say(admin, session_id, user("Every hour."), origin="system", source="tick")
    outside, tick = (await read(admin, session_id))["messages"]
    assert (outside["origin"], outside["authority"], outside["said_at"]) == ("external", 0, "2031-05-01T07:30:00Z")
    assert (tick["origin"], tick["source"], tick["kind"]) == ("system", "tick", "notice")
    for wrong in ({"origin": "nobody"}, {"source": "rumour"}, {"said_at": "2031-05-01T09:30:00"}, {"unknown": 1}):
        assert (await say(admin, session_id, user("x"), **wrong)).status_code == 422
    assert (await say(admin, session_id, assistant("x"), origin="system")).status_code == 422


async def test_messages_are_read_by_range_around_and_page_by_page(admin: httpx2.AsyncClient, session_id: str) -> None:
    """Every way of asking gives the same messages by their numbers, and says where it goes on."""
    await say(admin, session_id, *talk(10))

    async def seqs(**asked: int) -> list[int]:
        return [message["seq"] for message in (await read(admin, session_id, **asked))["messages"]]

    assert await seqs(first=3, last=5) == [3, 4, 5]
    assert await seqs(first=19, last=40) == [19, 20]
    assert await seqs(first=19) == [19, 20]
    assert await seqs(around=10, before=2, after=1) == [8, 9, 10, 11]
    assert await seqs(around=1) == [1, 2, 3, 4]
    assert await seqs(after=17) == [18, 19, 20]
    assert await seqs(after=17, limit=1) == [18]
    assert await seqs(first=21) == []
    listed: list[int] = []
    cursor: str | None = "0"
    while cursor is not None:
        page = await read(admin, session_id, limit=7, cursor=cursor)
        listed += [message["seq"] for message in page["messages"]]
        cursor = page["next_cursor"]
    assert listed == list(range(1, 21))
    for wrong in ({"first": 5, "last": 4}, {"first": 1, "last": 5000}, {"first": 0}, {"limit": 0}, {"nothing": 1}):
        assert (await admin.get(f"/api/sessions/{session_id}/messages", params=wrong)).status_code == 422
    assert (await admin.get(f"/api/sessions/{session_id}/messages", params={"around": 21})).status_code == 404


async def test_a_message_tells_its_parts_and_lines(admin: httpx2.AsyncClient, session_id: str) -> None:
    """Calls and results are told apart from texts, and the extract lines are quotes of the text."""
    await say(admin, session_id, user("Remember: berth 7 costs 12 euros."), calls("call_1"), result("call_1", "Yes."))
    said, asked, answered = (await read(admin, session_id))["messages"]
    assert asked["parts"] == [{"kind": "call", "id": "call_1", "name": "look_up", "arguments": "{}"}]
    assert answered["parts"][0]["call_id"] == "call_1"
    assert said["extract_lines"]
    for line in said["extract_lines"]:
        assert said["text"][line["start"] :].startswith(line["quote"])


async def test_a_long_message_is_read_by_pages(admin: httpx2.AsyncClient, session_id: str) -> None:
    """The pages of a message joined are its text, its visible form is smaller, and there is no page behind the last."""
    text = "".join(f"line {n} of a long letter\n" for n in range(2_000))
    await say(admin, session_id, user(text))
    url = f"/api/sessions/{session_id}/messages/1"
    first = (await admin.get(url, params={"page": 1})).json()
    pages = [(await admin.get(url, params={"page": n})).json()["text"] for n in range(1, first["pages_count"] + 1)]
    assert "".join(pages) == text
    assert first["visible_tokens"] < first["tokens"]
    assert first["wire"] is None
    assert (await admin.get(url)).json()["text"] == text
    assert (await admin.get(url, params={"page": first["pages_count"] + 1})).status_code == 404


async def test_an_erased_message_leaves_a_tombstone(admin: httpx2.AsyncClient, session_id: str) -> None:
    """After an erase the number stays in every list without a word, and it cannot be done twice."""
    await say(admin, session_id, user("My secret word is xylophone."), *talk(2))
    gone = await admin.delete(f"/api/sessions/{session_id}/messages/1")
    assert (gone.status_code, gone.json()["sessions"]) == (200, [session_id])
    for asked in ({"first": 1, "last": 5}, {"around": 1}, {"after": 0}):
        page = await admin.get(f"/api/sessions/{session_id}/messages", params=asked)
        assert "xylophone" not in page.text
        tombstone = page.json()["messages"][0]
        assert (tombstone["seq"], tombstone["is_erased"], tombstone["wire"]) == (1, True, None)
    assert (await admin.get(f"/api/sessions/{session_id}/messages/1")).json()["is_erased"]
    assert (await admin.delete(f"/api/sessions/{session_id}/messages/1")).status_code == 404


async def test_a_foreign_log_is_closed(served: Served, admin: httpx2.AsyncClient, session_id: str) -> None:
    """Who does not see a session neither reads, appends nor erases there, and a key that reads only reads."""
    await say(admin, session_id, *talk(1))
    ada = (await admin.post("/api/users", json={"name": "Ada"})).json()["id"]
    async with served.client(await served.key(f"user:{ada}")) as client:
        assert (await say(client, session_id, user("x"))).status_code == 404
        for method, path in (("GET", ""), ("GET", "/1"), ("DELETE", "/1")):
            answer = await client.request(method, f"/api/sessions/{session_id}/messages{path}")
            assert answer.status_code == 404
    async with served.client(await served.key("admin", read_only=True)) as client:
        assert (await say(client, session_id, user("x"))).status_code == 403
        assert (await client.delete(f"/api/sessions/{session_id}/messages/1")).status_code == 403
    assert len((await read(admin, session_id))["messages"]) == 2
