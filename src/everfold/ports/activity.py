"""Activity: the figures of each day, added up in the store. Errors are those of `everfold.ports.stores`."""

from datetime import date
from typing import Protocol

from everfold.core.observation.activity import Activity, DayActivity


class ActivityStore(Protocol):
    """What happened, day by day, over all users. It stays when sessions are erased: it holds figures only."""

    async def add_activity(self, day: date, activity: Activity) -> None:
        """Add figures to those of a day."""
        ...

    async def list_activity(self, *, since: date) -> list[DayActivity]:
        """The days from one on that have figures, rising."""
        ...

    async def sum_activity(self) -> Activity:
        """The figures of all days together."""
        ...
