"""The thread of a connection."""

import asyncio
import os
import sys
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread, get_ident

import apsw
import pytest

from everfold.adapters.sqlite.connection import translated
from everfold.adapters.sqlite.lane import HELD_SECS, SLOW_SECS, WARY_COUNT, Job, Lane
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.sessions import SessionId
from everfold.errors import StoreUnavailableError
from everfold.testing.builders import open_session


@asynccontextmanager
async def open_lane(folder: Path) -> AsyncIterator[Lane]:
    """A lane over a new file, closed at the end."""
    lane = Lane("test", str(folder / "lane.db"))
    try:
        yield lane
    finally:
        lane.close()


def add_user(lane: Lane, user_id: str) -> None:
    """A transaction that writes one row."""
    with translated(lane.path), lane.database.transaction():
        lane.database.connection.execute("INSERT INTO users (id) VALUES (?)", (user_id,))


def count_users(lane: Lane) -> int:
    """How many rows such transactions have left in the file."""
    connection = apsw.Connection(lane.path)
    rows = list(connection.execute("SELECT count(*) FROM users"))
    connection.close()
    return int(rows[0][0])


def test_jobs_run_in_order_on_one_other_thread(tmp_path: Path) -> None:
    """Every job runs on the lane's own thread, one after the other, and gives its own outcome."""

    async def run() -> list[tuple[int, int]]:
        lane = Lane("test", str(tmp_path / "lane.db"))
        done: list[int] = []

        def job(number: int) -> tuple[int, int]:
            done.append(number)
            return len(done), get_ident()

        outcomes = await asyncio.gather(*(lane.call(partial(job, number)) for number in range(5)))
        lane.close()
        return outcomes

    outcomes = asyncio.run(run())
    assert [place for place, _ in outcomes] == [1, 2, 3, 4, 5]
    assert {thread for _, thread in outcomes}.isdisjoint({get_ident()})
    assert len({thread for _, thread in outcomes}) == 1


