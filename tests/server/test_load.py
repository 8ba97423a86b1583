"""Many at once: chats of many users, and people who look at the dashboard meanwhile."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

import httpx2
import pytest
from tests.server.processes import Process, serving_alone
from tests.support.sizes import some

import everfold

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]

BEATING: Final = str(Path(__file__).with_name("beating.py"))
MOST_STEP_SECS: Final = {"step_processor_secs": 0.05}
"""For how long one step of the loop may take the processor."""
MOST_WAIT_SECS: Final = {"beat_processor_secs": 0.1}
"""For how long the loop's own work may keep another client waiting, in all steps that are due before its own."""
RUNS_COUNT: Final = 3
"""How often a server is tried at most: a step that blocks the loop is long in most runs, one that the machine made long is not."""
LONG_COUNT: Final = RUNS_COUNT // 2 + 1
SHORT_COUNT: Final = some(LONG_COUNT, 1)
"""After so many runs that were long, or short, no further one is tried."""
SETTINGS: Final = """\
[memory]
system = "structured"

[server]
requests_per_minute = 0

[agents.shop]
model = "script:answers.jsonl"
context_limit = 4000
instructions = "You help in a shop."
"""
TEXTS: Final = {
    "shop": "note {number}",
    "harbour": "Remember: berth {number} costs {number} euros, and the sea is calm.",
}
ANSWER: Final = "The kiln is warm and the boat is dry, and nothing else is to be done today."


