"""Work as tasks: one at a time for each session, once more when asked meanwhile, and an orderly end."""

import asyncio

import pytest

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.core.primitives.ids import SessionId
from everfold.errors import StoreUnavailableError
from everfold.ports.dispatch import DoJob, OnError
from everfold.ports.jobs import Job, RefreshSession, SettleBreaks, WakeSession

pytestmark = pytest.mark.anyio
ONE, TWO = SessionId("ses_1"), SessionId("ses_2")


class Work:
    """Work that goes on when it is told to, and remembers what ran beside what."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.running: set[str] = set()
        self.together = 0
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, job: Job) -> None:
        """Wait at the gate."""
        assert isinstance(job, WakeSession)
        session_id = job.session_id
        assert session_id not in self.running
        self.begun.append(session_id)
        self.running.add(session_id)
        self.together = max(self.together, len(self.running))
        try:
            await self.gate.wait()
            if self.error is not None:
                raise self.error
            self.ended.append(session_id)
        finally:
            self.running.discard(session_id)


@pytest.fixture
async def work() -> Work:
    """Work that waits."""
    return Work()


@pytest.fixture
async def dispatcher(work: Work) -> InProcessDispatcher:
    """A dispatcher that has this work done."""
    return serving(work)


def serving(work: DoJob, on_error: OnError | None = None) -> InProcessDispatcher:
    """A dispatcher that has jobs done so."""
    dispatcher = InProcessDispatcher(on_error)
    dispatcher.serve(work)
    return dispatcher


def wake(session_id: SessionId) -> WakeSession:
    """The job of a session."""
    return WakeSession(session_id=session_id)


async def let_run() -> None:
    """Give every task a few turns."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_sessions_run_beside_each_other(dispatcher: InProcessDispatcher, work: Work) -> None:
    """Each session has a run of its own, and neither waits for the other."""
    dispatcher.submit(wake(ONE))
    dispatcher.submit(wake(TWO))
    await let_run()
    assert (work.begun, work.together) == ([ONE, TWO], 2)
    work.gate.set()
    await dispatcher.join(ONE)
    await dispatcher.join(TWO)
    assert work.ended == [ONE, TWO]


async def test_a_session_runs_once_more(dispatcher: InProcessDispatcher, work: Work) -> None:
    """However often it is submitted while it runs, it runs exactly once more afterwards, never beside itself."""
    dispatcher.submit(wake(ONE))
    await let_run()
    for _ in range(4):
        dispatcher.submit(wake(ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.ended == [ONE, ONE]
    dispatcher.submit(wake(ONE))
    await dispatcher.join(ONE)
    assert len(work.ended) == 3


async def test_submitting_before_the_first_step_counts_once(dispatcher: InProcessDispatcher, work: Work) -> None:
    """What was asked for before the run began is served by it."""
    for _ in range(3):
        dispatcher.submit(wake(ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.ended == [ONE]


async def test_the_newest_job_of_a_name_is_done(work: Work) -> None:
    """Of the jobs that are submitted while one of their name is done, the last is done, and the others are not."""
    done: list[Job] = []

    async def do(job: Job) -> None:
        done.append(job)
        await work.gate.wait()

    dispatcher = serving(do)
    first, second, third = (SettleBreaks(session_id=ONE, reported_count=count) for count in (1, 2, 3))
    dispatcher.submit(first)
    await let_run()
    dispatcher.submit(second)
    dispatcher.submit(third)
    assert list(dispatcher.list_jobs()) == [first]
    work.gate.set()
    await dispatcher.join(first.name)
    assert done == [first, third]
    assert not dispatcher.list_jobs()


async def test_what_a_caller_runs_is_done_in_its_place(dispatcher: InProcessDispatcher, work: Work) -> None:
    """The caller waits for the job's end, and has its error."""
    work.gate.set()
    await dispatcher.run(wake(ONE))
    assert work.ended == [ONE]
    work.error = StoreUnavailableError("the disk is full")
    with pytest.raises(StoreUnavailableError):
        await dispatcher.run(wake(ONE))


async def test_jobs_of_two_kinds_run_beside_each_other() -> None:
    """A session's refresh does not wait for its other work."""
    meeting, met = asyncio.Barrier(2), list[Job]()

    async def do(job: Job) -> None:
        await meeting.wait()
        met.append(job)

    dispatcher, jobs = serving(do), [wake(ONE), RefreshSession(session_id=ONE)]
    for job in jobs:
        dispatcher.submit(job)
    await dispatcher.join()
    assert sorted(map(str, met)) == sorted(map(str, jobs))


async def test_joining_what_does_not_run(dispatcher: InProcessDispatcher) -> None:
    """A session without work is not waited for."""
    async with asyncio.timeout(120) as waiting:
        await dispatcher.join(ONE)
    assert not waiting.expired()


async def test_close_waits_for_what_runs(dispatcher: InProcessDispatcher, work: Work) -> None:
    """Within the time, runs come to their end and none is stopped; what was asked for once more is left."""
    dispatcher.submit(wake(ONE))
    await let_run()
    dispatcher.submit(wake(ONE))
    asyncio.get_running_loop().call_later(0.02, work.gate.set)
    assert await dispatcher.close(drain_secs=30.0) == 0
    assert work.ended == [ONE]


async def test_close_stops_what_does_not_end(dispatcher: InProcessDispatcher, work: Work) -> None:
    """After the time, runs are cancelled and counted, and have let go when close returns."""
    dispatcher.submit(wake(ONE))
    dispatcher.submit(wake(TWO))
    await let_run()
    assert await dispatcher.close(drain_secs=0.0) == 2
    assert (work.running, work.ended) == (set(), [])


async def test_nothing_begins_after_close(dispatcher: InProcessDispatcher, work: Work) -> None:
    """A closed dispatcher takes nothing, and closing it again is nothing."""
    assert await dispatcher.close(drain_secs=1.0) == 0
    dispatcher.submit(wake(ONE))
    await let_run()
    assert work.begun == []
    assert await dispatcher.close(drain_secs=1.0) == 0


@pytest.mark.parametrize("error", [StoreUnavailableError("the disk is full"), RuntimeError("a bug")])
async def test_an_error_is_told(work: Work, error: Exception) -> None:
    """Work that raises is told with its session, is not repeated by itself, and harms neither others nor the next."""
    told: list[tuple[str, Exception]] = []
    dispatcher = serving(work, lambda name, raised: told.append((name, raised)))
    work.error = error
    work.gate.set()
    dispatcher.submit(wake(ONE))
    await dispatcher.join(ONE)
    assert told == [(ONE, error)]
    work.error = None
    dispatcher.submit(wake(ONE))
    await dispatcher.join(ONE)
    assert (work.ended, len(told)) == ([ONE], 1)


async def test_a_failing_run_is_followed_by_the_one_asked_for(work: Work) -> None:
    """An error does not swallow what was submitted meanwhile."""
    dispatcher = serving(work)
    work.error = RuntimeError("a bug")
    dispatcher.submit(wake(ONE))
    await let_run()
    dispatcher.submit(wake(ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.begun == [ONE, ONE]
