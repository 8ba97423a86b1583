"""Work that blocks, on a thread that neither the event loop nor the process waits for at its end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from everfold.errors import SourceUnavailableError

T = TypeVar("T")


class _Outcome(Generic[T]):
    """What came of the work; filled by the thread."""

    def __init__(self) -> None:
        self.value: T
        self.error: BaseException | None = None


class OwnThread:
    """Runs one piece of blocking work at a time for one source.

    A thread cannot be ended from outside. One that hangs is left behind when its caller gives up, and until it comes
    back the source refuses further work: so a source that hangs costs one thread and not one for each refresh.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._free = threading.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What the work gives or raises; cancelling leaves it behind.

        Raises:
            SourceUnavailableError: the work before it has not come back yet.
        """
        if not self._free.acquire(blocking=False):
            raise SourceUnavailableError(
                f"the source {self._source} is still busy with an older question; ask again later, and if this stays, "
                "find out what it waits for",
                source=self._source,
            )
        loop, done, outcome = asyncio.get_running_loop(), asyncio.Event(), _Outcome[T]()
        context = contextvars.copy_context()

        def work_and_tell() -> None:
            try:
                outcome.value = context.run(work)
            except BaseException as error:  # noqa: BLE001  # raised where it is awaited; a thread has nobody else to tell
                outcome.error = error
            finally:
                self._free.release()
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=work_and_tell, name=f"everfold {self._source}", daemon=True).start()
        await done.wait()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value
