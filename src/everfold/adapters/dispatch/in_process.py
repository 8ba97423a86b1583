"""Background work as tasks of the event loop that asked for it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from everfold.ports.dispatch import Work

OnError = Callable[[str, Exception], None]


class InProcessDispatcher:
    """One task for each name that has work, on the running event loop.

    Args:
        on_error: Told of work that failed; what it was about is still in the store, for the next one who looks.
    """

    def __init__(self, on_error: OnError | None = None) -> None:
        self._on_error = on_error
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._next: dict[str, Work] = {}
        self._is_closed = False

    def submit(self, name: str, work: Work) -> None:
        """See the port."""
        if self._is_closed:
            return
        self._next[name] = work
        if name not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._run(name), name=f"everfold {name}")
            self._tasks[name] = task

    async def _run(self, name: str) -> None:
        try:
            while (work := self._next.pop(name, None)) is not None:
                await self._try(name, work)
        finally:
            del self._tasks[name]

    async def _try(self, name: str, work: Work) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - a task's outermost frame: told, and the session goes on
            if self._on_error is not None:
                self._on_error(name, error)

    async def join(self, name: str) -> None:
        """See the port."""
        task = self._tasks.get(name)
        if task is not None:
            await asyncio.wait([task])

    async def close(self, *, drain_secs: float) -> int:
        """See the port."""
        self._is_closed = True
        self._next.clear()
        tasks = list(self._tasks.values())
        if not tasks:
            return 0
        _, left = await asyncio.wait(tasks, timeout=drain_secs)
        for task in left:
            task.cancel()
        for task in left:
            with suppress(asyncio.CancelledError):
                await task
        return len(left)
