"""Hold a lease: have some work of a user for oneself, in all processes, while it is on its way.

If a process dies, its lease is taken over when it expires. A holder that loses its lease goes on: a lease saves doing the
same work twice, and guards nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio

from everfold.errors import StoreError
from everfold.ports.leases import LeaseName, LeaseStore
from everfold.ports.writing import watch_writes


@asynccontextmanager
async def hold_lease(store: LeaseStore, name: LeaseName, *, holder: str, secs: float) -> AsyncIterator[bool]:
    """Whether the work may begin; its lease is renewed until the end, and given back then.

    Args:
        store: Keeps the lease, and takes the time.
        name: What the lease is for.
        holder: An id that no other holder has.
        secs: How long the lease outlives a process that dies.

    Raises:
        StoreError: the lease could not be asked for.
    """
    with watch_writes():  # of its own: a lease is nothing that a repeat of the work would write again
        is_held = await store.claim_lease(name, holder=holder, secs=secs)
        renewing = asyncio.create_task(_renew(store, name, holder, secs)) if is_held else None
    if renewing is None:
        yield False
        return
    try:
        yield True
    finally:
        renewing.cancel()
        with watch_writes(), anyio.CancelScope(shield=True), suppress(StoreError):  # a lease that stays runs out
            await asyncio.wait([renewing])
            await store.release_lease(name, holder=holder)


async def _renew(store: LeaseStore, name: LeaseName, holder: str, secs: float) -> None:
    """Have the lease for longer, until it is lost."""
    is_held = True
    while is_held:
        await asyncio.sleep(secs / 3)
        with suppress(StoreError):  # the lease is longer than one wait: it is asked for again
            is_held = await store.renew_lease(name, holder=holder, secs=secs)
