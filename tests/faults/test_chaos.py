"""Servers, workers and a database that are killed, cut off and lied to about the time, while clients go on.

Each server and worker is a process of its own, with a clock that is wrong by minutes. A client appends to a session of its
own through whichever server answers, and says the same again under the same client id until it is acknowledged. Clients of
one user share an agent, so that their sessions have refreshes and dreams due at once; `work_watch` notes what may never be.
"""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import httpx2
import psycopg
import pytest
from tests.faults.work_watch import WATCHES
from tests.forks import Forks
from tests.server.processes import Process, starting
from tests.server.test_workers import SERVE, configure
from tests.support.postgres import durable
from tests.support.proofs import list_all_compactions
from tests.support.waiting import until

import everfold
from everfold.server.opening import open_runtime

pytestmark = pytest.mark.anyio

SKEWED: Final = """
from datetime import timedelta
from everfold.adapters.system.clock import SystemClock
from everfold.adapters.models import scripted
from tests.faults.work_watch import note_work
note_work({url!r})
say = scripted._say
scripted._say = lambda step, request: say(step, request) if request.purpose == "digest" else '{{"facts": []}}'
tell = SystemClock.now
SystemClock.now = lambda self: tell(self) + timedelta(minutes={minutes})
from everfold.cli.entry import run
run()
"""
MEMORY: Final = """
[memory]
system = "structured"

[sessions]
gap_secs = 0.5
poll_secs = 0.5

[agents.harbour.compaction]
continuous_interval = 2
keep_recent = 4

[[compaction.context_sources]]
source = "parcels"

[sources.parcels]
kind = "callable"
function = "tests.faults.work_watch:tell_parcels"
"""
"""What has folds, refreshes and dreams come often, for the sessions of the agent that all clients of a user share."""
AGENT: Final = "harbour"
BACKENDS: Final = """
SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
REFUSED_FOR_NOW: Final = {409, 429, 500, 502, 503, 504}
PATIENCE_SECS: Final = 20.0
"""How long one request may take before it is sent again; it only ends one whose server was killed at a bad moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of it."""

    servers_count: int
    workers_count: int
    clients_count: int
    blows_count: int
    strike_secs: float
    """After so long no further blow comes, so that the test ends on a slow machine too."""


BY_DAY: Final = Size(servers_count=2, workers_count=2, clients_count=6, blows_count=4, strike_secs=60)
IN_FULL: Final = Size(servers_count=3, workers_count=3, clients_count=60, blows_count=40, strike_secs=480)


@dataclass
class Member:
    """A server or a worker, which is started again each time that it was killed."""

    start: Callable[[ExitStack], Process]
    process: Process | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def begin(self) -> None:
        """Start it; tried again where the database is down at that moment."""
        while self.process is None:
            self.stack = ExitStack()
            try:
                self.process = self.start(self.stack)
            except (AssertionError, OSError):
                self.stack.close()

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            self.stack.close()


@dataclass
class Crew:
    """All of them, and the database that they share."""

    servers: list[Member]
    workers: list[Member]
    url: str
    secret: str
    draw: Random

    @property
    def addresses(self) -> list[str]:
        """Where servers answer now."""
        return [member.process.address.rstrip("/") for member in self.servers if member.process is not None]

    async def strike(self, blow: str) -> None:
        """One thing goes wrong, and is mended."""
        match blow:
            case "kill":
                member = self.draw.choice([*self.servers, *self.workers])
                await asyncio.to_thread(member.kill)
                await asyncio.to_thread(member.begin)
            case "cut":
                await asyncio.to_thread(self._cut, lambda pid: f"SELECT pg_terminate_backend({pid})")
            case _:
                await asyncio.to_thread(self._crash)

    def _cut(self, write: Callable[[int], str]) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for (pid,) in connection.execute(BACKENDS).fetchall():
                connection.execute(write(pid))

    def _crash(self) -> None:
        """A backend that is killed has the whole database begin again from its log."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            [*_, (pid,)] = connection.execute(BACKENDS).fetchall()
        os.kill(pid, signal.SIGKILL)


