"""Dream while users are away: find users and agents that have been idle, and dream for each of them.

Everything that it needs is in the store, so a restart forgets nothing. A pair whose dream is on its way is skipped, not
queued; different agents do not wait for each other, but for a free place among the few dreams that run at once.

Source: DESIGN sections 4 and 6; REQUIREMENTS OF-45, U-50.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import StoreError
from everfold.ports.dispatch import Dispatcher
from everfold.ports.jobs import DreamPair
from everfold.ports.memory import ExtractionStore
from everfold.ports.system import Clock
from everfold.services.dreams.dream import Dreamer

MOST_PAIRS: Final = 100
"""How many pairs one look takes up; the next one goes on."""
MOST_AT_ONCE: Final = 4
"""How many dreams run at once. Source: own choice, a few calls of a model beside the turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamLoop:
    """Looks every `poll_secs` for who has been idle for `gap_secs`; 0 switches it off.

    Its dreams run in the dispatcher and end with it.
    """

    store: ExtractionStore
    clock: Clock
    dreamer: Dreamer
    dispatcher: Dispatcher
    gap_secs: float = 300.0
    poll_secs: float = 30.0
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_ONCE), init=False, repr=False)

    async def poll(self) -> list[tuple[UserId, AgentId]]:
        """Have every idle pair dreamed for that is not already and has no dream to approve, and give them."""
        if not self.gap_secs:
            return []
        idle_before = self.clock.now() - timedelta(seconds=self.gap_secs)
        found = await self.store.list_dreamable(idle_before, MOST_PAIRS)
        waiting = {(job.user_id, job.agent_id) for job in self.dispatcher.list_jobs() if job.kind == "dream"}
        free = [pair for pair in found if pair not in waiting and not self.dreamer.is_dreaming(*pair)]
        pairs = [pair for pair in free if not await self.dreamer.is_awaiting_approval(*pair)]
        for user_id, agent_id in pairs:
            self.dispatcher.submit(DreamPair(user_id=user_id, agent_id=agent_id))
        return pairs

    async def poll_forever(self) -> None:
        """Look now and again and again. A store that does not serve is asked again the next time."""
        while True:
            with suppress(StoreError):  # turns report it to their callers
                await self.poll()
            await asyncio.sleep(self.poll_secs)

    async def dream(self, user_id: UserId, agent_id: AgentId) -> None:
        """Dream for a pair once there is a place among those that run at once."""
        async with self._places:
            await self.dreamer.dream(user_id, agent_id)
