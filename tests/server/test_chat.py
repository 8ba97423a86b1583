"""Chat over HTTP: what streams is stored, and one answer at a time is on its way."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.asking import ask
from tests.server.conftest import INLINE, Served, serve
from tests.server.streaming import PATIENCE_SECS, listening, streaming, wait_until
from tests.support.sizes import every, some

from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.log.interruption import INTERRUPTED_MARK
from everfold.core.observation.events import Recovered
from everfold.ports.leases import LeaseName

pytestmark = pytest.mark.anyio

CHAT = "/api/agents/guide/chat"
SLOW = {"text": "Berth seven is free and costs twelve euros. " * 20, "word_secs": 0.05}

TURN_TASKS = ("everfold turn", "everfold chat stopper")
"""What runs for as long as an answer."""


@dataclass(frozen=True, kw_only=True)
class Talking:
    """A server on a port with an agent that follows a script."""

    served: Served
    url: str

    @asynccontextmanager
    async def client(self, scope: str = "admin") -> AsyncIterator[httpx2.AsyncClient]:
        """A client with a key of a scope."""
        secret = await self.served.key(scope)
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE_SECS) as client:
            yield client


@pytest.fixture
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that is refused is refused soon."""
    monkeypatch.setattr("everfold.server.chats.LEASE_SECS", 0.6)


@asynccontextmanager
async def talking(
    tmp_path: Path, *steps: dict[str, object], name: str = "script", rotates: bool = False
) -> AsyncIterator[Talking]:
    """A server whose agent `guide` answers with these steps, which are in a file of this name."""
    script = tmp_path / f"{name}.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
    settings = {
        **INLINE,
        "sessions": {"rotate_on_compaction": rotates},
        "agents": {"guide": {"model": f"script:{script}", "context_limit": 8000}},
    }
    async with serve(tmp_path / "served.db", settings) as served, listening(served.app) as url:
        yield Talking(served=served, url=url)


@contextmanager
def hearing_failures() -> Iterator[list[dict[str, Any]]]:
    """What fails meanwhile without anybody who waits for it."""
    loop, failed = asyncio.get_running_loop(), list[dict[str, Any]]()
    former = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: failed.append(context))
    try:
        yield failed
    finally:
        loop.set_exception_handler(former)


def asking(client: httpx2.AsyncClient, **body: object) -> Any:
    """A stream of an answer."""
    return streaming(client, "POST", CHAT, {"user": "default", "message": "Which berth is free?", **body})


async def read_log(client: httpx2.AsyncClient, session_id: str) -> list[tuple[str, str]]:
    """What a session's log says."""
    answer = await client.get(f"/api/sessions/{session_id}/messages")
    return [(message["role"], message["text"]) for message in answer.json()["messages"]]


async def name_lease(talk: Talking, session_id: str) -> LeaseName:
    """The lease of the answers in a session."""
    record = (await talk.served.runtime.engine.session(id=session_id)).record
    return LeaseName(user_id=record.user_id, work="answer", about=record.id)


async def test_an_answer_streams_and_is_stored(tmp_path: Path) -> None:
    """The pieces that stream are the message that is stored, and the end names its number."""
    async with talking(tmp_path, {"text": "Berth seven is free."}) as talk, talk.client() as client:
        async with asking(client) as stream:
            assert stream.answer.headers["content-type"].startswith("text/event-stream")
            events = await stream.all()
        names = [name for name, _ in events]
        assert names[0] == names[-2] == "said"
        assert names[-1] == "done"
        assert "".join(data["text"] for name, data in events if name == "text_delta") == "Berth seven is free."
        done = events[-1][1]
        assert done["last_seq"] == 2
        assert {data["session_id"] for _, data in events} == {done["session_id"]}
        assert await read_log(client, done["session_id"]) == [
            ("user", "Which berth is free?"),
            ("assistant", "Berth seven is free."),
        ]


