"""Dispatch: having work done beside the turns. What is to be done is always in the store; a dispatcher only runs it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

Work = Callable[[], Awaitable[object]]


class Dispatcher(Protocol):
    """Runs work, one piece at a time of each name."""

    def submit(self, name: str, work: Work) -> None:
        """Have something done soon. Never blocks.

        While work of this name is being done, the newest that is submitted is done once more afterwards.
        """
        ...

    async def join(self, name: str) -> None:
        """Wait until no work of this name is being done; at once when none is."""
        ...

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most, then stop it. Gives how many pieces were stopped unfinished."""
        ...
