"""Time and ids, so that tests can hold them still."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...


class Ids(Protocol):
    """Makes ids."""

    def new_id(self, prefix: str) -> str:
        """An id that nobody else has, with the prefix: `ses_...`, `evt_...`."""
        ...
