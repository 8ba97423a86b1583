"""The sync face: the async one through a portal, call by call.

`everfold.open_sync(...)` gives a `Blocking` around the engine. Every method of the engine and of what it gives is there
under the same name with the same arguments; a method that is async there blocks here.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import iscoroutine
from typing import Any, Generic, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from everfold.session import Session

T = TypeVar("T")


class Blocking(Generic[T]):
    """An object of the async face whose methods block. `wrapped` is the object itself."""

    def __init__(self, wrapped: T, portal: BlockingPortal) -> None:
        self.wrapped = wrapped
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.wrapped, name)
        return self._blocking(value) if callable(value) else value

    def _blocking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **options: Any) -> Any:
            async def run() -> Any:
                given = method(*arguments, **options)
                return await given if iscoroutine(given) else given

            given = self._portal.call(run)
            return Blocking(given, self._portal) if isinstance(given, Session) else given

        return call


@contextmanager
def open_sync(url: str | None = None, **options: Any) -> "Iterator[Blocking[Any]]":
    """Open a store and give the engine's sync face. Takes the arguments of `everfold.open`."""
    from everfold.bootstrap import open as open_engine

    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(open_engine(url, **options)) as engine,
    ):
        yield Blocking(engine, portal)
