"""The thread of a connection."""

import asyncio
import gc
import os
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread, get_ident

import apsw
import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY, translated
from everfold.adapters.sqlite.connection_thread import ConnectionThread, Job
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.log.appending import AppendPlan
from everfold.core.primitives.ids import SessionId
from everfold.errors import StoreUnavailableError
from everfold.testing.kit.builders import GUIDE, open_session


@asynccontextmanager
async def open_thread(folder: Path) -> AsyncIterator[ConnectionThread]:
    """A connection thread over a new file, closed at the end."""
    connection = ConnectionThread("test", str(folder / "store.db"))
    try:
        yield connection
    finally:
        connection.close()


def add_user(connection: ConnectionThread, user_id: str) -> None:
    """A transaction that writes one row."""
    with translated(connection.path), connection.database.transaction():
        connection.database.connection.execute("INSERT INTO users (id) VALUES (?)", (user_id,))


def count_users(connection: ConnectionThread) -> int:
    """How many rows such transactions have left in the file."""
    reader = apsw.Connection(connection.path)
    rows = list(reader.execute("SELECT count(*) FROM users"))
    reader.close()
    return int(rows[0][0])


def test_jobs_run_in_order_on_one_other_thread(tmp_path: Path) -> None:
    """Every job runs on its own thread, one after the other, and gives its own outcome."""

    async def run() -> list[tuple[int, int]]:
        connection = ConnectionThread("test", str(tmp_path / "store.db"))
        done: list[int] = []

        def job(number: int) -> tuple[int, int]:
            done.append(number)
            return len(done), get_ident()

        outcomes = await asyncio.gather(*(connection.call(partial(job, number)) for number in range(5)))
        connection.close()
        return outcomes

    outcomes = asyncio.run(run())
    assert [place for place, _ in outcomes] == [1, 2, 3, 4, 5]
    assert {thread for _, thread in outcomes}.isdisjoint({get_ident()})
    assert len({thread for _, thread in outcomes}) == 1