async def test_a_second_answer_at_once_is_refused(tmp_path: Path) -> None:
    """While an answer is on its way another one in the same session is a conflict, before any stream begins."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as client, asking(client) as stream:
        said = await stream.until("said")
        refused = await client.post(CHAT, json={"user": "default", "message": "And now?"})
        named = await client.post(
            CHAT, json={"user": "default", "message": "And now?", "session_id": said["session_id"]}
        )
        assert (refused.status_code, named.status_code) == (409, 409)
        assert refused.json()["code"] == "conflict"
        assert [role for role, _ in await read_log(client, said["session_id"])] == ["user"]


@pytest.mark.usefixtures("short_leases")
async def test_two_servers_give_one_answer_at_once(tmp_path: Path) -> None:
    """A second server of the same store refuses an answer while the first gives one, and gives it after that."""
    async with talking(tmp_path, SLOW) as talk, talking(tmp_path, {"text": "Berth seven."}, name="other") as other:
        async with talk.client() as client, other.client("user:default") as asker:
            async with asking(client) as stream:
                session_id = (await stream.until("said"))["session_id"]
                refused = await asker.post(CHAT, json={"user": "default", "message": "And now?"})
                named = {"user": "default", "message": "And now?", "session_id": session_id}
                assert refused.status_code == (await asker.post(CHAT, json=named)).status_code == 409
                assert (refused.json()["code"], session_id in refused.json()["detail"]) == ("conflict", True)
                await client.post(f"{CHAT}/stop", json={"session_id": session_id})
                await stream.until("done")
            async with asking(asker, message="And now?") as stream:
                assert (await stream.all())[-1][0] == "done"
            log = await read_log(client, session_id)
        assert [role for role, _ in log] == ["user", "assistant", "user", "assistant"]


async def test_a_stop_at_another_server_of_a_file_says_where_to_ask(tmp_path: Path) -> None:
    """Over one SQLite file a server cannot stop the answer of another one: the stop is a conflict, and the answer goes on."""
    async with (
        talking(tmp_path, SLOW) as talk,
        talking(tmp_path, SLOW, name="other") as other,
        talk.client() as client,
        other.client("user:default") as asker,
        asking(client) as stream,
    ):
        session_id = (await stream.until("text_delta"))["session_id"]
        refused = await asker.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert session_id in refused.json()["detail"]
        await stream.until("text_delta")
        stopped = await client.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert stopped.json() == {"stopped": True}
        await stream.until("done")
        stopped = await asker.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert stopped.json() == {"stopped": False}


async def test_stops_at_once_find_that_nothing_runs(tmp_path: Path) -> None:
    """However many stops come at the same moment, each tells that no answer runs, and none takes another for one."""
    async with talking(tmp_path, {"text": "Berth seven."}) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("done"))["session_id"]
        await wait_until(lambda: not talk.served.runtime.chats._talks)
        stops = [client.post(f"{CHAT}/stop", json={"session_id": session_id}) for _ in range(8)]
        assert [stopped.json() for stopped in await asyncio.gather(*stops)] == [{"stopped": False}] * 8


async def test_a_stop_takes_no_lease(tmp_path: Path) -> None:
    """An answer whose server was paused, so that its lease has run out, has it again though a stop came in between."""
    async with talking(tmp_path, {"text": "Berth seven."}) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("done"))["session_id"]
        await wait_until(lambda: not talk.served.runtime.chats._talks)
        leases = talk.served.runtime.engine.admin.leases
        name = await name_lease(talk, session_id)
        assert await leases.claim_lease(name, holder="ans_paused", secs=-1.0)
        stopped = await client.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert (stopped.status_code, stopped.json()) == (200, {"stopped": False})
        assert await leases.renew_lease(name, holder="ans_paused", secs=1.0)


async def test_what_a_dead_server_has_left_is_waited_for(tmp_path: Path) -> None:
    """An answer that no server gives any more holds up the next until its lease runs out, and does not refuse it."""
    async with talking(tmp_path, {"text": "Berth seven."}) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("said"))["session_id"]
            await stream.until("done")
        name = await name_lease(talk, session_id)
        assert await talk.served.runtime.engine.admin.leases.claim_lease(name, holder="ans_gone", secs=1.0)
        async with asking(client, message="And now?") as stream:
            assert (await stream.all())[-1][0] == "done"


@pytest.mark.usefixtures("short_leases")
async def test_an_answer_that_moves_to_a_new_session_holds_it(tmp_path: Path) -> None:
    """Where a session rotates within an answer, another server refuses one in the session that is current then."""
    pages = "The tariff of the harbour has many pages, and this is one of them. " * 120
    async with (
        talking(tmp_path, SLOW, rotates=True) as talk,
        talking(tmp_path, {"text": "Berth seven."}, name="other", rotates=True) as other,
        talk.client() as client,
        other.client("user:default") as asker,
    ):
        sessions: list[str] = []
        while len(set(sessions)) < 2:
            async with asking(client, message=pages) as stream:
                sessions.append((await stream.until("text_delta"))["session_id"])
                refused = await asker.post(CHAT, json={"user": "default", "message": "And now?"})
                assert refused.status_code == 409
                await client.post(f"{CHAT}/stop", json={"session_id": sessions[-1]})
                await stream.until("done")


async def test_a_cut_stores_what_was_said(tmp_path: Path) -> None:
    """An answer that is cut is stored as far as it came, with its mark, and the stream tells of it and ends."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("text_delta"))["session_id"]
            await stream.until("text_delta")
            cut = await client.post(f"{CHAT}/stop", json={"session_id": session_id})
            assert cut.json() == {"stopped": True}
            told = await stream.until("stopped")
            await stream.until("done")
        [(_, _), (role, text)] = await read_log(client, session_id)
        assert role == "assistant"
        assert text.startswith("Berth seven ")
        assert text.endswith(INTERRUPTED_MARK)
        assert told["text"] == text.removesuffix(INTERRUPTED_MARK).rstrip("\n")
        again = await client.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert again.json() == {"stopped": False}


