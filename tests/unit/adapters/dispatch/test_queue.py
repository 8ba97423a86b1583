"""The queue in PostgreSQL: what waits waits once, a session's jobs go one after the other, and no dead worker holds one."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest
from procrastinate import exceptions
from procrastinate.jobs import Status
from tests.support.waiting import SECS, until

from everfold.adapters.dispatch.queue import QUEUED, SCHEMA, JobQueue, open_queue
from everfold.adapters.dispatch.queued import QueueDispatcher
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.errors import StoreUnavailableError
from everfold.ports.dispatch import DoJob
from everfold.ports.jobs import (
    AttemptCompaction,
    DreamPair,
    DreamRange,
    EmbedUser,
    ExtractSession,
    Job,
    RefreshSession,
    SettleBreaks,
    WakeSession,
)

pytestmark = pytest.mark.anyio
ONE, TWO, ADA = SessionId("ses_1"), SessionId("ses_2"), UserId("usr_ada")
EVERY: list[Job] = [
    WakeSession(session_id=ONE),
    AttemptCompaction(session_id=ONE, compaction_id=CompactionId("evt_1")),
    RefreshSession(session_id=ONE),
    ExtractSession(session_id=ONE),
    DreamPair(user_id=ADA, agent_id=AgentId("guide")),
    DreamRange(session_id=ONE, first_seq=3, last_seq=9),
]
HEARTBEAT_SECS = 0.2


@pytest.fixture
async def queue(database_url: str) -> AsyncIterator[JobQueue]:
    """The queue of an empty database."""
    opened = await open_queue(database_url, on_error=raise_it)
    yield opened
    await opened.close()


def raise_it(name: str, error: Exception) -> None:
    """No job is expected to fail."""
    raise AssertionError(f"{name} failed") from error


@asynccontextmanager
async def working(queue: JobQueue, do: DoJob) -> AsyncIterator[None]:
    """A worker that does four jobs at once."""
    task = asyncio.create_task(queue.work(do, concurrency=4, heartbeat_secs=HEARTBEAT_SECS, drain_secs=SECS))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def wait_until_empty(queue: JobQueue) -> None:
    """Wait until no job waits or runs."""
    async with asyncio.timeout(SECS):
        while any((await queue.count()).values()):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


async def test_every_kind_arrives_as_it_was(queue: JobQueue) -> None:
    """A worker is given jobs that are equal to those that were deferred, and one that was deferred twice once."""
    done: list[Job] = []

    async def do(job: Job) -> None:
        done.append(job)

    assert {type(job) for job in EVERY} == set(QUEUED)
    for job in (*EVERY, *EVERY):
        await queue.defer(job)
    assert await queue.count() == {"todo": len(EVERY), "doing": 0}
    async with working(queue, do):
        await wait_until_empty(queue)
    assert Counter(done) == Counter(EVERY)


async def test_jobs_of_one_session_run_one_after_the_other(queue: JobQueue) -> None:
    """No two jobs of a session run at once, and those of another session do not wait for them."""
    gate, running = asyncio.Event(), Counter[str]()
    seen: list[int] = []

    async def do(job: Job) -> None:
        assert isinstance(job, WakeSession | RefreshSession | ExtractSession)
        running[job.session_id] += 1
        seen.append(running[job.session_id])
        if running[TWO]:
            gate.set()
        await gate.wait()
        running[job.session_id] -= 1

    for job in (WakeSession(session_id=ONE), RefreshSession(session_id=ONE), ExtractSession(session_id=ONE)):
        await queue.defer(job)
    await queue.defer(WakeSession(session_id=TWO))
    async with working(queue, do):
        await wait_until_empty(queue)
    assert seen == [1] * 4


async def test_a_job_that_is_deferred_while_it_runs_runs_again(queue: JobQueue) -> None:
    """What becomes due while a session is worked on is not lost."""
    begun, gate = asyncio.Semaphore(0), asyncio.Event()
    job = WakeSession(session_id=ONE)

    async def do(_: Job) -> None:
        begun.release()
        await gate.wait()

    async with working(queue, do):
        await queue.defer(job)
        await begun.acquire()
        await queue.defer(job)
        await queue.defer(job)
        assert await queue.count() == {"todo": 1, "doing": 1}
        gate.set()
        await begun.acquire()
        await wait_until_empty(queue)
    assert begun.locked()


@pytest.mark.parametrize("waits_again", [False, True])
async def test_a_dead_worker_holds_no_session(
    queue: JobQueue, database_url: str, server_url: str, *, waits_again: bool
) -> None:
    """The job of a worker without a sign of life is done again by another, once, whether or not its name waits already."""
    dead = await open_queue(database_url, on_error=lambda *_: None)
    begun, done = asyncio.Event(), list[Job]()
    job = WakeSession(session_id=ONE)

    async def hang(_: Job) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def do(one: Job) -> None:
        done.append(one)

    await queue.defer(job)
    dying = asyncio.create_task(dead.work(hang, concurrency=1, heartbeat_secs=SECS, drain_secs=0))
    await begun.wait()
    if waits_again:
        await queue.defer(job)
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"UPDATE {SCHEMA}.procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
    async with working(queue, do):
        await until(lambda: done)
        await wait_until_empty(queue)
    assert done == [job]
    dying.cancel()
    with suppress(asyncio.CancelledError):
        await dying
    await dead.close()


@pytest.mark.parametrize("ends_in_time", [True, False])
async def test_a_worker_that_is_stopped_finishes_its_job(queue: JobQueue, *, ends_in_time: bool) -> None:
    """A running job comes to its end within the time, or is stopped and waits again; no other job is begun, and none is held."""
    begun, gate, ended = asyncio.Event(), asyncio.Event(), list[bool]()

    async def do(_: Job) -> None:
        begun.set()
        try:
            await gate.wait()
        finally:
            ended.append(gate.is_set())

    await queue.defer(WakeSession(session_id=ONE))
    secs = SECS if ends_in_time else 0.0
    task = asyncio.create_task(queue.work(do, concurrency=4, heartbeat_secs=HEARTBEAT_SECS, drain_secs=secs))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)  # it stops now: a look for jobs that began before would find the next one once this one ends
    await queue.defer(RefreshSession(session_id=ONE))
    if ends_in_time:
        gate.set()
    with suppress(asyncio.CancelledError):
        await task
    assert ended == [ends_in_time]
    assert await queue.count() == {"todo": 1 if ends_in_time else 2, "doing": 0}


async def test_a_job_that_fails_is_told_and_lets_go(database_url: str) -> None:
    """An error ends its job only: it is told by the job's name, and later jobs of the session are done."""
    told: list[str] = []
    queue = await open_queue(database_url, on_error=lambda name, _: told.append(name))

    async def do(job: Job) -> None:
        if isinstance(job, RefreshSession):
            raise StoreUnavailableError("the disk is full")

    for job in (RefreshSession(session_id=ONE), WakeSession(session_id=ONE)):
        await queue.defer(job)
    async with working(queue, do):
        await wait_until_empty(queue)
    assert told == [RefreshSession(session_id=ONE).name]
    await queue.close()


