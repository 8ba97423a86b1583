"""Time, ids and secrets, so that tests can fix them."""

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
        """A unique id with the prefix: `ses_...`, `evt_...`."""
        ...


class Secrets(Protocol):
    """Makes secrets that cannot be guessed."""

    def new_secret(self) -> str:
        """A new secret of a key: `ef_` and 43 characters of `A-Z a-z 0-9 - _` that hold 256 random bits."""
        ...
