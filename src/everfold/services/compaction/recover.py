"""Recover: find the compactions that no worker holds any more, and wake their sessions.

What a killed process left behind, what failed and has waited long enough, and what was finished before its predecessor.

Source: DESIGN sections 3.2 and 6.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from everfold.core.compaction.record import Compaction
from everfold.core.observation.events import Recovered
from everfold.core.primitives.ids import SessionId
from everfold.errors import StoreError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.telling.stream import Stream

MOST_COMPACTIONS = 1000
"""How many compactions one recovery looks at, oldest first; what is ready comes last, as it may wait for a cache break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Looks for stale compactions at the start, and every `every_secs` after it.

    Attributes:
        lookback_secs: Only for those that were begun within so long; 0 looks for none.
    """

    store: Store
    clock: Clock
    wake: Callable[[SessionId], None]
    stream: Stream
    lookback_secs: float = 604_800.0
    every_secs: float = 120.0

    async def recover(self) -> list[SessionId]:
        """Wake the sessions with a stale compaction, and give them; finish erases that waited for readers."""
        compactions = await self._list_waiting() if self.lookback_secs else []
        sessions = list(dict.fromkeys(compaction.session_id for compaction in compactions))
        for session_id in sessions:
            self.wake(session_id)
        await self.store.finish_erasing()
        if compactions:
            self.stream.publish(Recovered(found_count=len(compactions), sessions_count=len(sessions)))
        return sessions

    async def _list_waiting(self) -> list[Compaction]:
        begun_after = self.clock.now() - timedelta(seconds=self.lookback_secs)
        return await self.store.list_waiting(begun_after=begun_after, limit_count=MOST_COMPACTIONS)

    async def recover_forever(self) -> None:
        """Recover now, and again at each interval. A store that does not serve is asked again the next time."""
        while True:
            with suppress(StoreError):  # turns report it to their callers
                await self.recover()
            await asyncio.sleep(self.every_secs)