async def test_several_open_it_at_once(bare_database_url: str) -> None:
    """One of them makes the tables, and the others find them."""
    queues = await asyncio.gather(*(open_queue(bare_database_url, on_error=raise_it) for _ in range(4)))
    await queues[0].defer(WakeSession(session_id=ONE))
    assert [(await queue.count())["todo"] for queue in queues] == [1] * 4
    for queue in queues:
        await queue.close()


GRANTS = f"""
GRANT USAGE ON SCHEMA {SCHEMA} TO jobber;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO jobber;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO jobber;
"""


async def test_a_role_with_few_rights_can_use_it(queue: JobQueue, database_url: str, server_url: str) -> None:
    """A role that may create nothing defers and does jobs once it has its rights; before that the error names the schema."""
    done: list[Job] = []

    async def do(job: Job) -> None:
        done.append(job)

    url = database_url.replace("postgres:@", "jobber:@")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE jobber LOGIN")
        try:
            with pytest.raises(StoreUnavailableError, match=f"may the role use the schema {SCHEMA}"):
                await open_queue(url, on_error=raise_it)
            connection.execute(GRANTS)
            restricted = await open_queue(url, on_error=raise_it)
            await restricted.defer(EVERY[0])
            async with working(restricted, do):
                await wait_until_empty(queue)
            await restricted.close()
        finally:
            connection.execute("DROP OWNED BY jobber")
            connection.execute("DROP ROLE jobber")
    assert done == [EVERY[0]]


async def test_a_server_that_is_not_there_is_named() -> None:
    """The error says what to look at, without the password."""
    with pytest.raises(StoreUnavailableError, match="is the server running") as raised:
        await open_queue("postgresql://ada:geheim@127.0.0.1:9/shop", on_error=raise_it)
    assert "geheim" not in str(raised.value)


async def test_what_a_turn_sets_off_is_done_at_once(queue: JobQueue) -> None:
    """Vectors and settled cache breaks are done by the process of the turn; other jobs are left to workers."""
    done: list[Job] = []

    async def do(job: Job) -> None:
        done.append(job)

    dispatcher = QueueDispatcher(queue, raise_it)
    dispatcher.serve(do)
    here: list[Job] = [EmbedUser(user_id=ADA), SettleBreaks(session_id=ONE, reported_count=1)]
    for job in (*here, *EVERY):
        dispatcher.submit(job)
    await dispatcher.join()
    assert done == here
    assert (await queue.count())["todo"] == len(EVERY)
    await dispatcher.run(EVERY[0])
    assert done == [*here, EVERY[0]]
    assert await dispatcher.close(drain_secs=1) == 0