@dataclass
class Load:
    """What was said, and how it was answered."""

    secs: float
    pause_secs: float
    said: dict[str, list[str]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    until: float = 0.0

    async def talk(self, http: httpx2.AsyncClient, user_id: str, number: int) -> None:
        """One user who says one thing after the other, and reads each answer to its end."""
        said = self.said[user_id] = []
        await asyncio.sleep(self.pause_secs * (number % 50) / 50)
        while monotonic() < self.until:
            text = f"Message {len(said)} of guest {number}: my berth is number {len(said)}, and the sea is calm today."
            body = {"user": user_id, "message": text}
            last = ""
            async with http.stream("POST", "/api/agents/shop/chat", json=body) as answer:
                async for line in answer.aiter_lines():
                    last = line.removeprefix("event: ") if line.startswith("event: ") else last
            said.append(text)
            self.statuses[f"chat {answer.status_code} {last}"] += 1
            if (answer.status_code, last) != (200, "done"):
                self.wrong.append(f"chat of guest {number}: {answer.status_code}, {last}")
            await asyncio.sleep(self.pause_secs)

    async def look(self, http: httpx2.AsyncClient, users: list[str], number: int) -> None:
        """One person at the dashboard, who goes from page to page."""
        at = number
        while monotonic() < self.until:
            user_id = users[at % len(users)]
            at += 7
            listed = await self._get(http, "/api/sessions", user=user_id)
            paths = [
                "/api/users?limit=50",
                f"/api/users/{user_id}/memory",
                f"/api/users/{user_id}/items",
                "/api/system",
            ]
            paths += [f"/api/users/{user_id}/budgets", "/api/agents"]
            for one in listed.get("sessions", ())[:1]:
                paths += [f"/api/sessions/{one['id']}/{part}" for part in ("strips", "messages", "window", "report")]
            for path in paths:
                await self._get(http, path)
                await asyncio.sleep(self.pause_secs / 10)

    async def _get(self, http: httpx2.AsyncClient, path: str, **query: str) -> "dict[str, list[dict[str, str]]]":
        answer = await http.get(path, params=query or None)
        self.statuses[f"get {answer.status_code}"] += 1
        if answer.status_code != 200:
            self.wrong.append(f"GET {path}: {answer.status_code} {answer.text[:200]}")
            return {}
        found: dict[str, list[dict[str, str]]] = answer.json()
        return found


async def put_load(process: Process, load: Load, *, chats_count: int, readers_count: int) -> None:
    """Have so many chat and so many look."""
    async with process.client() as http:
        users = [
            (await http.post("/api/users", json={"name": f"guest {number}"})).json()["id"]
            for number in range(chats_count)
        ]
        load.until = monotonic() + load.secs
        async with asyncio.TaskGroup() as group:
            for number, user_id in enumerate(users):
                group.create_task(load.talk(http, user_id, number))
            for number in range(readers_count):
                group.create_task(load.look(http, users, number))


async def check_logs(database: Path, load: Load) -> int:
    """Every log holds what its user said, in order, each answered once, and is sound; gives how many messages there are."""
    count = 0
    async with everfold.open(f"sqlite:///{database}") as engine:
        assert await engine.admin.check_store() == []
        for user_id, said in load.said.items():
            session = await engine.session(user=user_id, agent="shop")
            assert (await session.verify()).is_sound
            log = await session.messages(1, (await session.inspect.state()).last_seq)
            assert [message.view.text for message in log] == [text for one in said for text in (one, ANSWER)]
            count += len(log)
    return count


async def send_batch(http: httpx2.AsyncClient, agent: str, text: str) -> tuple[httpx2.Response, httpx2.Response]:
    """The answers to more messages than are taken, and to as many; the server is alive all the while."""
    session = (await http.post("/api/sessions", json={"agent": agent, "limit": 8000})).json()["id"]
    url = f"/api/sessions/{session}/messages"
    batch = [{"role": "user", "content": text.format(number=number)} for number in range(5_000)]
    refused = await http.post(url, json={"messages": batch})
    sending = asyncio.ensure_future(http.post(url, json={"messages": batch[:1_000]}, timeout=120))
    while not sending.done():
        assert (await http.get("/health/live")).status_code == 200
        await asyncio.sleep(0.05)
    return refused, await sending


async def is_short(
    run: Callable[[Path], Awaitable[dict[str, float]]], folder: Path, most_secs: Mapping[str, float]
) -> bool:
    """Whether most of a few runs, each in a folder of its own, stay below these figures; by day the first one that does is enough."""
    counts = Counter[bool]()
    while counts[True] < SHORT_COUNT and counts[False] < LONG_COUNT:
        place = folder / str(counts.total())
        place.mkdir()
        told = await run(place)
        print(json.dumps(told, indent=1))  # noqa: T201 - shown with -s and where it fails: the figures of the run
        counts[all(told[name] < most for name, most in most_secs.items())] += 1
    return counts[True] == SHORT_COUNT


async def test_one_large_batch_holds_nobody_up(tmp_path: Path) -> None:
    """A batch of as many messages as are taken, things to remember too, keeps the loop for less than 50 ms in one step.

    Another client waits for less than 100 ms of the loop's own work; `python -m bench server` tells its wait by the clock.
    """
    assert await is_short(run_batches, tmp_path, {**MOST_STEP_SECS, **MOST_WAIT_SECS})


async def run_batches(folder: Path) -> dict[str, float]:
    """What a server tells that was sent large batches."""
    config, database = folder / "shop.toml", folder / "shop.db"
    config.write_text('[memory]\nsystem = "structured"\n', "utf-8")
    with serving_alone(config, database, BEATING) as process:
        async with process.client() as http:
            answers = [
                await send_batch(http, agent, text)
                for agent, text in some(TEXTS, {"harbour": TEXTS["harbour"]}).items()
            ]
        assert process.stop() == 0
        [told] = [json.loads(line) for line in process.lines if line.startswith("{")]
    for refused, stored in answers:
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert "messages_per_request" in refused.json()["detail"]
        assert stored.json()["seqs"] == list(range(1, 1_001))
    figures: dict[str, float] = told
    return figures


@pytest.mark.parametrize(
    ("chats_count", "readers_count", "secs", "pause_secs"),
    [
        (12, 3, 3.0, 0.2),
        pytest.param(200, 20, 60.0, 12.0, marks=[pytest.mark.slow, pytest.mark.timeout(900)]),
    ],
)
async def test_nothing_is_lost_under_load(
    tmp_path: Path, chats_count: int, readers_count: int, secs: float, pause_secs: float
) -> None:
    """Each request is answered, each log holds every message, and the server's loop is never kept for 50 ms.

    Kept by one step of the server's own work: time that the machine gives to other programs is told and not counted, and
    so is how long all steps take that are due at once, which says how much load there is. A user thinks between messages.
    """

    async def run(folder: Path) -> dict[str, float]:
        return await run_load(folder, Load(secs, pause_secs), chats_count=chats_count, readers_count=readers_count)

    assert await is_short(run, tmp_path, MOST_STEP_SECS)


async def run_load(folder: Path, load: Load, *, chats_count: int, readers_count: int) -> dict[str, float]:
    """What a server tells that was under load, once every answer and every log was looked at."""
    config, database = folder / "shop.toml", folder / "shop.db"
    config.write_text(SETTINGS, "utf-8")
    (folder / "answers.jsonl").write_text(json.dumps({"text": ANSWER}), "utf-8")
    with serving_alone(config, database, BEATING) as process:
        await put_load(process, load, chats_count=chats_count, readers_count=readers_count)
        assert process.stop() == 0
        [told] = [json.loads(line) for line in process.lines if line.startswith("{")]
    assert not load.wrong, "\n".join(load.wrong[:20])
    assert await check_logs(database, load) == 2 * sum(len(said) for said in load.said.values())
    return {**told, **load.statuses}
