"""A thread of its own for each connection, and the way there and back.

A job goes over as a closure, and its outcome comes back as the result of a future of the caller's event loop. An
executor of one thread is not used, since it offers no place for the housekeeping: the thread does a step of it when no
job has come for a while, and after a job when much has piled up. An executor's thread is also joined when a program
ends, whether or not its store was closed.

It is faster too, but by less than would be a reason: 26 to 30 microseconds a call against 46 through
`run_in_executor`, two calls a turn, so about 3 % of a turn. Source: our measurement, `bench/turn.py`.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TypeVar

from everfold.adapters.sql.places import Places
from everfold.adapters.sqlite.connection import open_database
from everfold.adapters.sqlite.housekeeping import Housekeeping
from everfold.errors import StoreUnavailableError
from everfold.ports.system import Clock

T = TypeVar("T")

Job = Callable[[], Callable[[], object]]
"""Does a piece of work, and gives what tells its caller of the outcome: called when the connection is free again."""

QUIET_SECS = 0.05
"""How long the thread waits for a job before it does deferred work: between two turns, not within one."""


class ConnectionThread:
    """One thread with one connection; jobs run one after the other, in the order of their calls.

    The thread is a daemon: a program that ends without closing its store is not held up, and what was not committed by
    then was never said to be.
    """

    def __init__(self, name: str, path: str, clock: Clock | None = None) -> None:
        self.path = path
        self.is_closed = False
        self.database = open_database(path, clock)
        self.places = Places(self.database)
        self._housekeeping = Housekeeping(self.database)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._asking = Lock()  # who holds it may queue: nothing comes behind the end
        self._process_id = os.getpid()
        self._thread = Thread(target=self._run, name=f"everfold-{name}", daemon=True)
        self._thread.start()

    async def call(self, work: Callable[[], T]) -> T:
        """What a piece of work gives, or its error. Cancelled before it begins, it never runs.

        Raises:
            StoreUnavailableError: the connection was closed, or belongs to another process.
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
        return await future

    def close(self) -> None:
        """Finish what was asked for, then close the connection, which only the process that opened it may do."""
        if self._is_foreign:
            self.is_closed = True
            return
        with self._asking:
            self.is_closed = True
            self.end()
        self._thread.join()
        self.database.close()

    def end(self) -> None:
        """Let the thread end when it has done what was asked for; nothing may ask it for anything from here on."""
        self._jobs.put(None)

    @property
    def _is_foreign(self) -> bool:
        """Whether this process is a fork of the one that opened the file: it has neither its thread nor its locks.

        Source: SQLite's documentation of how to corrupt a database, 2.6.
        """
        return os.getpid() != self._process_id

    def _run(self) -> None:
        while (job := self._next()) is not None:
            tell = job()
            with suppress(RuntimeError):  # the loop was closed: nothing waits any more
                tell()
            del job, tell  # else what the work holds is held until the next job comes
            if self._housekeeping.has_piled_up:
                self._housekeeping.do_step()

    def _next(self) -> Job | None:
        """The next job; None for the end. What was put off is done while the queue is empty."""
        while self._housekeeping.is_due:
            with suppress(Empty):
                return self._jobs.get(timeout=QUIET_SECS)
            while self._housekeeping.is_due and self._jobs.empty():
                self._housekeeping.do_step()
        return self._jobs.get()


def _do_nothing() -> None:
    """The outcome of a cancelled job."""


def _succeed(future: asyncio.Future[T], result: T) -> None:
    if not future.cancelled():
        future.set_result(result)


def _fail(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.cancelled():
        future.set_exception(error)
