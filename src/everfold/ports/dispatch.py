"""Dispatch: running work in the background. The work is always in the store; a dispatcher only runs it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

Work = Callable[[], Awaitable[object]]


class Dispatcher(Protocol):
    """Runs work, one piece at a time of each name."""

    def submit(self, name: str, work: Work) -> None:
        """Run work soon. Never blocks.

        While work of this name is running, the newest submitted work of the name is kept and runs after it.
        """
        ...

    async def join(self, name: str | None = None) -> None:
        """Wait until no work of this name is being done, or none at all; at once when none is."""
        ...

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most, then stop it. Gives how many pieces were stopped unfinished."""
        ...
