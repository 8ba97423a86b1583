"""Background: what an engine does beside the turns, from its opening to its closing."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from everfold.core.sessions import SessionId
from everfold.ports.dispatch import Dispatcher
from everfold.services.sweep import Sweeper
from everfold.services.work import Worker


@dataclass(slots=True, kw_only=True)
class Background:
    """A worker, what runs it, and the sweep that finds what was left behind."""

    worker: Worker
    dispatcher: Dispatcher
    sweeper: Sweeper
    close_model: Callable[[], Awaitable[None]] | None = None
    _sweeping: asyncio.Task[None] | None = field(default=None, init=False)

    @property
    def is_synchronous(self) -> bool:
        """Work is done by whoever finds it due."""
        return self.worker.policy.is_synchronous

    def start(self) -> None:
        """Sweep from now on. Work that is done by whoever finds it due is left to them."""
        if not self.is_synchronous:
            self._sweeping = asyncio.get_running_loop().create_task(self.sweeper.sweep_forever(), name="everfold sweep")

    def wake(self, session_id: SessionId) -> None:
        """Have a session worked on soon."""
        self.worker.wake(session_id)

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most; what is left stays pending. Gives how many sessions were stopped."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait([self._sweeping])
        stopped_count = await self.dispatcher.close(drain_secs=drain_secs)
        if self.close_model is not None:
            await self.close_model()
        return stopped_count