BLOWS: Final = ("kill", "crash", "cut", "kill")


class Client:
    """A client that talks in a session of its own, and waits for each answer."""

    def __init__(self, crew: Crew, number: int, user_id: str) -> None:
        self.crew = crew
        self.name = f"zq{number}x"
        self.user_id = user_id
        self.session_id = ""
        self.acknowledged: list[str] = []
        self.is_over = False
        self._draw = Random(number)

    async def talk(self) -> None:
        """Say one thing after the other; now and then look at the window, and have a dream begun."""
        headers = {"Authorization": f"Bearer {self.crew.secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECS) as http:
            body: dict[str, object] = {"user": self.user_id, "agent": AGENT, "session_key": self.name, "limit": 4000}
            made = await self._insist(http, "/api/sessions", body)
            self.session_id = str(made["id"])
            while not self.is_over:
                name = f"{self.name}n{len(self.acknowledged)}"
                lead = "Remember: " if len(self.acknowledged) % 4 == 0 else ""
                text = f"{name}:\n{lead}berth {len(self.acknowledged)} of {self.name} is free. " + "So it is. " * 30
                role = "assistant" if len(self.acknowledged) % 2 else "user"
                body = {"messages": [{"role": role, "content": text}], "client_id": name}
                await self._insist(http, f"/api/sessions/{self.session_id}/messages", body)
                self.acknowledged.append(name)
                if self._draw.random() < 0.3:
                    await self._insist(http, f"/api/sessions/{self.session_id}/window", {})
                if self._draw.random() < 0.2:
                    await self._insist(http, f"/api/users/{self.user_id}/dreams", {"agent": AGENT})

    async def _insist(self, http: httpx2.AsyncClient, path: str, body: dict[str, object]) -> dict[str, object]:
        """Ask one server after the other until one has done it."""
        while True:
            await asyncio.sleep(0.01)
            addresses = self.crew.addresses
            if not addresses:
                continue
            try:
                answer = await http.post(self._draw.choice(addresses) + path, json=body)
            except httpx2.HTTPError:
                continue
            if answer.is_success:
                return dict(answer.json())
            assert answer.status_code in REFUSED_FOR_NOW, answer.text


@pytest.fixture
def durable_url(database_url: str) -> Iterator[str]:
    """A database that has what it acknowledged also after a crash of its processes."""
    with durable(database_url):
        yield database_url


@asynccontextmanager
async def crew_of(size: Size, folder: Path, url: str, forks: Forks) -> AsyncIterator[Crew]:
    """Servers and workers at work over a watched database; all are ended."""
    draw = Random(size.clients_count)
    async with open_runtime(url, settings={"workers": {"enabled": True}}) as runtime:
        secret = (await runtime.engine.admin.api_keys.make("desk", "admin")).secret
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(WATCHES)
    config = configure(folder, url, "all", {"digest": "echo", "secs": 0.05}, more=MEMORY)

    def member(minutes: int, *arguments: str) -> Member:
        command = SKEWED.format(minutes=minutes, url=url)
        return Member(
            lambda stack: stack.enter_context(starting(config, forks, *arguments, secret=secret, command=command))
        )

    skews = [draw.randint(-9, 9) for _ in range(size.servers_count + size.workers_count)]
    servers = [member(skews[number], *SERVE) for number in range(size.servers_count)]
    workers = [member(skew, "worker") for skew in skews[size.servers_count :]]
    crew = Crew(servers=servers, workers=workers, url=url, secret=secret, draw=draw)
    try:
        for one in (*servers, *workers):
            await asyncio.to_thread(one.begin)
        yield crew
    finally:
        for one in (*servers, *workers):
            await asyncio.to_thread(one.kill)


def count_rows(url: str, query: str) -> int:
    """The one number that a query gives; one that cannot be asked now counts as many."""
    try:
        with psycopg.connect(url) as connection:
            return int(connection.execute(query).fetchall()[0][0])
    except psycopg.Error:
        return 1


DONE: Final = {
    "compactions": "SELECT count(*) FROM compactions WHERE state = 'done'",
    "refreshes": "SELECT count(*) FROM messages WHERE source = 'refresh'",
    "dreams": "SELECT count(*) FROM dreams WHERE state = 'applied'",
    "refreshes that were watched": "SELECT count(*) FROM at_work WHERE work = 'refresh' AND is_over",
    "dreams that were watched": "SELECT count(*) FROM at_work WHERE work = 'dream' AND is_over",
}
UNFINISHED: Final = "SELECT count(*) FROM compactions WHERE state IN ('pending', 'running')"
QUEUED: Final = "SELECT count(*) FROM everfold_jobs.procrastinate_jobs WHERE status IN ('todo', 'doing')"


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(BY_DAY, id="day"),
        pytest.param(IN_FULL, id="full", marks=[pytest.mark.slow, pytest.mark.timeout(1_500)]),
    ],
)
async def test_nothing_acknowledged_is_lost_doubled_or_anothers(
    tmp_path: Path, durable_url: str, command_forks: Forks, monkeypatch: pytest.MonkeyPatch, size: Size
) -> None:
    """Every acknowledged message is there once and in order, every session is sound, and no work ran twice at once."""
    monkeypatch.delenv("EVERFOLD_COMPACTION__SYNCHRONOUS", raising=False)
    async with crew_of(size, tmp_path, durable_url, command_forks) as crew:
        async with everfold.open(durable_url) as engine:
            users = [
                str((await engine.add_user(f"user {number}")).id) for number in range(max(2, size.clients_count // 3))
            ]
        clients = [Client(crew, number, users[number % len(users)]) for number in range(size.clients_count)]
        talking = [asyncio.create_task(client.talk()) for client in clients]
        ends_at = time.monotonic() + size.strike_secs
        for number in range(size.blows_count):
            said_count = sum(len(client.acknowledged) for client in clients)
            await until_more(clients, said_count + size.clients_count, talking)
            await crew.strike(BLOWS[number % len(BLOWS)])
            if number >= len(BLOWS) and time.monotonic() > ends_at:
                break
        await until_more(clients, sum(len(client.acknowledged) for client in clients) + size.clients_count, talking)
        for client in clients:
            client.is_over = True
        await asyncio.gather(*talking)
        await finish_work(durable_url)
    await judge(durable_url, clients)


async def finish_work(url: str) -> None:
    """Wait until no work is left, for as long as there is less and less of it."""

    def count_left() -> int:
        return count_rows(url, UNFINISHED) + count_rows(url, QUEUED)

    left = count_left()
    while left:
        await until(lambda most=left: count_left() < most)
        left = count_left()


async def until_more(clients: list[Client], count: int, talking: list[asyncio.Task[None]]) -> None:
    """Wait until so many messages were acknowledged; a client that gave up ends the test."""

    def is_so() -> bool:
        for task in talking:
            if task.done():
                task.result()
        return sum(len(client.acknowledged) for client in clients) >= count

    await until(is_so)


async def judge(url: str, clients: list[Client]) -> None:
    """What must be so at the end, as a new process sees it."""
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT told FROM violations").fetchall() == []
        counts = {what: connection.execute(query).fetchall()[0][0] for what, query in DONE.items()}
    assert all(counts.values()), counts
    async with everfold.open(url) as engine:
        assert await engine.admin.check_store() == []
        for client in clients:
            session = await engine.session(id=client.session_id)
            state = await session.inspect.state()
            waiting = {one.compaction_id for one in state.awaited if one.is_patient}  # for the next cache break
            ready = {one.id for one in await list_all_compactions(session) if one.state == "ready"}
            assert ready <= waiting
            messages = await session.messages(1, state.last_seq)
            texts = [str(message.wire["content"]) for message in messages if message.source == "said"]
            said = [text.partition(":")[0] for text in texts]
            assert said[: len(client.acknowledged)] == client.acknowledged
            assert max(Counter(said).values()) == 1
            assert all(client.name in text for text in texts)
            assert (await session.verify()).is_sound
            found = await engine.search(client.name, user=client.user_id)
            assert {hit.session for hit in found} <= {
                one.session_id for one in clients if one.user_id == client.user_id
            }
