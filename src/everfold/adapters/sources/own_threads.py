"""Work that blocks, on threads that neither the event loop nor the process waits for at its end."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar

from everfold.errors import SourceUnavailableError

T = TypeVar("T")

MOST_THREADS: Final = 4
"""How many questions one source works on at once; several people may come back in the same moment."""
WAIT_SECS: Final = 10.0
"""How long a question waits for its turn. Source: a third of the default time limit of a source, DESIGN section 6."""
_LOOK_SECS: Final = 0.02


class _Outcome(Generic[T]):
    """What came of the work; filled by the thread."""

    def __init__(self) -> None:
        self.value: T
        self.error: BaseException | None = None


class OwnThreads:
    """Runs blocking work for one source.

    A thread cannot be ended from outside. One that hangs is left behind when its caller gives up, and keeps its place
    until it comes back: so a source that hangs costs a few threads and not one for each refresh.

    Args:
        source: Whose work it is, for errors.
        most_threads: How many pieces of work run at once; the others wait.
        wait_secs: How long they wait.
    """

    def __init__(self, source: str, *, most_threads: int = MOST_THREADS, wait_secs: float = WAIT_SECS) -> None:
        self._source = source
        self._places = threading.Semaphore(most_threads)
        self._wait_secs = wait_secs

    async def run(self, work: Callable[[], T]) -> T:
        """What the work gives or raises; cancelling leaves it behind.

        Raises:
            SourceUnavailableError: no place became free in time.
        """
        await self._take_place()
        loop, done, outcome = asyncio.get_running_loop(), asyncio.Event(), _Outcome[T]()
        context = contextvars.copy_context()

        def work_and_tell() -> None:
            try:
                outcome.value = context.run(work)
            except BaseException as error:  # noqa: BLE001  # raised where it is awaited; a thread has no other caller
                outcome.error = error
            finally:
                self._places.release()
            with suppress(RuntimeError):  # the loop is closed: no caller waits any more
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=work_and_tell, name=f"everfold {self._source}", daemon=True).start()
        await done.wait()
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    async def _take_place(self) -> None:
        """A place, in turn by chance; places are given back by threads, which know no event loop, so it is looked for."""
        until = asyncio.get_running_loop().time() + self._wait_secs
        while not self._places.acquire(blocking=False):
            if asyncio.get_running_loop().time() >= until:
                raise SourceUnavailableError(
                    f"the source {self._source} is still busy with earlier questions; try again later, and if this "
                    "persists, find out what it waits for",
                    source=self._source,
                )
            await asyncio.sleep(_LOOK_SECS)
