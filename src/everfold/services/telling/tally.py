"""Tally: what an engine does, counted in this process, and added to the figures of the day beside the turns.

A turn pays no query for it: what was counted is written every few seconds, before it is read, and when the engine
closes. A process that is killed loses the counts of its last seconds, and nothing else.
"""

import asyncio

from everfold.core.observation.activity import Activity, SentWindow, measure_request
from everfold.core.observation.events import CompactionCommitted, Event, ExtractionEnded
from everfold.errors import StoreError
from everfold.ports.activity import ActivityStore
from everfold.ports.system import Clock

EVERY_SECS = 10.0
"""How often the counts are written. Source: own choice: seldom enough to cost nothing, and what a kill loses."""
_NOTHING = Activity()


class Tally:
    """A listener that counts. Everything in it happens on the engine's own event loop."""

    def __init__(self) -> None:
        self._counted = _NOTHING

    def hears(self, kind: type[Event]) -> bool:
        """Whether an event of this class is counted."""
        return kind in {CompactionCommitted, ExtractionEnded}

    def take(self, event: Event) -> None:
        """Count an event."""
        match event:
            case CompactionCommitted(report=report):
                self.count(Activity(compactions_count=1, folded_count=report.folded_count))
            case ExtractionEnded(found_count=found_count):
                self.count(Activity(items_count=found_count))
            case _:
                pass

    def count(self, activity: Activity) -> None:
        """Count what no event tells: messages and windows, which come with every turn."""
        self._counted = self._counted.plus(activity)

    def count_window(
        self, before: SentWindow | None, now: SentWindow, *, window_tokens: int, resent_tokens: int
    ) -> None:
        """Count a window as a request, unless the log has not grown since the one before it."""
        if before is None or before.last_seq != now.last_seq:
            self.count(measure_request(before, now, window_tokens=window_tokens, resent_tokens=resent_tokens))

    async def keep(self, store: ActivityStore, clock: Clock) -> None:
        """Add what was counted to the figures of today; nothing is asked of the store where nothing was.

        Raises:
            StoreError: the store did not take it; the counts stay for the next time.
        """
        counted, self._counted = self._counted, _NOTHING
        if counted == _NOTHING:
            return
        try:
            await store.add_activity(clock.now().date(), counted)
        except StoreError:
            self.count(counted)
            raise

    async def keep_forever(self, store: ActivityStore, clock: Clock) -> None:
        """Write the counts at intervals, until cancelled; a store that fails is tried again."""
        while True:
            await asyncio.sleep(EVERY_SECS)
            try:
                await self.keep(store, clock)
            except StoreError:
                continue
