"""Dispatch: running jobs in the background. The work is always in the store; a dispatcher only has it done."""

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from everfold.ports.jobs import Job

DoJob = Callable[[Job], Awaitable[object]]
"""Does a job in this process, and waits for its end."""


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
