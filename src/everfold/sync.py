"""The sync face: the async one through a portal, call by call.

`everfold.open_sync(...)` gives a `Blocking` around the engine. Every method of the engine and of what it gives is there
under the same name with the same arguments; a method that is async there blocks here, and what is iterated with
`async for` there is iterated with `for` here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import wraps
from inspect import iscoroutine
from typing import Any, Generic, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from everfold.core.happenings import Happening
from everfold.memory import Memory
from everfold.services.feed import Subscription
from everfold.services.keys import Keys
from everfold.services.memory_tools import MemoryTools
from everfold.services.replay import Replay
from everfold.session import Session

T = TypeVar("T")


class Blocking(Generic[T]):
    """An object of the async face whose methods block. `wrapped` is the object itself."""

    def __init__(self, wrapped: T, portal: BlockingPortal) -> None:
        self.wrapped = wrapped
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.wrapped, name)
        return self._blocking(value) if callable(value) else self._give(value)

    def _blocking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **options: Any) -> Any:
            async def run() -> Any:
                given = method(*arguments, **options)
                return await given if iscoroutine(given) else given

            return self._give(self._portal.call(run))

        return call

    def _give(self, given: Any) -> Any:
        match given:
            case Session() | Memory() | MemoryTools() | Replay() | Keys():
                return Blocking(given, self._portal)
            case Subscription():
                return self._listen(given)
            case AsyncIterator():
                return self._iterate(given)
            case _:
                return given

    def _iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """One item a call, so that nothing runs ahead of who iterates."""

        async def advance() -> tuple[T] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while found := self._portal.call(advance):
                yield found[0]
        finally:
            if isinstance(items, AsyncGenerator):
                self._portal.call(items.aclose)

    def _listen(self, events: Subscription) -> Iterator[Happening]:
        """Happenings as they come, from another thread than the engine's, which may end at any moment.

        A subscription ends before its engine does, and what waits in it then is taken without the engine.
        """

        async def advance() -> Happening | None:
            return await anext(events, None)

        while not events.is_closed:
            try:
                happening = self._portal.call(advance)
            except RuntimeError:
                if events.is_closed:
                    break
                raise
            if happening is not None:
                yield happening
        while (happening := events.take_waiting()) is not None:
            yield happening


@contextmanager
def block_on(opening: AbstractAsyncContextManager[T]) -> Iterator[Blocking[T]]:
    """Enter an async context manager on a thread of its own, and give what it gives with methods that block."""
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(opening) as opened,
    ):
        yield Blocking(opened, portal)