def test_an_error_is_raised_where_the_call_waits_and_the_lane_goes_on(tmp_path: Path) -> None:
    """A job that fails raises its own error in its caller, and the next job runs."""

    async def run() -> int:
        lane = Lane("test", str(tmp_path / "lane.db"))
        with pytest.raises(ZeroDivisionError):
            await lane.call(lambda: 1 // 0)
        try:
            return await lane.call(lambda: 7)
        finally:
            lane.close()

    assert asyncio.run(run()) == 7


def test_a_call_cancelled_before_its_turn_never_runs(tmp_path: Path) -> None:
    """What is cancelled while another job holds the lane is not done, and the jobs after it are."""

    async def run() -> list[str]:
        lane = Lane("test", str(tmp_path / "lane.db"))
        done: list[str] = []
        gate = Event()
        first = asyncio.create_task(lane.call(gate.wait))
        second = asyncio.create_task(lane.call(lambda: done.append("second")))
        third = asyncio.create_task(lane.call(lambda: done.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)
        lane.close()
        return done

    assert asyncio.run(run()) == ["third"]


def test_a_closed_lane_refuses(tmp_path: Path) -> None:
    """After its end a lane refuses every call with an error that names the file."""

    async def run() -> None:
        lane = Lane("test", str(tmp_path / "lane.db"))
        lane.close()
        with pytest.raises(StoreUnavailableError, match=r"lane\.db"):
            await lane.call(lambda: None)

    asyncio.run(run())


def test_a_call_that_was_let_in_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that another thread's close overtakes is done first; none waits for a thread that has ended."""
    closing_thread: list[Thread] = []

    class Overtaken(SimpleQueue[Job | None]):
        def put(self, item: Job | None, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002
            if item is not None and not closing_thread:
                closing_thread.append(Thread(target=lane.close))
                closing_thread[0].start()
                closing_thread[0].join(0.2)
            super().put(item, block, timeout)

    monkeypatch.setattr("everfold.adapters.sqlite.lane.SimpleQueue", Overtaken)
    lane = Lane("test", str(tmp_path / "lane.db"))

    async def run() -> int:
        return await asyncio.wait_for(lane.call(lambda: 42), 10)

    assert asyncio.run(run()) == 42
    closing_thread[0].join(10)
    assert lane.is_closed


def test_brief_work_that_is_alone_is_done_where_it_is_asked_for(tmp_path: Path) -> None:
    """Brief work runs in the caller's thread while no other call of the lane is on its way, and on the lane's beside one."""

    async def run() -> tuple[int, int, int]:
        async with open_lane(tmp_path) as lane:
            alone = await lane.call_briefly(get_ident)
            gate = Event()
            other = asyncio.create_task(lane.call(gate.wait))
            await asyncio.sleep(0)
            beside = asyncio.create_task(lane.call_briefly(get_ident))
            await asyncio.sleep(0)
            gate.set()
            await other
            return alone, await beside, await lane.call_briefly(get_ident)

    alone, beside, alone_again = asyncio.run(run())
    assert alone == alone_again == get_ident()
    assert beside != get_ident()


def test_after_work_that_was_not_brief_the_thread_does_the_next(tmp_path: Path) -> None:
    """Work that takes longer than brief work may is followed by so many on the thread, then by work in the caller's."""

    async def run() -> list[int]:
        async with open_lane(tmp_path) as lane:
            await lane.call_briefly(partial(time.sleep, 2 * SLOW_SECS))
            return [await lane.call_briefly(get_ident) for _ in range(WARY_COUNT + 1)]

    threads = asyncio.run(run())
    assert get_ident() not in threads[:WARY_COUNT]
    assert threads[WARY_COUNT] == get_ident()


def test_brief_work_one_after_the_other_lets_other_tasks_have_their_turn(tmp_path: Path) -> None:
    """Brief work of one task, one piece after the other, never holds the loop for longer than it may."""

    async def run() -> tuple[int, float]:
        turns_count, held_secs = 0, 0.0

        async def tick() -> None:
            nonlocal turns_count
            while True:
                turns_count += 1
                await asyncio.sleep(0)

        async with open_lane(tmp_path) as lane:
            ticking = asyncio.create_task(tick())
            for _ in range(50):
                begun = time.monotonic()
                await lane.call_briefly(partial(time.sleep, HELD_SECS / 4))
                held_secs += time.monotonic() - begun
            ticking.cancel()
            return turns_count, held_secs

    turns_count, held_secs = asyncio.run(run())
    assert turns_count >= 50 // 4
    assert held_secs >= 50 * HELD_SECS / 4


def test_nobody_waits_for_another_process_in_the_event_loop(tmp_path: Path) -> None:
    """Brief work that finds the file locked waits on the thread, while the loop goes on, and is done once it is free."""

    async def run() -> tuple[int, int]:
        async with open_lane(tmp_path) as lane:
            other = apsw.Connection(lane.path)
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(lane.call_briefly(partial(add_user, lane, "late")))
            beats_count = 0
            for _ in range(20):
                await asyncio.sleep(0.005)
                beats_count += not writing.done()
            other.execute("ROLLBACK")
            other.close()
            await writing
            return beats_count, count_users(lane)

    assert asyncio.run(run()) == (20, 1)


def test_an_error_of_brief_work_is_raised_and_leaves_the_lane_as_it_was(tmp_path: Path) -> None:
    """Brief work that fails in the middle of its transaction raises its own error, leaves no row, and the next is done."""

    async def run() -> int:
        async with open_lane(tmp_path) as lane:

            def fail() -> None:
                with translated(lane.path), lane.database.transaction():
                    lane.database.connection.execute("INSERT INTO users (id) VALUES ('lost')")
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await lane.call_briefly(fail)
            await lane.call_briefly(partial(add_user, lane, "kept"))
            return count_users(lane)

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("among", [1, 4])
def test_event_loops_of_several_threads_share_a_lane(tmp_path: Path, among: int) -> None:
    """Brief and other calls from several threads at once are all done, each once, whoever does them."""
    lane = Lane("test", str(tmp_path / "lane.db"))

    async def write(thread: int) -> None:
        calls: list[Callable[[Callable[[], None]], object]] = [lane.call_briefly, lane.call]
        for number in range(60):
            name = f"{thread}-{number}"
            await calls[number % 3 == 0](partial(add_user, lane, name))  # type: ignore[misc]

    threads = [Thread(target=asyncio.run, args=(write(number),)) for number in range(among)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_users(lane) == 60 * among
    lane.close()


class Interrupted(BaseException):
    """What a signal's handler raises."""


@contextmanager
def interrupting(moment: int) -> Iterator[None]:
    """Raise at the so-manieth moment at which Python would call a signal's handler: a call begins, or one to C has ended."""
    count = 0

    def watch(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_return"}
        if count == moment:
            sys.setprofile(None)
            raise Interrupted

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_an_interrupt_at_any_moment_leaves_the_lane_as_it_was(tmp_path: Path) -> None:
    """Wherever brief work in the main thread is interrupted, its row is there or not, and the next work is done."""

    async def run() -> tuple[int, int]:
        async with open_lane(tmp_path) as lane:
            moment, is_through = 0, False
            while not is_through:
                moment += 1
                lane._wary_count = 0  # else a slow disk sends it to the thread
                with suppress(Interrupted), interrupting(moment):
                    await lane.call_briefly(partial(add_user, lane, f"during {moment}"))
                    is_through = True
                before_count = count_users(lane)
                await asyncio.wait_for(lane.call(partial(add_user, lane, f"after {moment}")), 5)
                assert count_users(lane) == before_count + 1
            return moment, count_users(lane)

    moments_count, users_count = asyncio.run(run())
    assert moments_count > 20
    assert moments_count < users_count < 2 * moments_count


def test_a_fork_is_refused(tmp_path: Path) -> None:
    """In a fork of the process that opened it a lane refuses all work, though it has its connection; the parent goes on."""
    with closing(Lane("test", str(tmp_path / "lane.db"))) as lane:
        with warnings.catch_warnings(action="ignore"):
            child = os.fork()
        if not child:
            refused_count = 0
            for call in (lane.call_briefly, lane.call):
                try:
                    asyncio.run(asyncio.wait_for(call(partial(add_user, lane, "child")), 5))
                except StoreUnavailableError as error:
                    refused_count += "forked" in str(error)
            lane.close()
            os._exit(refused_count)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        asyncio.run(lane.call_briefly(partial(add_user, lane, "parent")))
        assert count_users(lane) == 1


async def read_until_closed(store: SqliteStore, session_id: SessionId, is_reading: Event, ended: list[str]) -> None:
    """Read a session's state over and over, and note what ends it."""
    try:
        while True:
            await store.read_state(session_id)
            is_reading.set()
    except StoreUnavailableError as error:
        ended.append(str(error))


def test_a_store_closes_beside_event_loops_that_read(tmp_path: Path) -> None:
    """Closed while the event loops of other threads use it, a store closes, and each of them is told so."""
    for turn in range(10):
        store = asyncio.run(SqliteStore.open(str(tmp_path / f"{turn}.db")))
        session_id = asyncio.run(open_session(store)).id
        ended: list[str] = []
        is_reading = Event()
        threads = [
            Thread(target=asyncio.run, args=(read_until_closed(store, session_id, is_reading, ended),))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        assert is_reading.wait(5)
        asyncio.run(store.close())
        for thread in threads:
            thread.join(5)
        assert len(ended) == 3, turn
