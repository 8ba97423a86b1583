"""Queueing: the writers of one user's memory take turns, and a write that lost to another process is decided again.

Memory is written with the version that a decision was made over, so of two writers at once one has decided for nothing. In
one process they wait for each other, first come, first served. Writers of other processes cannot be waited for: a write
that lost to one of them is decided again, after a pause that grows and differs from writer to writer, until a deadline.

A queue is there as long as a writer is in it. Writers of one store on different event loops, and those that reach the same
file through two stores, are to each other as those of other processes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from everfold.core.primitives.ids import UserId
from everfold.services.telling.tries import PATIENCE, Patience, Tries

T = TypeVar("T")


@dataclass(slots=True)
class _Queue:
    """The writers of one user over one store on one loop."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    writers_count: int = 0


_queues: Final[dict[tuple[int, int, UserId], _Queue]] = {}
"""By the identity of the store and of the loop; a writer in a queue keeps both alive."""


async def write_in_turn(
    store: object, user_id: UserId, attempt: Callable[[], Awaitable[T | None]], *, patience: Patience = PATIENCE
) -> T:
    """What an attempt at changing a user's memory gives; it is made again as long as it gives None for a lost race.

    An attempt reads, decides and writes. It must not write to the same user's memory by another call of this function.

    Raises:
        ConflictError: others were first until the deadline; the last attempt wrote nothing.
    """
    tries = _begin_tries(user_id, patience)
    async with take_turn(store, user_id, patience):
        while True:
            await tries.begin()
            if (done := await attempt()) is not None:
                return done


@asynccontextmanager
async def take_turn(store: object, user_id: UserId, patience: Patience = PATIENCE) -> AsyncIterator[None]:
    """Within it no other writer of this store and loop changes the user's memory.

    Raises:
        ConflictError: the writers before took too long.
    """
    place = (id(store), id(asyncio.get_running_loop()), user_id)
    queue = _queues.setdefault(place, _Queue())
    queue.writers_count += 1
    try:
        await _acquire(queue.lock, user_id, patience)
        try:
            yield
        finally:
            queue.lock.release()
    finally:
        queue.writers_count -= 1
        if not queue.writers_count:
            del _queues[place]


async def _acquire(lock: asyncio.Lock, user_id: UserId, patience: Patience) -> None:
    try:
        async with asyncio.timeout(patience.deadline_secs):
            await lock.acquire()
    except TimeoutError as error:
        raise _begin_tries(user_id, patience).give_up() from error


def _begin_tries(user_id: UserId, patience: Patience) -> Tries:
    return Tries(f"what is stored of user {user_id}", patience=patience, user=user_id)
