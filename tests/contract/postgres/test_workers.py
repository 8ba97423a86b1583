"""Engines that leave their work to workers: what is lost is found again, and nothing is done twice at once."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from bench.material.logs import endless_log
from tests.support.waiting import SECS, until

import everfold
from everfold.adapters.dispatch.queue import SCHEMA, JobQueue, open_queue
from everfold.config import Overrides
from everfold.core.observation.events import CompactionClaimed
from everfold.core.primitives.ids import SessionId
from everfold.engine import Everfold
from everfold.errors import InvalidInputError
from everfold.ports.dispatch import DoJob
from everfold.ports.jobs import AttemptCompaction, DreamRange, ExtractSession, Job, WakeSession
from everfold.services.turns.do_job import do_job
from everfold.session import Session
from everfold.testing.kit.fakes import FakeSource

WIRES = [entry.wire for entry in endless_log(5, messages_count=40)]
HEARTBEAT_SECS = 0.2


@pytest.fixture
def settings(tmp_path: Path) -> Overrides:
    """Work is left to workers, and a model's digests are exact quotes."""
    script = tmp_path / "digests.jsonl"
    script.write_text(json.dumps({"digest": "echo"}) + "\n", "utf-8")
    return {
        "model": {"name": f"script:{script}", "context_limit": 8000},
        "compaction": {"synchronous": False},
        "recovery": {"every_secs": 0.2},
        "workers": {"enabled": True},
    }


@asynccontextmanager
async def working(*engines: Everfold) -> AsyncIterator[None]:
    """Each of these engines is a worker."""
    tasks = [asyncio.create_task(engine.admin.work(heartbeat_secs=HEARTBEAT_SECS)) for engine in engines]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task


async def talk_until_due(engine: Everfold, session: Session) -> None:
    """Turns until work of a session is left to workers."""
    before = (await engine.admin.count_jobs())["todo"]
    for wire in WIRES:
        await session.append(wire)
        await session.window()
        await engine._background.dispatcher.join()
        if (await engine.admin.count_jobs())["todo"] > before:
            return
    raise AssertionError("nothing became due")


async def is_done(session: Session) -> bool:
    """Whether a session has a compaction, and all are done."""
    found = await session.inspect.compactions()
    return bool(found) and all(one.state == "done" for one in found)


async def wait_until_done(*sessions: Session) -> None:
    """Wait until each session has a compaction, and all are done."""
    async with asyncio.timeout(SECS):
        for session in sessions:
            while not await is_done(session):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.02)


async def test_a_job_that_is_lost_is_found_again(database_url: str, server_url: str, settings: Overrides) -> None:
    """What a lost job was about becomes due again with the next window, or by the recovery of a worker."""
    async with everfold.open(database_url, settings=settings) as engine:
        session = await engine.session()
        with psycopg.connect(server_url, autocommit=True, options=f"-c search_path={SCHEMA}") as connection:
            await talk_until_due(engine, session)
            connection.execute("DELETE FROM procrastinate_jobs")
            await session.window()
            await engine._background.dispatcher.join()
            assert await engine.admin.count_jobs() == {"todo": 1, "doing": 0}
            await do_job(engine._background, engine._memories, WakeSession(session_id=session.record.id))
            await engine._background.dispatcher.join()
            [held] = await session.inspect.compactions()
            kinds = connection.execute("SELECT task_name FROM procrastinate_jobs ORDER BY id").fetchall()
            assert kinds == [(f"everfold.{kind.__name__}",) for kind in (WakeSession, AttemptCompaction)]
            connection.execute("DELETE FROM procrastinate_jobs")
        async with working(engine):
            await wait_until_done(session)
        assert [one.id for one in await session.inspect.compactions() if not one.revises] == [held.id]
        assert (await session.verify()).is_sound


async def test_two_workers_do_nothing_twice(database_url: str, settings: Overrides) -> None:
    """Whatever two workers find due in many sessions, each compaction is claimed once."""
    async with (
        everfold.open(database_url, settings=settings) as serving,
        everfold.open(database_url, settings=settings) as first,
        everfold.open(database_url, settings=settings) as second,
    ):
        sessions = [await serving.session(user=f"guest {number}") for number in range(6)]
        for session in sessions:
            await talk_until_due(serving, session)
        told = [engine.events() for engine in (first, second)]
        async with working(first, second):
            await wait_until_done(*sessions)
        claimed = Counter[str]()
        for events in told:
            while (event := events.take_waiting()) is not None:  # type: ignore[attr-defined]  # the engine's own
                if isinstance(event, CompactionClaimed):
                    claimed[event.compaction_id] += 1
        done = [one for session in sessions for one in await session.inspect.compactions() if not one.revises]
        assert claimed == Counter(one.id for one in done)
        assert all([(await session.verify()).is_sound for session in sessions])


