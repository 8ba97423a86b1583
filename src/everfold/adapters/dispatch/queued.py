"""Background work that is left to the workers of other processes."""

from collections.abc import Collection

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.dispatch.queue import QUEUED
from everfold.ports.dispatch import DoJob, JobQueue, OnError
from everfold.ports.jobs import Job


class QueueDispatcher:
    """Puts jobs into a queue beside the turns; what each turn sets off is done by this process.

    Args:
        queue: Takes the jobs for workers.
        on_error: Told of a job that failed here, or that the queue did not take: recovery finds what it was about.
    """

    def __init__(self, queue: JobQueue, on_error: OnError | None = None) -> None:
        self._queue = queue
        self._here = InProcessDispatcher(on_error)
        self._do: DoJob | None = None

    def serve(self, do: DoJob) -> None:
        """See the port."""
        self._do = do
        self._here.serve(self._pass_on)

    async def _pass_on(self, job: Job) -> None:
        if isinstance(job, QUEUED):
            await self._queue.defer(job)
        else:
            await self.run(job)

    def submit(self, job: Job) -> None:
        """See the port."""
        self._here.submit(job)

    async def run(self, job: Job) -> None:
        """See the port."""
        if self._do is None:
            raise RuntimeError(f"job {job.name} was submitted before the dispatcher was told who does jobs")
        await self._do(job)

    def list_jobs(self) -> Collection[Job]:
        """See the port; what is in the queue is on its way elsewhere."""
        return self._here.list_jobs()

    async def join(self, name: str | None = None) -> None:
        """See the port."""
        await self._here.join(name)

    async def close(self, *, drain_secs: float) -> int:
        """See the port."""
        return await self._here.close(drain_secs=drain_secs)
