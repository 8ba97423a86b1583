"""The sync face: the async one through a portal, call by call.

`everfold.open_sync(...)` gives a `SyncEverfold`. Its class and those of what it gives are in `everfold.sync_classes`, which
`make api` writes from the async classes: a method that is async there blocks here, and what is iterated with `async for`
there is iterated with `for` here. What all of them do is here.
"""

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from contextvars import Context
from threading import RLock, Thread
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from everfold.errors import ConflictError, StoreUnavailableError
from everfold.services.telling.feed import Subscription

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


class Portal(BlockingPortal):
    """The way to an engine's thread, which knows when it has ended."""

    is_stopped = False

    def __init__(self) -> None:
        super().__init__()
        self._process_id = os.getpid()

    @property
    def is_elsewhere(self) -> bool:
        """Whether this process is a fork of the one that has the thread, so that a call would wait for ever."""
        return os.getpid() != self._process_id

    async def stop(self, cancel_remaining: bool = False) -> None:  # noqa: FBT001, FBT002 - as it is inherited
        """Take no more calls, and end the thread."""
        self.is_stopped = True
        await super().stop(cancel_remaining)

    def ask(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """What an async function gives on the thread.

        Raises:
            StoreUnavailableError: as `begin`.
        """
        return self.begin(work).result()

    def begin(self, work: Callable[[], Coroutine[Any, Any, R]]) -> Future[R]:
        """Run an async function on the thread, and give where its result will be.

        Raises:
            StoreUnavailableError: the engine was closed, or the program ends, and the thread with it; or this process is
                a fork of the one that opened it.
        """
        if self.is_elsewhere:
            raise StoreUnavailableError("this process is a fork of the one that opened the engine; open it again here")
        if sys.is_finalizing():
            raise StoreUnavailableError("the program ends; nothing more can be asked of its engine")
        try:
            future: Future[R] = self.start_task_soon(work)
        except RuntimeError as error:
            if self.is_stopped:
                raise StoreUnavailableError("the engine was closed; open it again") from error
            raise
        return future


class PortalThread:
    """A thread with an event loop, within `with`; a program that ends without leaving it is not held up.

    The thread is a daemon, as the one of anyio's `start_blocking_portal`. That one is also stopped when it is collected,
    which waits for ever once the interpreter ends.
    """

    def __init__(self) -> None:
        self._started: Future[Portal] = Future()
        # A context of its own: a program with an event loop may open an engine too.
        self._thread = Thread(target=Context().run, args=(self._run,), name="everfold-engine", daemon=True)

    def __enter__(self) -> Portal:
        self._thread.start()
        return self._started.result()

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: object) -> None:
        portal = self._started.result()
        with suppress(RuntimeError):  # it has stopped already
            portal.call(portal.stop, kind is not None)
        self._thread.join()

    def _run(self) -> None:
        try:
            anyio.run(self._serve)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the portal is waited for
            if not self._started.done():
                self._started.set_exception(error)

    async def _serve(self) -> None:
        async with Portal() as portal:
            self._started.set_result(portal)
            await portal.sleep_until_stopped()


class Blocking(Generic[T]):
    """An object of the async face whose methods block."""

    def __init__(self, wrapped: T, portal: Portal) -> None:
        self._opened: tuple[T, Portal] | None = (wrapped, portal)

    @property
    def _wrapped(self) -> T:
        """The object of the async face."""
        return self._require_open()[0]

    @property
    def _portal(self) -> Portal:
        return self._require_open()[1]

    def _require_open(self) -> tuple[T, Portal]:
        if self._opened is None:
            raise ConflictError(
                "the engine is not open: use `with everfold.open_sync(...) as engine`, or call `open()`"
            )
        return self._opened

    def _call(self, method: Callable[P, Coroutine[Any, Any, R]], *args: P.args, **options: P.kwargs) -> R:
        """Call an async method on the engine's thread, and wait for what it gives."""

        async def run() -> R:
            return await method(*args, **options)

        return self._portal.ask(run)

    def _run(self, method: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
        """Call a plain method on the engine's thread."""

        async def run() -> R:
            return method(*args, **options)

        return self._portal.ask(run)

    def _iterate(self, items: AsyncIterator[R]) -> Generator[R, None, None]:
        portal = self._portal  # the engine may be closed, and opened anew, before the iteration ends
        return self._listen(items, portal) if isinstance(items, Subscription) else self._walk(items, portal)

    @staticmethod
    def _walk(items: AsyncIterator[R], portal: Portal) -> Generator[R, None, None]:
        """One item a call, so that nothing runs ahead of the loop over them."""

        async def advance() -> tuple[R] | None:
            async for item in items:
                return (item,)
            return None

        try:
            while found := portal.ask(advance):
                yield found[0]
        finally:
            if isinstance(items, AsyncGenerator):
                with suppress(StoreUnavailableError):  # it has ended with the engine
                    portal.ask(items.aclose)

    @staticmethod
    def _listen(events: Subscription, portal: Portal) -> Generator[Any, None, None]:
        """Events as they come, from another thread than the engine's, which may end at any moment.

        A subscription ends before its engine does, and what waits in it then is taken without the engine.
        """

        async def advance() -> object:
            return await anext(events, None)

        while not events.is_closed:
            try:
                event = portal.ask(advance)
            except (RuntimeError, StoreUnavailableError):
                if events.is_closed:
                    break
                raise
            if event is not None:
                yield event
        while (waiting := events.take_waiting()) is not None:
            yield waiting


def unwrap(blocking: Blocking[T]) -> tuple[T, Portal]:
    """The object of the async face behind a blocking one, and the portal to the thread on which it is used.

    Raises:
        ConflictError: the engine is not open.
    """
    return blocking._require_open()  # noqa: SLF001 - what it keeps for this module


class Opening(Blocking[T]):
    """An object that is there from `open()` to `close()`, or within `with`, on a thread of its own.

    Several threads may open and close it. A program that ends without closing it loses nothing that a call has returned
    for; its background work goes on after the next opening. In a fork of the process it can be opened anew, and to close
    it leaves that of the other process as it is.
    """

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._opening = opening
        self._opened = None
        self._stack = ExitStack()
        self._changing = RLock()

    def open(self) -> Self:
        """Open it, and give it; nothing happens where it is open already. Raises what `everfold.open` raises."""
        with self._changing:
            self._forget_elsewhere()
            if self._opened is None:
                with ExitStack() as stack:
                    portal = stack.enter_context(PortalThread())
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
        with self._changing:
            self._forget_elsewhere()
            try:
                self._stack.__exit__(kind, error, trace)
            finally:
                self._opened = None

    def _forget_elsewhere(self) -> None:
        if self._opened is not None and self._opened[1].is_elsewhere:
            self._stack.pop_all()
            self._opened = None
