"""A server that is killed in the midst of anything has lost and doubled nothing; one that is told to stop finishes."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio
import httpx2
import pytest
from tests.forks import Forks
from tests.server.processes import Process, serving
from tests.support.sizes import some

import everfold
from everfold import Everfold

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]

USERS: Final = ("ada", "ben")
MARKERS: Final = {"ada": "quokkary", "ben": "numbatic"}
WORDS: Final = " ".join(f"word{number}" for number in range(60))
SETTINGS: Final = """\
[compaction]
model = "script:digests.jsonl"

[memory]
system = "structured"

[sessions]
gap_secs = 0

[server]
requests_per_minute = 0
drain_secs = 20

[agents.shop]
model = "script:answers.jsonl"
context_limit = 4000
instructions = "You help in a shop."
"""
ANSWERS: Final = {"text": WORDS, "word_secs": 0.005}
DIGESTS: Final = {"digest": "echo", "secs": 0.05}


@dataclass
class Client:
    """A client that appends messages one by one, and knows which were answered and which may have been lost."""

    user: str
    http: httpx2.AsyncClient
    session: str
    said: list[str] = field(default_factory=list)
    pending: str | None = None
    goal: int = 0
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def say_until_cut(self) -> None:
        """Append, until the server is gone."""
        with suppress(httpx2.TransportError):
            while True:
                self.pending = (
                    f"{self.user} says {len(self.said)}: my {MARKERS[self.user]} berth is number {len(self.said)}."
                )
                await self.send(self.pending)

    async def send(self, text: str) -> httpx2.Response:
        """Append one message under names that a repeat has too."""
        name = f"{self.session}-{text.partition(':')[0]}".replace(" ", "-")
        answer = await self.http.post(
            f"/api/sessions/{self.session}/messages",
            json={"messages": [{"role": "user", "content": text}], "client_id": name},
            headers={"Idempotency-Key": name},
        )
        if (
            answer.status_code == 409
        ):  # its place is taken by the request that was killed; the log knows it by `client_id`
            answer = await self.http.post(
                f"/api/sessions/{self.session}/messages",
                json={"messages": [{"role": "user", "content": text}], "client_id": name},
            )
        assert answer.status_code == 201, answer.text
        self.said.append(text)
        self.pending = None
        if len(self.said) >= self.goal:
            self.enough.set()
        return answer


@dataclass(frozen=True)
class Hands:
    """What an act is done with."""

    http: httpx2.AsyncClient
    ids: Mapping[str, str]
    sessions: Mapping[str, str]


async def chat(hands: Hands) -> None:
    """Ask the agent, of two users at once, and read what it says."""
    async with asyncio.TaskGroup() as group:
        for user in USERS:
            group.create_task(_chat_once(hands, user))


async def _chat_once(hands: Hands, user: str) -> None:
    body = {"user": hands.ids[user], "message": f"What of my {MARKERS[user]} boat?"}
    async with hands.http.stream("POST", "/api/agents/shop/chat", json=body) as answer:
        async for _ in answer.aiter_lines():
            pass


async def compact(hands: Hands) -> None:
    """Fold, by hand."""
    for session in hands.sessions.values():
        await hands.http.post(f"/api/sessions/{session}/compact", json={"keep_recent": 2})


async def dream(hands: Hands) -> None:
    """Consolidate."""
    for user_id in hands.ids.values():
        await hands.http.post(f"/api/users/{user_id}/dreams", json={"agent": "shop"})


async def wipe(hands: Hands) -> None:
    """Wipe the memory of one of two users."""
    await hands.http.delete(f"/api/users/{hands.ids['ada']}/memory")


async def export(hands: Hands) -> None:
    """Take everything along."""
    for user_id in hands.ids.values():
        await hands.http.get(f"/api/users/{user_id}/memory/export", params={"transcripts": True})


ACTS: Final[Mapping[str, Callable[[Hands], Awaitable[None]]]] = {
    "chat": chat,
    "compaction": compact,
    "dream": dream,
    "wipe": wipe,
    "export": export,
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings with a model that takes its time."""
    (tmp_path / "answers.jsonl").write_text(json.dumps(ANSWERS) + "\n", "utf-8")
    (tmp_path / "digests.jsonl").write_text(json.dumps(DIGESTS) + "\n", "utf-8")
    path = tmp_path / "shop.toml"
    path.write_text(SETTINGS, "utf-8")
    return path


async def open_hands(http: httpx2.AsyncClient) -> Hands:
    """Two users with sessions: one that the agent answers in, and for each client one of its own."""
    ids, sessions = {}, {}
    for user in USERS:
        ids[user] = (await http.post("/api/users", json={"name": user})).json()["id"]
        made = await http.post("/api/sessions", json={"user": ids[user], "agent": "shop", "limit": 3_000})
        sessions[user] = made.json()["id"]
    return Hands(http=http, ids=ids, sessions=sessions)


async def keep_doing(act: Callable[[Hands], Awaitable[None]], hands: Hands) -> None:
    """Do it again and again, until the server is gone."""
    with suppress(httpx2.TransportError, ExceptionGroup):
        while True:
            await act(hands)


