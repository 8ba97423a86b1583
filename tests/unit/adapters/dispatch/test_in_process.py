"""Work as tasks: one at a time for each session, once more when asked meanwhile, and an orderly end."""

import asyncio
from functools import partial

import pytest

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.errors import StoreUnavailableError

pytestmark = pytest.mark.anyio
ONE, TWO = "ses_1", "ses_2"


class Work:
    """Work that goes on when it is told to, and remembers what ran beside what."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.running: set[str] = set()
        self.together = 0
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, session_id: str) -> None:
        """Wait at the gate."""
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
async def dispatcher() -> InProcessDispatcher:
    """A dispatcher."""
    return InProcessDispatcher()


async def let_run() -> None:
    """Give every task a few turns."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_sessions_run_beside_each_other(dispatcher: InProcessDispatcher, work: Work) -> None:
    """Each session has a run of its own, and neither waits for the other."""
    dispatcher.submit(ONE, partial(work, ONE))
    dispatcher.submit(TWO, partial(work, TWO))
    await let_run()
    assert (work.begun, work.together) == ([ONE, TWO], 2)
    work.gate.set()
    await dispatcher.join(ONE)
    await dispatcher.join(TWO)
    assert work.ended == [ONE, TWO]


async def test_a_session_runs_once_more(dispatcher: InProcessDispatcher, work: Work) -> None:
    """However often it is submitted while it runs, it runs exactly once more afterwards, never beside itself."""
    dispatcher.submit(ONE, partial(work, ONE))
    await let_run()
    for _ in range(4):
        dispatcher.submit(ONE, partial(work, ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.ended == [ONE, ONE]
    dispatcher.submit(ONE, partial(work, ONE))
    await dispatcher.join(ONE)
    assert len(work.ended) == 3


async def test_submitting_before_the_first_step_counts_once(dispatcher: InProcessDispatcher, work: Work) -> None:
    """What was asked for before the run began is served by it."""
    for _ in range(3):
        dispatcher.submit(ONE, partial(work, ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.ended == [ONE]


async def test_the_newest_work_of_a_name_is_done(dispatcher: InProcessDispatcher, work: Work) -> None:
    """Of what is submitted while a name has work, the last is done."""
    dispatcher.submit("name", partial(work, ONE))
    await let_run()
    dispatcher.submit("name", partial(work, TWO))
    dispatcher.submit("name", partial(work, ONE))
    work.gate.set()
    await dispatcher.join("name")
    assert work.ended == [ONE, ONE]


async def test_joining_what_does_not_run(dispatcher: InProcessDispatcher) -> None:
    """A session without work is not waited for."""
    async with asyncio.timeout(120) as waiting:
        await dispatcher.join(ONE)
    assert not waiting.expired()


async def test_close_waits_for_what_runs(dispatcher: InProcessDispatcher, work: Work) -> None:
    """Within the time, runs come to their end and none is stopped; what was asked for once more is left."""
    dispatcher.submit(ONE, partial(work, ONE))
    await let_run()
    dispatcher.submit(ONE, partial(work, ONE))
    asyncio.get_running_loop().call_later(0.02, work.gate.set)
    assert await dispatcher.close(drain_secs=30.0) == 0
    assert work.ended == [ONE]


async def test_close_stops_what_does_not_end(dispatcher: InProcessDispatcher, work: Work) -> None:
    """After the time, runs are cancelled and counted, and have let go when close returns."""
    dispatcher.submit(ONE, partial(work, ONE))
    dispatcher.submit(TWO, partial(work, TWO))
    await let_run()
    assert await dispatcher.close(drain_secs=0.0) == 2
    assert (work.running, work.ended) == (set(), [])


async def test_nothing_begins_after_close(dispatcher: InProcessDispatcher, work: Work) -> None:
    """A closed dispatcher takes nothing, and closing it again is nothing."""
    assert await dispatcher.close(drain_secs=1.0) == 0
    dispatcher.submit(ONE, partial(work, ONE))
    await let_run()
    assert work.begun == []
    assert await dispatcher.close(drain_secs=1.0) == 0


@pytest.mark.parametrize("error", [StoreUnavailableError("the disk is full"), RuntimeError("a bug")])
async def test_an_error_is_told(work: Work, error: Exception) -> None:
    """Work that raises is told with its session, is not repeated by itself, and harms neither others nor the next."""
    told: list[tuple[str, Exception]] = []
    dispatcher = InProcessDispatcher(on_error=lambda session_id, raised: told.append((session_id, raised)))
    work.error = error
    work.gate.set()
    dispatcher.submit(ONE, partial(work, ONE))
    await dispatcher.join(ONE)
    assert told == [(ONE, error)]
    work.error = None
    dispatcher.submit(ONE, partial(work, ONE))
    await dispatcher.join(ONE)
    assert (work.ended, len(told)) == ([ONE], 1)


async def test_a_failing_run_is_followed_by_the_one_asked_for(work: Work) -> None:
    """An error does not swallow what was submitted meanwhile."""
    dispatcher = InProcessDispatcher()
    work.error = RuntimeError("a bug")
    dispatcher.submit(ONE, partial(work, ONE))
    await let_run()
    dispatcher.submit(ONE, partial(work, ONE))
    work.gate.set()
    await dispatcher.join(ONE)
    assert work.begun == [ONE, ONE]