async def test_a_client_that_goes_away_cuts_its_answer(tmp_path: Path) -> None:
    """When the stream is no longer read, the model is stopped, and what was said until then is in the log."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("text_delta"))["session_id"]
            await stream.until("text_delta")
        await wait_until(lambda: not talk.served.runtime.chats._talks)
        log = await read_log(client, session_id)
        assert log[-1][1].endswith(INTERRUPTED_MARK)
        assert len(log[-1][1]) < len(str(SLOW["text"]))
        async with asking(client, message="Go on.") as stream:
            await stream.until("text_delta")


@pytest.mark.parametrize("stream_secs", every(3, [0.0, 0.01, 0.02, 0.03, 0.05, 0.08]))
async def test_an_answer_has_ended_with_its_request(tmp_path: Path, stream_secs: float) -> None:
    """Whenever the reader leaves, an answer has ended when its request has: no turn runs on, and nothing failed beside."""
    async with talking(tmp_path, {"text": SLOW["text"], "word_secs": 0.001}) as talk:
        secret = await talk.served.key("admin")
        for _ in range(some(8, 3)):
            body = {"user": "default", "message": "Which berth is free?"}
            with hearing_failures() as failed:
                await ask(talk.served.app, "POST", CHAT, secret=secret, body=body, stream_secs=stream_secs)
                left = [task.get_name() for task in asyncio.all_tasks() if task.get_name() in TURN_TASKS]
                gc.collect()
                await asyncio.sleep(0)
            assert (left, failed) == ([], [])


async def test_who_has_heard_the_end_may_ask_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `done` the session is free: a question that comes at once is not refused, however slow the store is."""
    release = SqliteStore.release_lease

    async def release_slowly(self: SqliteStore, name: LeaseName, *, holder: str) -> None:
        await asyncio.sleep(0.2)
        await release(self, name, holder=holder)

    monkeypatch.setattr(SqliteStore, "release_lease", release_slowly)
    async with talking(tmp_path, {"text": "Seven."}) as talk, talk.client() as client:
        session_id = None
        for _ in range(3):
            async with asking(client, session_id=session_id) as stream:
                session_id = (await stream.until("done"))["session_id"]
        said = [("user", "Which berth is free?"), ("assistant", "Seven.")]
        assert await read_log(client, session_id) == said * 3


