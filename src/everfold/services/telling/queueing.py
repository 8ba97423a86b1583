"""Queueing: the writers of one user's memory take turns, and a write that lost to another process is decided again.

Memory is written with the version that a decision was made over, so of two writers at once one has decided for nothing. In
one process they wait for each other, first come, first served. Writers of other processes cannot be waited for: a write
that lost to one of them is decided again, after a pause that grows and differs from writer to writer, until a deadline.

A queue is there as long as a writer is in it. Writers of one store on different event loops, and those that reach the same
file through two stores, are to each other as those of other processes.

Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: full jitter.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, TypeVar

import anyio

from everfold.core.primitives.ids import UserId
from everfold.errors import ConflictError

T = TypeVar("T")

DEADLINE_SECS: Final = 30.0
"""How long a write waits for its turn, and how long it is decided again. Source: own choice; half of what HTTP clients
wait for an answer."""
FIRST_PAUSE_SECS: Final = 0.002
"""At most so long is the first pause, about as long as a small change takes; each is twice as long as the one before."""
LONGEST_PAUSE_SECS: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a writer goes on, and what it waits with.

    Attributes:
        jitter: A number from 0 to 1, so that many writers do not come back at once.
        read_secs: A time in seconds that never goes back.
    """

    deadline_secs: float = DEADLINE_SECS
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random
    read_secs: Callable[[], float] = monotonic


PATIENCE: Final = Patience()


@dataclass(slots=True)
class _Queue:
    """The writers of one user over one store on one loop."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    writers_count: int = 0


_queues: Final[dict[tuple[int, int, UserId], _Queue]] = {}
"""By the identity of the store and of the loop; who is in a queue keeps both alive."""


async def write_in_turn(
    store: object, user_id: UserId, attempt: Callable[[], Awaitable[T | None]], *, patience: Patience = PATIENCE
) -> T:
    """What an attempt at changing a user's memory gives; it is made again as long as it gives None for a lost race.

    An attempt reads, decides and writes. It must not write to the same user's memory by another call of this function.

    Raises:
        ConflictError: others were first until the deadline; the last attempt wrote nothing.
    """
    ends_at = patience.read_secs() + patience.deadline_secs
    async with take_turn(store, user_id, patience):
        pause_secs = FIRST_PAUSE_SECS
        while (done := await attempt()) is None:
            if patience.read_secs() >= ends_at:
                raise _give_up(user_id, patience)
            await patience.sleep(pause_secs * patience.jitter())
            pause_secs = min(2 * pause_secs, LONGEST_PAUSE_SECS)
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
        raise _give_up(user_id, patience) from error


def _give_up(user_id: UserId, patience: Patience) -> ConflictError:
    return ConflictError(
        f"user {user_id}: others changed memory or log first for {patience.deadline_secs:g} s, so this was not done; "
        "try again",
        user=user_id,
    )
