"""Lease a dream: have a user and an agent for oneself while their dream is on its way.

A process that dies leaves its lease behind; it is taken over when it has run out. Who has lost one goes on all the same:
what it writes is refused where the other was first, so a lease saves the call of a model and guards nothing.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import anyio

from everfold.core.dreams.scenes import Scene
from everfold.errors import StoreError
from everfold.ports.memory import DreamLeaseStore
from everfold.ports.system import Clock


@asynccontextmanager
async def lease_dream(store: DreamLeaseStore, clock: Clock, scene: Scene, *, lease_secs: float) -> AsyncIterator[bool]:
    """Whether the dream of a scene may begin; its lease is renewed until the end, and given back then.

    Raises:
        StoreError: the lease could not be asked for.
    """
    now, lasting = clock.now(), timedelta(seconds=lease_secs)
    if not await store.claim_dream(
        scene.user_id, scene.agent_id, holder=scene.dream_id, now=now, lease_until=now + lasting
    ):
        yield False
        return
    renewing = asyncio.create_task(_renew(store, clock, scene, lasting))
    try:
        yield True
    finally:
        renewing.cancel()
        with anyio.CancelScope(shield=True), suppress(StoreError):  # a lease that stays runs out
            await asyncio.wait([renewing])
            await store.release_dream(scene.user_id, scene.agent_id, holder=scene.dream_id)


async def _renew(store: DreamLeaseStore, clock: Clock, scene: Scene, lasting: timedelta) -> None:
    """Have the lease for longer, until it is lost."""
    is_held = True
    while is_held:
        await asyncio.sleep(lasting.total_seconds() / 3)
        with suppress(StoreError):  # the lease is longer than one wait: it is asked for again
            is_held = await store.renew_dream(
                scene.user_id, scene.agent_id, holder=scene.dream_id, lease_until=clock.now() + lasting
            )