async def test_a_stopping_server_stores_what_was_said(tmp_path: Path) -> None:
    """When the server is to end, answers are cut and stored, and their streams end by themselves."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as client, asking(client) as stream:
        session_id = (await stream.until("text_delta"))["session_id"]
        talk.served.runtime.stopping.set()
        await stream.until("stopped")
        assert [name for name, _ in await stream.all()] == ["done"]
        assert (await read_log(client, session_id))[-1][1].endswith(INTERRUPTED_MARK)


async def test_a_failure_within_an_answer_is_a_problem_event(tmp_path: Path) -> None:
    """A model that cannot be reached ends the stream with a problem document that tells the status it would have had."""
    async with talking(tmp_path, {"fault": "unavailable"}) as talk, talk.client() as client:
        async with asking(client) as stream:
            problem = await stream.until("problem")
            assert await stream.take() is None
        assert (problem["status"], problem["code"], problem["retryable"]) == (503, "model_unavailable", True)
        assert problem["request_id"] == stream.answer.headers["x-request-id"]


async def test_what_was_cut_can_be_answered(tmp_path: Path) -> None:
    """Without a message the last one is answered; where nothing waits for an answer that is refused with a status."""
    steps: list[dict[str, object]] = [{"fault": "unavailable"}, {"text": "Seven."}]
    async with talking(tmp_path, *steps) as talk, talk.client() as client:
        async with asking(client) as stream:
            session_id = (await stream.until("said"))["session_id"]
            await stream.until("problem")
        (tmp_path / "script.jsonl").write_text(json.dumps(steps[1]), "utf-8")
        async with asking(client, message=None) as stream:
            await stream.until("done")
        assert await read_log(client, session_id) == [("user", "Which berth is free?"), ("assistant", "Seven.")]
        refused = await client.post(CHAT, json={"user": "default", "message": None})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


async def test_a_turn_in_an_older_session_makes_it_current(tmp_path: Path) -> None:
    """A chat that names a session goes on in it, and it is the current one afterwards."""
    async with talking(tmp_path, {"text": "Seven."}) as talk, talk.client() as client:
        first = (await client.post("/api/sessions", json={"agent": "guide"})).json()["id"]
        second = (await client.post("/api/sessions", json={"agent": "guide", "new": True})).json()["id"]
        async with asking(client, session_id=first) as stream:
            assert (await stream.until("done"))["session_id"] == first
        assert (await client.get(f"/api/sessions/{first}")).json()["is_current"]
        assert await read_log(client, second) == []


@pytest.mark.parametrize("headers", [{}, {"idempotency-key": "k1"}])
async def test_a_refused_turn_leaves_the_current_session_as_it_is(tmp_path: Path, headers: dict[str, str]) -> None:
    """A chat that is refused in the session that it names does not make it current, and its refusal is not of unknown outcome."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as client:
        older = (await client.post("/api/sessions", json={"agent": "guide"})).json()["id"]
        newer = (await client.post("/api/sessions", json={"agent": "guide", "new": True})).json()["id"]
        silent = {"user": "default", "message": None, "session_id": older}
        refused = await client.post(CHAT, json=silent, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
        assert (await client.get(f"/api/sessions/{newer}")).json()["is_current"]
        async with asking(client, session_id=older) as stream:
            await stream.until("text_delta")
            await client.post(f"/api/sessions/{newer}/resume")
            busy = await client.post(CHAT, json={**silent, "message": "And now?"}, headers=dict.fromkeys(headers, "k2"))
            assert (busy.status_code, busy.json()["code"]) == (409, "conflict")
            assert (await client.get(f"/api/sessions/{newer}")).json()["is_current"]


async def test_a_turn_that_comes_twice_at_once_in_a_named_session_is_stored_once(tmp_path: Path) -> None:
    """Of two equal chats that name their session at the same moment one is refused, and the message is stored once."""
    async with talking(tmp_path, {"text": "Seven."}, {"text": "Eight."}) as talk, talk.client() as client:
        session_id = (await client.post("/api/sessions", json={"agent": "guide"})).json()["id"]
        said = {"user": "default", "message": "Which berth is free?", "session_id": session_id}
        answers = await asyncio.gather(*(client.post(CHAT, json=said) for _ in range(2)))
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        assert await read_log(client, session_id) == [("user", "Which berth is free?"), ("assistant", "Seven.")]
        stopped = await client.post(f"{CHAT}/stop", json={"session_id": session_id})
        assert (stopped.status_code, stopped.json()) == (200, {"stopped": False})


@pytest.mark.parametrize("has_main", [True, False])
async def test_a_turn_stays_in_its_session_key(tmp_path: Path, has_main: bool) -> None:  # noqa: FBT001 - of a table
    """A chat that names a session with a session key stores everything there; no other session is touched or created."""
    opened = {"agent": "guide", "user": "default"}
    async with talking(tmp_path, {"text": "Seven."}) as talk, talk.client() as client:
        if has_main:
            await client.post("/api/sessions", json=opened)
        older = (await client.post("/api/sessions", json={**opened, "session_key": "thread-42"})).json()["id"]
        newer = (await client.post(f"/api/sessions/{older}/new")).json()["id"]
        for thread in (newer, older):
            async with asking(client, session_id=thread) as stream:
                assert (await stream.until("done"))["session_id"] == thread
        said = [("user", "Which berth is free?"), ("assistant", "Seven.")]
        listed = (await client.get("/api/sessions")).json()["sessions"]
        logs = {one["id"]: await read_log(client, one["id"]) for one in listed}
        assert [log for one, log in logs.items() if one not in (newer, older)] == [[]] * has_main
        assert (logs[newer], logs[older]) == (said, said)
        assert [one["is_current"] for one in listed if one["id"] in (newer, older)] == [False, True]


async def test_what_was_cut_under_a_session_key_can_be_stopped_and_answered(tmp_path: Path) -> None:
    """A stop and an answer without a message reach the session that they name, though another one waits for an answer."""
    waiting = {"messages": [{"role": "user", "content": "Which quay?"}]}
    async with talking(tmp_path, SLOW) as talk, talk.client() as client:
        main = (await client.post("/api/sessions", json={"agent": "guide"})).json()["id"]
        keyed = {"agent": "guide", "session_key": "thread-42"}
        thread = (await client.post("/api/sessions", json=keyed)).json()["id"]
        for session_id in (main, thread):
            await client.post(f"/api/sessions/{session_id}/messages", json=waiting)
        async with asking(client, message=None, session_id=thread) as stream:
            await stream.until("text_delta")
            cut = await client.post(f"{CHAT}/stop", json={"session_id": thread})
            assert cut.json() == {"stopped": True}
            await stream.until("done")
        assert [role for role, _ in await read_log(client, thread)] == ["user", "assistant"]
        assert await read_log(client, main) == [("user", "Which quay?")]


async def test_keys_chat_within_their_scope(tmp_path: Path) -> None:
    """A key chats as its user and with its agent only, chooses no model, and cuts no other user's answer."""
    async with talking(tmp_path, SLOW) as talk, talk.client() as admin:
        user = (await admin.post("/api/users", json={"name": "Ada"})).json()["id"]
        async with talk.client(f"user:{user}") as ada, talk.client("agent:clerk") as clerk:
            said = {"message": "Hello"}
            assert (await ada.post(CHAT, json={**said, "user": "default"})).status_code == 403
            assert (await ada.post(CHAT, json={**said, "model": "script:/etc/hostname"})).status_code == 403
            assert (await clerk.post(CHAT, json=said)).status_code == 403
            async with asking(admin) as theirs:
                session_id = (await theirs.until("said"))["session_id"]
                assert (await ada.post(CHAT, json={**said, "session_id": session_id})).status_code == 404
                foreign = await ada.post(f"{CHAT}/stop", json={"session_id": session_id})
                unknown = await ada.post(f"{CHAT}/stop", json={"session_id": "ses_nobody"})
                assert (foreign.status_code, unknown.status_code) == (404, 404)
            async with streaming(ada, "POST", CHAT, said) as own:
                await own.until("text_delta")


@pytest.mark.parametrize("message", ["", " \n ", 7])
async def test_a_message_without_words_is_refused(tmp_path: Path, message: object) -> None:
    """What says nothing is refused with its field, and no session is made."""
    async with talking(tmp_path, {"text": "Seven."}) as talk, talk.client() as client:
        refused = await client.post(CHAT, json={"user": "default", "message": message})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["field"] == "body.message"
        assert (await client.get("/api/sessions")).json()["sessions"] == []


async def test_subscriptions_end_with_their_chat(tmp_path: Path) -> None:
    """After as many answers as you like, only the server's own counter listens to the engine."""
    async with talking(tmp_path, {"text": "Seven."}) as talk, talk.client() as client:
        feed = talk.served.runtime.engine._stream.feed
        before = len(feed.list_open(Recovered))
        for _ in range(3):
            async with asking(client) as stream:
                await stream.until("text_delta")
                assert len(feed.list_open(Recovered)) > before
                await stream.until("done")
        await wait_until(lambda: len(feed.list_open(Recovered)) <= before)
        assert len(feed.list_open(Recovered)) == before


async def test_many_people_chat_at_once(tmp_path: Path) -> None:
    """Forty users' answers stream side by side, each in a session of its own, and none is mixed with another."""
    async with talking(tmp_path, {"text": "One moment.", "word_secs": 0.02}) as talk, talk.client() as client:
        users = [(await client.post("/api/users", json={"name": f"Guest {n}"})).json()["id"] for n in range(40)]

        async def ask(user: str) -> str:
            async with asking(client, user=user, message=f"I am {user}.") as stream:
                return str((await stream.until("done"))["session_id"])

        sessions = await asyncio.gather(*map(ask, users))
        for user, session_id in zip(users, sessions, strict=True):
            assert await read_log(client, session_id) == [("user", f"I am {user}."), ("assistant", "One moment.")]