async def test_a_killed_server_has_lost_and_doubled_nothing(config: Path, tmp_path: Path, command_forks: Forks) -> None:
    """Killed within each act while others write, it serves again: what was answered is there once, in order, and apart.

    A client repeats what was not answered, under the same names; each log is sound at every start.
    """
    database, secret, talk = tmp_path / "shop.db", "", None
    for name in (*ACTS, None):
        with serving(config, database, command_forks, secret=secret) as process:
            secret = process.secret
            async with process.client() as http:
                if talk is None:
                    hands = await open_hands(http)
                    clients = [Client(user, http, await _open_log(http, hands, user)) for user in USERS]
                    talk = hands, clients
                else:
                    hands, clients = replace(talk[0], http=http), talk[1]
                    await _go_on(hands, clients)
                if name is None:
                    assert process.stop() == 0
                else:
                    await _kill_within(process, ACTS[name], hands, clients)
        await _check_store(database)


async def _kill_within(
    process: Process, act: Callable[[Hands], Awaitable[None]], hands: Hands, clients: list[Client]
) -> None:
    await _fill(hands)
    for client in clients:
        client.goal, client.enough = len(client.said) + 5, asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(keep_doing(act, hands))
        for client in clients:
            group.create_task(client.say_until_cut())
        for client in clients:
            await client.enough.wait()
        await asyncio.sleep(0.2)
        process.kill()


async def _open_log(http: httpx2.AsyncClient, hands: Hands, user: str) -> str:
    made = await http.post("/api/sessions", json={"user": hands.ids[user], "agent": f"log-of-{user}", "limit": 3_000})
    return str(made.json()["id"])


async def _fill(hands: Hands) -> None:
    """Enough to fold, and something to remember."""
    for user, session in hands.sessions.items():
        said = [
            f"Remember that my {MARKERS[user]} locker {number} is blue. " + "So be it. " * 20
            for number in range(some(12, 6))
        ]
        wires = [
            wire
            for text in said
            for wire in ({"role": "user", "content": text}, {"role": "assistant", "content": "I see."})
        ]
        assert (await hands.http.post(f"/api/sessions/{session}/messages", json={"messages": wires})).status_code == 201


async def _go_on(hands: Hands, clients: list[Client]) -> None:
    """What a client does when the server is back: it repeats what was not answered, and reads that nothing is missing."""
    http = hands.http
    assert (await http.get("/health/ready")).status_code == 200
    for client in clients:
        client.http = http
        for text in [client.said.pop(), *([client.pending] if client.pending else [])]:
            await client.send(text)
        page = (await http.get(f"/api/sessions/{client.session}/messages", params={"limit": 1_000})).json()
        assert [message["text"] for message in page["messages"]] == client.said
        assert (await http.get(f"/api/sessions/{client.session}/verify")).json()["problems"] == []
    await chat(hands)
    for user in USERS:
        current = (await http.get("/api/sessions", params={"user": hands.ids[user], "agent": "shop"})).json()[
            "sessions"
        ][0]
        assert (await http.get(f"/api/sessions/{current['id']}/window")).status_code == 200


async def _check_store(database: Path) -> None:
    """Every log is whole, represented and its user's own; so are items and topics."""
    async with everfold.open(f"sqlite:///{database}") as engine:
        assert await engine.admin.check_store() == []
        for user in USERS:
            [other] = [MARKERS[one] for one in USERS if one != user]
            for record in await engine.list_sessions(user=user):
                session = await engine.session(id=record.id)
                assert (await session.verify()).is_sound
                log = await session.messages(1, max(1, (await session.inspect.state()).last_seq))
                assert [message.seq for message in log] == list(range(1, len(log) + 1))
                assert other not in str((await session.window(preview=True)).render("openai"))
            assert other not in await _tell_memory(engine, user)


async def _tell_memory(engine: Everfold, user: str) -> str:
    memory = await engine.memory(user=user)
    return str((await memory.items(statuses=("active", "superseded", "quarantined")), await memory.topics()))


async def test_told_to_stop_it_stores_what_was_said(config: Path, tmp_path: Path, command_forks: Forks) -> None:
    """SIGTERM within an answer that streams: it ends with 0, and what was heard of the answer is in the log."""
    (tmp_path / "answers.jsonl").write_text(json.dumps({"text": WORDS, "word_secs": 0.2}), "utf-8")
    heard: list[str] = []
    with serving(config, tmp_path / "shop.db", command_forks) as process:
        async with process.client() as http:
            body = {"user": "default", "message": "tell me"}
            async with http.stream("POST", "/api/agents/shop/chat", json=body) as answer:
                compactions = answer.aiter_lines()
                await _hear(compactions, heard, until=5)
                code = asyncio.create_task(anyio.to_thread.run_sync(process.stop))
                await _hear(compactions, heard)
        assert await code == 0
    async with everfold.open(f"sqlite:///{tmp_path / 'shop.db'}") as engine:
        session = await engine.session(agent="shop")
        asked, answered = await session.messages(1, 2)
        assert asked.view.text == "tell me"
        assert len(heard) >= 5
        assert "".join(heard) in answered.view.text
        assert "interrupted" in answered.view.text
        assert (await session.verify()).is_sound


async def _hear(compactions: AsyncIterator[str], heard: list[str], until: int | None = None) -> None:
    """Read what streams, until so much was heard or it ends."""
    name = ""
    async for line in compactions:
        name = line.removeprefix("event: ") if line.startswith("event: ") else name
        if line.startswith("data:") and name == "text_delta":
            heard.append(json.loads(line[5:])["text"])
        if until is not None and len(heard) >= until:
            return
