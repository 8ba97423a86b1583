"""Background: what an engine does beside the turns, from its opening to its closing."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from everfold.core.primitives.ids import SessionId
from everfold.errors import InvalidInputError
from everfold.ports.dispatch import Dispatcher, DoJob, JobQueue
from everfold.ports.jobs import WakeSession
from everfold.services.compaction.recover import Recovery
from everfold.services.compaction.work import Worker
from everfold.services.dreams.dream_loop import DreamLoop


@dataclass(slots=True, kw_only=True)
class Background:
    """A worker, what runs it, the recovery that finds what was left behind, the look for whom to dream for, and vectors.

    Attributes:
        dreams: Any agent has structured memory; otherwise idle users are not looked for.
        queue: Where jobs wait for workers; None where this process does the work.
    """

    worker: Worker
    dispatcher: Dispatcher
    recovery: Recovery
    dreaming: DreamLoop | None = None
    fill_vectors: Callable[[], Coroutine[object, object, None]] | None = None
    close_models: Callable[[], Awaitable[None]] | None = None
    dreams: bool = True
    queue: JobQueue | None = None
    _looking: list[asyncio.Task[None]] = field(default_factory=list, init=False)

    @property
    def is_synchronous(self) -> bool:
        """The caller that finds work due does it."""
        return self.worker.policy.is_synchronous

    def start(self) -> None:
        """Look for work from now on, except for what callers do when they find it due, and what is left to workers."""
        if not self.is_synchronous and self.queue is None:
            self._look()

    async def work(self, do: DoJob, *, concurrency: int, heartbeat_secs: float, drain_secs: float) -> None:
        """Do what other processes leave to workers, and look for work, until cancelled.

        Raises:
            InvalidInputError: no work is left to workers here.
        """
        if self.queue is None:
            raise InvalidInputError("this process has no job queue; open a PostgreSQL store with `workers.enabled`")
        self._look()
        await self.queue.work(do, concurrency=concurrency, heartbeat_secs=heartbeat_secs, drain_secs=drain_secs)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking.append(loop.create_task(self.recovery.recover_forever(), name="everfold recovery"))
        if self.dreams:
            self._begin_dreaming()
        if self.fill_vectors is not None:
            self._looking.append(loop.create_task(self.fill_vectors(), name="everfold vectors"))

    def dream_too(self) -> None:
        """Look for whom to dream for from now on, where that was not done before."""
        if not self.dreams:
            self.dreams = True
            if self._looking:
                self._begin_dreaming()

    def _begin_dreaming(self) -> None:
        if self.dreaming is not None and self.dreaming.gap_secs:
            looking = self.dreaming.poll_forever()
            self._looking.append(asyncio.get_running_loop().create_task(looking, name="everfold dreams"))

    def wake(self, session_id: SessionId) -> None:
        """Have a session worked on soon."""
        self.worker.wake(session_id)

    async def work_on(self, session_id: SessionId) -> None:
        """Have a session worked on, and wait for what this process does of it; a failure is reported, not raised."""
        self.wake(session_id)
        await self.dispatcher.join(WakeSession(session_id=session_id).name)

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most; what is left stays pending. Gives how many sessions were stopped."""
        for looking in self._looking:
            looking.cancel()
        if self._looking:
            await asyncio.wait(self._looking)
        stopped_count = await self.dispatcher.close(drain_secs=drain_secs)
        if self.worker.refresher is not None:
            await self.worker.refresher.close()
        if self.queue is not None:
            await self.queue.close()
        if self.close_models is not None:
            await self.close_models()
        return stopped_count
