"""A thread of its own for each connection, and the way there and back.

A job goes over as a closure, and its outcome comes back as the result of a future of the caller's event loop. This is
what an executor of one thread does, without the second future, its lock and the chain between the two: half of what
the change of threads costs.

Source: our measurement, `bench/turn.py`: 55 microseconds a call against 100 through `run_in_executor`.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

from everfold.adapters.sqlite.connection import open_database
from everfold.adapters.sqlite.places import Places
from everfold.errors import StoreUnavailableError

T = TypeVar("T")


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
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name=f"everfold-{name}", daemon=True)
        self._thread.start()

    async def call(self, work: Callable[[], T]) -> T:
        """What a piece of work gives, or its error. Cancelled before it begins, it never runs.

        Raises:
            StoreUnavailableError: the lane was closed.
        """
        if self.is_closed:
            raise StoreUnavailableError(f"{self.path} was closed; open it again", path=self.path)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            if future.cancelled():
                return
            try:
                settle = partial(_succeed, future, work())
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the call waits
                settle = partial(_fail, future, error)
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(settle)

        self._jobs.put(job)
        return await future

    def close(self) -> None:
        """Finish what was asked for, then close the connection."""
        self.is_closed = True
        self._jobs.put(None)
        self._thread.join()
        self.database.close()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # holds what the work held, until the next one comes


def _succeed(future: asyncio.Future[T], result: T) -> None:
    if not future.cancelled():
        future.set_result(result)


def _fail(future: asyncio.Future[T], error: BaseException) -> None:
    if not future.cancelled():
        future.set_exception(error)