def test_an_error_is_raised_where_the_call_waits_and_the_lane_goes_on(tmp_path: Path) -> None:
    """A job that fails raises its own error in its caller, and the next job runs."""

    async def run() -> int:
        connection = ConnectionThread("test", str(tmp_path / "store.db"))
        with pytest.raises(ZeroDivisionError):
            await connection.call(lambda: 1 // 0)
        try:
            return await connection.call(lambda: 7)
        finally:
            connection.close()

    assert asyncio.run(run()) == 7


def test_a_call_cancelled_before_its_turn_never_runs(tmp_path: Path) -> None:
    """What is cancelled while another job holds the thread is not done, and the jobs after it are."""

    async def run() -> list[str]:
        connection = ConnectionThread("test", str(tmp_path / "store.db"))
        done: list[str] = []
        gate = Event()
        first = asyncio.create_task(connection.call(gate.wait))
        second = asyncio.create_task(connection.call(lambda: done.append("second")))
        third = asyncio.create_task(connection.call(lambda: done.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)
        connection.close()
        return done

    assert asyncio.run(run()) == ["third"]


def test_a_closed_lane_refuses(tmp_path: Path) -> None:
    """After its end a connection thread refuses every call with an error that names the file."""

    async def run() -> None:
        connection = ConnectionThread("test", str(tmp_path / "store.db"))
        connection.close()
        with pytest.raises(StoreUnavailableError, match=r"store\.db"):
            await connection.call(lambda: None)

    asyncio.run(run())


def test_a_call_that_was_let_in_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that another thread's close overtakes is done first; none waits for a thread that has ended."""
    closing_thread: list[Thread] = []

    class Overtaken(SimpleQueue[Job | None]):
        def put(self, item: Job | None, block: bool = True, timeout: float | None = None) -> None:  # noqa: FBT001, FBT002
            if item is not None and not closing_thread:
                closing_thread.append(Thread(target=connection.close))
                closing_thread[0].start()
                closing_thread[0].join(0.2)
            super().put(item, block, timeout)

    monkeypatch.setattr("everfold.adapters.sqlite.connection_thread.SimpleQueue", Overtaken)
    connection = ConnectionThread("test", str(tmp_path / "store.db"))

    async def run() -> int:
        return await asyncio.wait_for(connection.call(lambda: 42), 10)

    assert asyncio.run(run()) == 42
    closing_thread[0].join(10)
    assert connection.is_closed


def test_a_store_touches_its_file_on_its_own_threads_only(tmp_path: Path) -> None:
    """No statement of an append, of a small write or of a read of the state runs on the event loop's thread."""
    threads: set[int] = set()

    def note(_statement: object) -> None:
        threads.add(get_ident())

    async def run() -> None:
        store = await SqliteStore.open(str(tmp_path / "store.db"))
        for connection in (store._writer, store._reader):
            connection.database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, note)
        session_id = (await open_session(store)).id
        state = await store.read_state(session_id)
        await store.write_state(session_id, replace(state, revision=1), expected_revision=0)
        await store.append(
            session_id,
            AppendPlan(appended=(), settled=(), state=replace(state, revision=2)),
            expected_revision=1,
        )
        await store.close()

    asyncio.run(run())
    assert len(threads) == 2
    assert get_ident() not in threads


def test_a_write_waits_for_another_process_beside_the_event_loop(tmp_path: Path) -> None:
    """A write that finds the file locked waits on the thread, while the loop goes on, and is done once it is free."""

    async def run() -> tuple[int, int]:
        async with open_thread(tmp_path) as connection:
            other = apsw.Connection(connection.path)
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(connection.call(partial(add_user, connection, "late")))
            beats_count = 0
            for _ in range(20):
                await asyncio.sleep(0.005)
                beats_count += not writing.done()
            other.execute("ROLLBACK")
            other.close()
            await writing
            return beats_count, count_users(connection)

    assert asyncio.run(run()) == (20, 1)


def test_an_error_within_a_transaction_leaves_the_lane_as_it_was(tmp_path: Path) -> None:
    """Work that fails in the middle of its transaction raises its own error, leaves no row, and the next is done."""

    async def run() -> int:
        async with open_thread(tmp_path) as connection:

            def fail() -> None:
                with translated(connection.path), connection.database.transaction():
                    connection.database.connection.execute("INSERT INTO users (id) VALUES ('lost')")
                    raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await connection.call(fail)
            await connection.call(partial(add_user, connection, "kept"))
            return count_users(connection)

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("among", [1, 4])
def test_event_loops_of_several_threads_share_a_lane(tmp_path: Path, among: int) -> None:
    """Calls from several threads at once are all done, each once."""
    connection = ConnectionThread("test", str(tmp_path / "store.db"))

    async def write(thread: int) -> None:
        for number in range(60):
            await connection.call(partial(add_user, connection, f"{thread}-{number}"))

    threads = [Thread(target=asyncio.run, args=(write(number),)) for number in range(among)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_users(connection) == 60 * among
    connection.close()


def test_a_fork_is_refused(tmp_path: Path) -> None:
    """A connection thread refuses all work in a fork of the process that opened it; the parent goes on."""
    with closing(ConnectionThread("test", str(tmp_path / "store.db"))) as connection:
        with warnings.catch_warnings(action="ignore"):
            child = os.fork()
        if not child:
            is_refused = False
            try:
                asyncio.run(asyncio.wait_for(connection.call(partial(add_user, connection, "child")), 5))
            except StoreUnavailableError as error:
                is_refused = "forked" in str(error)
            connection.close()
            os._exit(is_refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        asyncio.run(connection.call(partial(add_user, connection, "parent")))
        assert count_users(connection) == 1


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


async def test_a_store_that_is_dropped_ends_its_threads(tmp_path: Path) -> None:
    """The threads of a store that was never closed end when nothing holds it any more."""
    for path in (IN_MEMORY, str(tmp_path / "store.db")):
        store = await SqliteStore.open(path)
        await store.require_search()
        threads = [one._thread for one in (store._writer, store._reader, store._seeker) if one is not None]
        del store
        gc.collect()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()


async def test_each_store_in_memory_is_a_new_one() -> None:
    """Two stores in memory share nothing, and neither leaves a file."""
    first, second = await SqliteStore.open(IN_MEMORY), await SqliteStore.open(IN_MEMORY)
    await open_session(first)
    assert (await first.list_agents(), await second.list_agents()) == ([GUIDE], [])
    assert not Path(IN_MEMORY).exists()  # noqa: ASYNC240 - one look at the folder
    await first.close()
    await second.close()