async def test_a_refresh_is_asked_for_by_a_worker(database_url: str, settings: Overrides) -> None:
    """After so many exchanges the sources of the worker are asked, not those of the process of the turns, which shows it."""
    source, other = FakeSource(), FakeSource()
    given = {**settings, "compaction": {"synchronous": False, "continuous_interval": 2}}
    async with (
        everfold.open(database_url, settings=given, sources=[other]) as serving,
        everfold.open(database_url, settings=given, sources=[source]) as worker,
        working(worker),
    ):
        session = await serving.session()
        for number in range(3):
            await session.append({"role": "user", "content": f"Question {number}?"})
            await session.append({"role": "assistant", "content": "Yes."})
            await session.window()
        await until(lambda: source.asked)
        async with asyncio.timeout(SECS):
            while "Two parcels came." not in str((await session.window()).render("openai")):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.02)
        assert (len(source.asked), other.asked) == (1, [])


async def test_a_dream_is_dreamed_by_a_worker(database_url: str) -> None:
    """A user who is away is dreamed for once, though two workers look for them."""
    given = {
        "memory": {"system": "structured"},
        "sessions": {"gap_secs": 0.1, "poll_secs": 0.1},
        "compaction": {"synchronous": False},
        "workers": {"enabled": True},
    }
    async with (
        everfold.open(database_url, settings=given) as serving,
        everfold.open(database_url, settings=given) as first,
        everfold.open(database_url, settings=given) as second,
    ):
        session = await serving.session(user="ada")
        await session.append({"role": "user", "content": "Remember: berth seven costs twelve euros."})
        async with working(first, second):
            memory = await serving.memory(user="ada")
            async with asyncio.timeout(SECS):
                while not (dreams := await memory.dreams()):  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(0.02)
        assert [one.state for one in dreams] == ["applied"]


async def test_an_engine_without_a_queue_is_no_worker(database_url: str) -> None:
    """Where work is not left to workers there is none for them, and the error says what to set."""
    async with everfold.open(database_url) as engine:
        assert await engine.admin.count_jobs() == {}
        with pytest.raises(InvalidInputError, match=r"workers\.enabled"):
            await engine.admin.work()


async def test_what_a_worker_cannot_finish_waits_again(database_url: str) -> None:
    """A job that outlasts the drain of its worker waits for another one, which does it; two ranges of a session both wait."""
    queue = await open_queue(database_url, on_error=lambda _name, error: pytest.fail(str(error)))
    job = ExtractSession(session_id=SessionId("ses_1"))
    begun, done = asyncio.Event(), asyncio.Event()

    async def hang(_: Job) -> None:
        begun.set()
        await asyncio.sleep(SECS)

    async def do(found: Job) -> None:
        assert found == job
        done.set()

    try:
        await queue.defer(job)
        await _work_until(queue, hang, begun)
        assert await queue.count() == {"todo": 1, "doing": 0}
        await _work_until(queue, do, done)
        assert await queue.count() == {"todo": 0, "doing": 0}
        for first in (1, 11, 1):
            await queue.defer(DreamRange(session_id=SessionId("ses_1"), first_seq=first, last_seq=first + 9))
        assert await queue.count() == {"todo": 2, "doing": 0}
    finally:
        await queue.close()


async def _work_until(queue: JobQueue, do: DoJob, told: asyncio.Event) -> None:
    """Be a worker until something has happened, and end without waiting for what runs."""
    working = asyncio.create_task(queue.work(do, concurrency=2, heartbeat_secs=0.2, drain_secs=0.2))
    async with asyncio.timeout(SECS):
        await told.wait()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working


async def test_a_worker_that_cannot_use_the_queue_says_so(database_url: str, server_url: str) -> None:
    """A worker that the queue refuses is none, and tells why, once for one reason; with the right given back it is one."""
    told: list[tuple[str, str]] = []
    queue = await open_queue(database_url, on_error=lambda name, error: told.append((name, str(error))))
    with psycopg.connect(server_url, autocommit=True, options=f"-c search_path={SCHEMA}") as connection:
        connection.execute("ALTER TABLE procrastinate_workers RENAME TO away")
        working = asyncio.create_task(
            queue.work(lambda _: asyncio.sleep(0), concurrency=1, heartbeat_secs=0.1, drain_secs=0.1)
        )
        try:
            async with asyncio.timeout(SECS):
                await until(lambda: len(told) >= 2)
                await asyncio.sleep(0.5)
                assert not queue.is_working
                assert sorted(name for name, _ in told) == ["rescue", "worker"]
                assert all("procrastinate_workers" in reason for _, reason in told)
                connection.execute("ALTER TABLE away RENAME TO procrastinate_workers")
                await until(lambda: queue.is_working)
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
            await queue.close()
