"""Background work as tasks of the event loop that asked for it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from everfold.core.sessions import SessionId
from everfold.errors import EverfoldError
from everfold.ports.dispatch import WorkOnSession

OnError = Callable[[SessionId, Exception], None]


class InProcessDispatcher:
    """One task per session that has work, on the running event loop.

    Args:
        on_error: Told of work that failed; what it was about is still in the store, for the next one who looks.
    """

    def __init__(self, on_error: OnError | None = None) -> None:
        self._on_error = on_error
        self._work: WorkOnSession | None = None
        self._tasks: dict[SessionId, asyncio.Task[None]] = {}
        self._again: set[SessionId] = set()
        self._is_closed = False

    def start(self, work: WorkOnSession) -> None:
        """See the port."""
        self._work = work

    def submit(self, session_id: SessionId) -> None:
        """See the port."""
        if self._is_closed:
            return
        if session_id in self._tasks:
            self._again.add(session_id)
            return
        self._tasks[session_id] = asyncio.get_running_loop().create_task(
            self._run(session_id), name=f"everfold {session_id}"
        )

    async def _run(self, session_id: SessionId) -> None:
        try:
            while True:
                self._again.discard(session_id)
                await self._try(session_id)
                if session_id not in self._again:
                    return
        finally:
            del self._tasks[session_id]

    async def _try(self, session_id: SessionId) -> None:
        if self._work is None:
            return
        try:
            await self._work(session_id)
        except EverfoldError as error:
            self._tell(session_id, error)
        except Exception as error:  # noqa: BLE001  # a task's outermost frame: told, and the session goes on
            self._tell(session_id, error)

    def _tell(self, session_id: SessionId, error: Exception) -> None:
        if self._on_error is not None:
            self._on_error(session_id, error)

    async def join(self, session_id: SessionId) -> None:
        """See the port."""
        task = self._tasks.get(session_id)
        if task is not None:
            await asyncio.wait([task])

    async def close(self, *, drain_secs: float) -> int:
        """See the port."""
        self._is_closed = True
        self._again.clear()
        tasks = list(self._tasks.values())
        if not tasks:
            return 0
        _, left = await asyncio.wait(tasks, timeout=drain_secs)
        for task in left:
            task.cancel()
        for task in left:
            with suppress(asyncio.CancelledError):
                await task
        return len(left)
