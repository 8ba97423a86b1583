"""The sync face: the async one through a portal, call by call.

`everfold.open_sync(...)` gives a `SyncEverfold`. Its class and those of what it gives are in `everfold.sync_classes`, which
`make api` writes from the async classes: a method that is async there blocks here, and what is iterated with `async for`
there is iterated with `for` here. What all of them do is here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, ExitStack
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from everfold.errors import ConflictError
from everfold.services.telling.feed import Subscription

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


class Blocking(Generic[T]):
    """An object of the async face whose methods block."""

    def __init__(self, wrapped: T, portal: BlockingPortal) -> None:
        self._opened: tuple[T, BlockingPortal] | None = (wrapped, portal)

    @property
    def wrapped(self) -> T:
        """The object of the async face."""
        return self._require_open()[0]

    @property
    def _portal(self) -> BlockingPortal:
        return self._require_open()[1]

    def _require_open(self) -> tuple[T, BlockingPortal]:
        if self._opened is None:
            raise ConflictError(
                "the engine is not open: use `with everfold.open_sync(...) as engine`, or call `open()`"
            )
        return self._opened

    def _call(self, method: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **options: P.kwargs) -> R:
        """Call an async method on the engine's thread, and wait for what it gives."""

        async def run() -> R:
            return await method(*args, **options)

        return self._portal.call(run)

    def _run(self, method: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
        """Call a plain method on the engine's thread."""

        async def run() -> R:
            return method(*args, **options)

        return self._portal.call(run)

    def _iterate(self, items: AsyncIterator[R]) -> Generator[R, None, None]:
        return self._listen(items) if isinstance(items, Subscription) else self._walk(items)

    def _walk(self, items: AsyncIterator[R]) -> Generator[R, None, None]:
        """One item a call, so that nothing runs ahead of the loop over them."""

        async def advance() -> tuple[R] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while found := self._portal.call(advance):
                yield found[0]
        finally:
            if isinstance(items, AsyncGenerator):
                self._portal.call(items.aclose)

    def _listen(self, events: Subscription) -> Generator[Any, None, None]:
        """Events as they come, from another thread than the engine's, which may end at any moment.

        A subscription ends before its engine does, and what waits in it then is taken without the engine.
        """

        async def advance() -> object:
            return await anext(events, None)

        while not events.is_closed:
            try:
                event = self._portal.call(advance)
            except RuntimeError:
                if events.is_closed:
                    break
                raise
            if event is not None:
                yield event
        while (waiting := events.take_waiting()) is not None:
            yield waiting


def unwrap(blocking: Blocking[T]) -> tuple[T, BlockingPortal]:
    """The object of the async face behind a blocking one, and the portal to the thread on which it is used.

    Raises:
        ConflictError: the engine is not open.
    """
    return blocking._require_open()  # noqa: SLF001 - what it keeps for this module


class Opening(Blocking[T]):
    """An object that is there from `open()` to `close()`, or within `with`, on a thread of its own.

    A program that has opened it does not end before it is closed.
    """

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._opening = opening
        self._opened = None
        self._stack = ExitStack()

    def open(self) -> Self:
        """Open it, and give it; nothing happens where it is open already. Raises what `everfold.open` raises."""
        if self._opened is None:
            with ExitStack() as stack:
                portal = stack.enter_context(start_blocking_portal("asyncio"))
                wrapped = stack.enter_context(portal.wrap_async_context_manager(self._opening()))
                self._opened, self._stack = (wrapped, portal), stack.pop_all()
        return self

    def close(self) -> None:
        """Finish the work that runs, let go of the store, and end the thread; closing it again does nothing."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stack.__exit__(kind, error, trace)
        finally:
            self._opened = None
