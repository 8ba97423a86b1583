"""Hold a lease: have some work of a user and an agent for oneself, in all processes, while it is on its way.

If a process dies, its lease is taken over when it expires. A holder that loses its lease goes on: a lease saves doing the
same work twice, and guards nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import anyio

from everfold.errors import StoreError
from everfold.ports.system import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease of the store, bound to whose it is and who takes it.

    Attributes:
        claim: Takes it until the second moment, if it is free at the first; whether it was taken.
        renew: Has it until a later moment; False where it is lost.
        release: Gives it back.
    """

    claim: Callable[[datetime, datetime], Awaitable[bool]]
    renew: Callable[[datetime], Awaitable[bool]]
    release: Callable[[], Awaitable[None]]


@asynccontextmanager
async def hold_lease(lease: Lease, clock: Clock, *, lease_secs: float) -> AsyncIterator[bool]:
    """Whether the work may begin; its lease is renewed until the end, and given back then.

    Raises:
        StoreError: the lease could not be asked for.
    """
    now, lasting = clock.now(), timedelta(seconds=lease_secs)
    if not await lease.claim(now, now + lasting):
        yield False
        return
    renewing = asyncio.create_task(_renew(lease, clock, lasting))
    try:
        yield True
    finally:
        renewing.cancel()
        with anyio.CancelScope(shield=True), suppress(StoreError):  # a lease that stays runs out
            await asyncio.wait([renewing])
            await lease.release()


async def _renew(lease: Lease, clock: Clock, lasting: timedelta) -> None:
    """Have the lease for longer, until it is lost."""
    is_held = True
    while is_held:
        await asyncio.sleep(lasting.total_seconds() / 3)
        with suppress(StoreError):  # the lease is longer than one wait: it is asked for again
            is_held = await lease.renew(clock.now() + lasting)
