"""Background work as tasks of the event loop that asked for it."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from everfold.ports.dispatch import DoJob, OnError
from everfold.ports.jobs import Job


class InProcessDispatcher:
    """One task for each name that has a job, on the running event loop.

    Args:
        on_error: Told of a job that failed; what it was about is still in the store, for the next one who looks.
    """

    def __init__(self, on_error: OnError | None = None) -> None:
        self._on_error = on_error
        self._do: DoJob | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._next: dict[str, Job] = {}
        self._current: dict[str, Job] = {}
        self._is_closed = False

    def serve(self, do: DoJob) -> None:
        """See the port."""
        self._do = do

    def submit(self, job: Job) -> None:
        """See the port."""
        if self._is_closed:
            return
        name = job.name
        self._next[name] = job
        if name not in self._tasks:
            self._current[name] = job
            task = asyncio.get_running_loop().create_task(self._run_all(name), name=f"everfold {name}")
            self._tasks[name] = task

    async def run(self, job: Job) -> None:
        """See the port."""
        if self._do is None:
            raise RuntimeError(f"job {job.name} was submitted before the dispatcher was told who does jobs")
        await self._do(job)

    def list_jobs(self) -> Collection[Job]:
        """See the port."""
        return self._current.values()

    async def _run_all(self, name: str) -> None:
        try:
            while (job := self._next.pop(name, None)) is not None:
                self._current[name] = job
                await self._try(job)
        finally:
            del self._tasks[name], self._current[name]

    async def _try(self, job: Job) -> None:
        try:
            await self.run(job)
        except Exception as error:  # noqa: BLE001 - a task's outermost frame: told, and the session goes on
            if self._on_error is not None:
                self._on_error(job.name, error)

    async def join(self, name: str | None = None) -> None:
        """See the port."""
        while tasks := [task for its, task in self._tasks.items() if name is None or its == name]:
            await asyncio.wait(tasks)

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
