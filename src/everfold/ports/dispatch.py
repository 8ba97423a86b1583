"""Dispatch: having work done beside the turns. What is to be done is always in the store; a dispatcher only runs it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from everfold.core.sessions import SessionId

WorkOnSession = Callable[[SessionId], Awaitable[object]]


class Dispatcher(Protocol):
    """Runs the work of sessions, one at a time each."""

    def start(self, work: WorkOnSession) -> None:
        """Say what a session's work is. Called once, before anything is submitted."""
        ...

    def submit(self, session_id: SessionId) -> None:
        """Have a session worked on soon. While it is being worked on, it is so once more afterwards. Never blocks."""
        ...

    async def join(self, session_id: SessionId) -> None:
        """Wait until a session is not worked on; at once when it is not."""
        ...

    async def close(self, *, drain_secs: float) -> int:
        """Finish what runs, for so long at most, then stop it. Gives how many sessions were stopped unfinished."""
        ...
