"""Sweep: find the events that nobody works on any more, and wake their sessions.

What a killed process left behind, what failed and has waited long enough, and what was finished before its predecessor.

Source: DESIGN sections 3.2 and 6.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from everfold.core.events import CompactionEvent
from everfold.core.happenings import Swept
from everfold.core.sessions import SessionId
from everfold.errors import StoreError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.feed import Feed

MOST_EVENTS = 1000
"""How many events one sweep looks at; the next one goes on, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """Looks for stale events at the start, and every `every_secs` after it.

    Attributes:
        lookback_secs: Only for those that were begun within so long; 0 looks for none.
    """

    store: Store
    clock: Clock
    wake: Callable[[SessionId], None]
    feed: Feed
    lookback_secs: float = 604_800.0
    every_secs: float = 120.0

    async def sweep(self) -> list[SessionId]:
        """Wake every session that has a stale event, and give them; finish erases that readers held up in the files."""
        events = await self._list_waiting() if self.lookback_secs else []
        sessions = list(dict.fromkeys(event.session_id for event in events))
        for session_id in sessions:
            self.wake(session_id)
        await self.store.finish_erasing()
        if events:
            self.feed.publish(Swept(found_count=len(events), sessions_count=len(sessions)))
        return sessions

    async def _list_waiting(self) -> list[CompactionEvent]:
        now = self.clock.now()
        begun_after = now - timedelta(seconds=self.lookback_secs)
        return await self.store.list_waiting(now=now, begun_after=begun_after, limit_count=MOST_EVENTS)

    async def sweep_forever(self) -> None:
        """Sweep now and again and again. A store that does not serve is asked again the next time."""
        while True:
            with suppress(StoreError):  # turns report it to whoever makes them
                await self.sweep()
            await asyncio.sleep(self.every_secs)
