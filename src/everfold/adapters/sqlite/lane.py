"""A thread of its own for each connection, and the way there and back.

A job goes over as a closure, and its outcome comes back as the result of a future of the caller's event loop. This is
what an executor of one thread does, without the second future, its lock and the chain between the two: half of what
the change of threads costs.

Brief work that is alone is done where it is asked for, which saves the change of threads there and back and what it
costs to begin anew on another processor: a tenth of a turn. The event loop stands still meanwhile, so this lasts only
as long as nobody else waits and such work has been quick.

Source: our measurements, `bench/turn.py`: 55 microseconds a call against 100 through `run_in_executor`; docs/adr/0027.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TypeVar

import apsw

from everfold.adapters.sqlite.connection import open_database
from everfold.adapters.sqlite.housekeeping import Housekeeping
from everfold.adapters.sqlite.places import Places
from everfold.errors import StoreUnavailableError

T = TypeVar("T")

Job = Callable[[], Callable[[], object]]
"""Does a piece of work, and gives what tells its caller of the outcome: called when the connection is free again."""

SLOW_SECS = 0.005
"""Brief work that takes longer has met a slow disk, or was not brief. Source: ten times what a small append takes."""
WARY_COUNT = 100
"""How many calls go to the thread after one such, so that of a hundred at most one holds up the event loop."""
HELD_SECS = 0.005
"""How long brief work, one after the other, holds an event loop before other tasks have their turn."""
QUIET_SECS = 0.05
"""How long nobody has asked for anything when the thread does what was put off: between two turns, not within one."""


class Lane:
    """One thread with one connection; jobs run one after the other, in the order of their calls.

    The thread is a daemon: a program that ends without closing its store is not held up, and what was not committed by
    then was never said to be.
    """

    def __init__(self, name: str, path: str) -> None:
        self.path = path
        self.is_closed = False
        self.database = open_database(path)
        self.places = Places(self.database)
        self._housekeeping = Housekeeping(self.database)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = Lock()  # who holds it has the connection
        self._asking = Lock()  # who holds it may queue: nothing comes behind the end
        self._calls: set[object] = set()  # that have not returned
        self._wary_count = 0
        self._worked_at = 0.0  # when work was last done in a caller's thread
        self._held_secs = 0.0  # how long such work has taken since others had their turn
        self._process_id = os.getpid()
        self._thread = Thread(target=self._run, name=f"everfold-{name}", daemon=True)
        self._thread.start()

    async def call(self, work: Callable[[], T]) -> T:
        """What a piece of work gives, or its error. Cancelled before it begins, it never runs.

        Raises:
            StoreUnavailableError: the lane was closed, or is another process's.
        """
        if self._is_foreign:
            raise StoreUnavailableError(
                f"{self.path} was opened before this process was forked; open it again in this one", path=self.path
            )
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> Callable[[], object]:
            if future.cancelled():
                return _do_nothing
            try:
                settle = partial(_succeed, future, work())
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the call waits
                settle = partial(_fail, future, error)
            return partial(loop.call_soon_threadsafe, settle)

        with self._asking:
            if self.is_closed:
                raise StoreUnavailableError(f"{self.path} was closed; open it again", path=self.path)
            self._jobs.put(job)
        self._calls.add(future)
        try:
            return await future
        finally:
            self._calls.discard(future)

    async def call_briefly(self, work: Callable[[], T]) -> T:
        """The same for work of a fraction of a millisecond: done here and now, where nothing speaks against it.

        The thread does it where another call has not returned, where such work has just been slow, and where another
        process holds the file: nobody waits for a lock here.

        Raises:
            StoreUnavailableError: the lane was closed, or is another process's.
        """
        if self._wary_count:
            self._wary_count -= 1
        elif not (self.is_closed or self._calls or self._is_foreign or self._lock.locked()):
            with suppress(apsw.BusyError):
                result = self._work_here(work)
                if self._held_secs >= HELD_SECS:
                    await self._give_way()
                return result
        return await self.call(work)

    def _work_here(self, work: Callable[[], T]) -> T:
        """What a piece of work gives, done in the caller's thread.

        In the main thread a signal's handler may raise anywhere in here, as an interrupt does; nothing stays half-done.

        Raises:
            apsw.BusyError: another process holds the file; nothing was done.
        """
        with self._lock:
            begun, was_due = monotonic(), self._housekeeping.is_due
            try:
                with self.database.impatient():
                    return work()
            except StoreUnavailableError as error:
                if isinstance(error.__cause__, apsw.BusyError):
                    raise error.__cause__ from None
                raise
            finally:
                self._worked_at = monotonic()
                took_secs = self._worked_at - begun
                self._held_secs += took_secs
                if took_secs > SLOW_SECS:
                    self._wary_count = WARY_COUNT
                if (self._housekeeping.is_due and not was_due) or self._housekeeping.has_piled_up:
                    self._jobs.put(_wake)

    async def _give_way(self) -> None:
        """Let the other tasks of this loop have their turn, as they have while the thread works."""
        self._held_secs = 0.0
        self._calls.add(turn := object())
        try:
            await asyncio.sleep(0)
        finally:
            self._calls.discard(turn)

    def close(self) -> None:
        """Finish what was asked for, then close the connection, which only the process that opened it may do."""
        if self._is_foreign:
            self.is_closed = True
            return
        with self._asking:
            self.is_closed = True
            self._jobs.put(None)
        self._thread.join()
        with self._lock:
            self.database.close()

    @property
    def _is_foreign(self) -> bool:
        """Whether this process is a fork of the one that opened the file: it has neither its thread nor its locks.

        Source: SQLite's documentation of how to corrupt a database, 2.6.
        """
        return os.getpid() != self._process_id

    def _run(self) -> None:
        while (job := self._next()) is not None:
            with self._lock:
                tell = job()
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                tell()
            del job, tell  # hold what the work held, until the next one comes
            if self._housekeeping.has_piled_up:
                self._keep_house()

    def _next(self) -> Job | None:
        """The next job; None for the end. What was put off is done while nobody asks for anything."""
        while self._housekeeping.is_due:
            with suppress(Empty):
                return self._jobs.get(timeout=QUIET_SECS)
            while monotonic() - self._worked_at >= QUIET_SECS and self._housekeeping.is_due and self._jobs.empty():
                self._keep_house()
        return self._jobs.get()

    def _keep_house(self) -> None:
        with self._lock:
            self._housekeeping.do_step()


def _wake() -> Callable[[], object]:
    """The job that only wakes the thread."""
    return _do_nothing


def _do_nothing() -> None:
    """What is told of a job that nobody waits for."""


def _succeed(future: asyncio.Future[T], result: T) -> None:
    if not future.cancelled():
        future.set_result(result)


def _fail(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.cancelled():
        future.set_exception(error)
