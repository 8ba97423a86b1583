"""The way from the methods of a store to the functions that do the work: on a connection, in a thread.

A store says how by the methods of `Connections`; its other methods are made of functions by `writes`, `reads` and the like.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from everfold.adapters.sql.database import Database
from everfold.adapters.sql.places import Places
from everfold.ports.writing import watch_writes

P = ParamSpec("P")
T = TypeVar("T")
Work: TypeAlias = Callable[Concatenate[Database, P], T]
PlacedWork: TypeAlias = Callable[Concatenate[Database, Places, P], T]


class Connections(ABC):
    """A database that is open for writing and for reading."""

    @abstractmethod
    async def _write(self, work: Work[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """What a function gives that writes, in one transaction."""

    @abstractmethod
    async def _write_placed(self, work: PlacedWork[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same, of a function that looks sessions up among those that the connection has seen."""

    async def _write_lightly(self, work: Work[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same as `_write` for what a loss of power may take back: every process sees it, and no disk is waited for."""
        return await self._write(work, *arguments, **options)

    async def _note(self, work: Work[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same as `_write` for what is only noted beside the work; see `everfold.ports.writing`."""
        with watch_writes():  # of its own
            return await self._write(work, *arguments, **options)

    @abstractmethod
    async def _read(self, work: Work[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """What a function gives that reads by one query."""

    @abstractmethod
    async def _read_placed(self, work: PlacedWork[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same, of a function that looks sessions up among those that the connection has seen."""

    @abstractmethod
    async def _read_at_once(self, work: Work[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """The same for what takes several queries: all of them see the database at one moment."""

    @abstractmethod
    async def _empty_log(self) -> None:
        """After an erase: see that no file keeps the erased words, as far as that can be done now."""


Method: TypeAlias = Callable[Concatenate[Connections, P], Coroutine[Any, Any, T]]


def writes(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that writes by a function, in one transaction; see the port for what it promises."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._write(work, *arguments, **options)

    return write


def writes_lightly(work: Work[P, T]) -> Method[P, T]:
    """The same as `writes`, for what a loss of power may take back."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._write_lightly(work, *arguments, **options)

    return write


def notes(work: Work[P, T]) -> Method[P, T]:
    """The same as `writes`, for what is only noted beside the work; see `everfold.ports.writing`."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._note(work, *arguments, **options)

    return write


def reads(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that reads by a function of one query."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read(work, *arguments, **options)

    return read


def writes_placed(work: PlacedWork[P, T]) -> Method[P, T]:
    """The same as `writes`, by a function that looks sessions up among those that the connection has seen."""

    async def write(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._write_placed(work, *arguments, **options)

    return write


def reads_placed(work: PlacedWork[P, T]) -> Method[P, T]:
    """The same as `reads`, by a function that looks sessions up among those that the connection has seen."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read_placed(work, *arguments, **options)

    return read


def reads_at_once(work: Work[P, T]) -> Method[P, T]:
    """The method of a store that reads by a function of several queries, which see the database at one moment."""

    async def read(self: Connections, /, *arguments: P.args, **options: P.kwargs) -> T:
        return await self._read_at_once(work, *arguments, **options)

    return read
