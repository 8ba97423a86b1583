"""Dispatch: running jobs in the background. The work is always in the store; a dispatcher only has it done."""

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from everfold.ports.jobs import Job

DoJob = Callable[[Job], Awaitable[object]]
"""Does a job in this process, and waits for its end."""

OnError = Callable[[str, Exception], None]
"""Told of a job that failed, by its name; what it was about is still in the store, for the next one who looks."""


class Dispatcher(Protocol):
    """Has jobs done, one at a time of each name."""

    def serve(self, do: DoJob) -> None:
        """Have jobs done by this from now on; called once, before the first job."""
        ...

    def submit(self, job: Job) -> None:
        """Have a job done soon. Never blocks.

        While a job of this name is being done, the newest submitted job of the name is kept and done after it.
        """
        ...

    async def run(self, job: Job) -> None:
        """Do a job in the caller's place. Raises what the job raises."""
        ...

    def list_jobs(self) -> Collection[Job]:
        """The jobs that were submitted in this process and are on their way in it."""
        ...

    async def join(self, name: str | None = None) -> None:
        """Wait until no job of this name is being done, or none at all; at once when none is."""
        ...

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most, then stop it. Gives how many jobs were stopped unfinished."""
        ...


class JobQueue(Protocol):
    """Jobs that wait in a database for the workers of any process."""

    async def defer(self, job: Job) -> None:
        """Leave a job to the workers, unless one of its name waits already.

        Raises:
            StoreUnavailableError: the database does not serve.
        """
        ...

    async def work(self, do: DoJob, *, concurrency: int, heartbeat_secs: float, drain_secs: float) -> None:
        """Do jobs, so many at once, until cancelled; what runs then is finished, for so long at most.

        A worker that has given no sign of life three times is taken for dead, and its jobs are done again. A database that
        does not serve is tried again.
        """
        ...

    @property
    def is_working(self) -> bool:
        """Whether the database knows this process as a worker."""
        ...

    async def count(self) -> dict[str, int]:
        """How many jobs wait (`todo`) and run (`doing`).

        Raises:
            StoreUnavailableError: the database does not serve.
        """
        ...

    async def close(self) -> None:
        """Let go of the database."""
        ...