async def test_a_job_that_its_living_worker_does_not_know_is_done(queue: JobQueue, database_url: str) -> None:
    """What a worker was given by an answer that got lost is done all the same, and its session is free again."""
    done: list[Job] = []

    async def do(job: Job) -> None:
        done.append(job)

    async with working(queue, do):
        await queue.defer(WakeSession(session_id=TWO))
        await until(lambda: done)
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                f"INSERT INTO {SCHEMA}.procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, status, "
                "worker_id) SELECT 'default', 'everfold.WakeSession', 'ses_1', 'ses_1', '{\"session_id\": \"ses_1\"}', 'doing', max(id) "
                f"FROM {SCHEMA}.procrastinate_workers"
            )
        await queue.defer(ExtractSession(session_id=ONE))
        await wait_until_empty(queue)
    assert Counter(job.name for job in done) == {TWO: 1, ONE: 1, ExtractSession(session_id=ONE).name: 1}


async def test_a_job_that_was_done_again_meanwhile_ends(queue: JobQueue, database_url: str) -> None:
    """Where another worker has ended the job of a slow one, the slow one's end of it is no error, and it goes on."""
    begun, gate, done = asyncio.Event(), asyncio.Event(), list[Job]()

    async def do(job: Job) -> None:
        begun.set()
        await gate.wait()
        done.append(job)

    async with working(queue, do):
        await queue.defer(WakeSession(session_id=ONE))
        await begun.wait()
        with psycopg.connect(database_url, autocommit=True, options=f"-c search_path={SCHEMA}") as connection:
            connection.execute(f"DELETE FROM {SCHEMA}.procrastinate_jobs")
        gate.set()
        await until(lambda: done)
        await queue.defer(WakeSession(session_id=TWO))
        await wait_until_empty(queue)
    assert done == [WakeSession(session_id=ONE), WakeSession(session_id=TWO)]


async def test_a_locked_table_is_not_waited_for_without_end(
    database_url: str, server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another transaction holds the table of jobs, a job is refused as a write of the store is, and taken afterwards."""
    monkeypatch.setattr("everfold.adapters.postgres.connections.OPTIONS", "-c lock_timeout=50")
    queue = await open_queue(database_url, on_error=raise_it)
    try:
        with psycopg.connect(server_url) as connection:
            connection.execute(f"LOCK TABLE {SCHEMA}.procrastinate_jobs")
            async with asyncio.timeout(SECS):
                with pytest.raises(StoreUnavailableError, match="hold locks"):
                    await queue.defer(WakeSession(session_id=ONE))
        await queue.defer(WakeSession(session_id=ONE))
        assert await queue.count() == {"todo": 1, "doing": 0}
    finally:
        await queue.close()


async def test_a_job_that_ends_while_its_table_is_locked_is_done_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a job is written once the table is free again, though that takes longer than one statement may."""
    monkeypatch.setattr("everfold.adapters.postgres.connections.OPTIONS", "-c lock_timeout=50")
    done: list[Job] = []
    failed: list[str] = []
    queue = await open_queue(database_url, on_error=lambda name, error: failed.append(f"{name}: {error}"))
    with psycopg.connect(database_url) as connection:

        async def do(job: Job) -> None:
            # Beside the event loop: a heartbeat may hold the table until the loop goes on.
            await asyncio.to_thread(connection.execute, f"LOCK TABLE {SCHEMA}.procrastinate_jobs IN EXCLUSIVE MODE")
            done.append(job)

        try:
            await queue.defer(WakeSession(session_id=ONE))
            async with working(queue, do):
                await until(lambda: bool(done))
                await asyncio.sleep(5 * HEARTBEAT_SECS)
                connection.rollback()
                await wait_until_empty(queue)
        finally:
            await queue.close()
    assert (done, [told for told in failed if "hold locks" not in told]) == ([WakeSession(session_id=ONE)], [])


async def test_a_worker_that_ends_for_an_error_while_it_is_stopped_is_stopped(
    queue: JobQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the queue raises what the database refused in place of the cancellation, no other worker begins."""
    begun = list[int]()

    async def fail_when_stopped(**_: object) -> None:
        begun.append(1)
        try:
            await asyncio.sleep(SECS)
        finally:
            raise exceptions.ConnectorException from psycopg.errors.LockNotAvailable("canceling statement")

    monkeypatch.setattr(queue._app, "run_worker_async", fail_when_stopped)
    monkeypatch.setattr(queue, "_on_error", lambda _name, _error: None)

    async def do(_: Job) -> None:
        """Nothing."""

    task = asyncio.create_task(queue.work(do, concurrency=4, heartbeat_secs=HEARTBEAT_SECS, drain_secs=SECS))
    await until(lambda: begun)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=20)
    task.cancel()
    assert (len(done), len(begun)) == (1, 1)


async def test_a_job_that_ended_while_it_was_rescued_is_no_error(queue: JobQueue) -> None:
    """A job that is gone when it is to be done again has been done."""
    await queue.defer(WakeSession(session_id=ONE))
    [job] = await queue._manager.list_jobs_async()
    await queue._manager.finish_job(job, Status.SUCCEEDED, delete_job=True)
    await queue._retry(job)
    assert await queue.count() == {"todo": 0, "doing": 0}
