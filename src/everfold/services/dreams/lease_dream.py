"""Lease a dream: have a user and an agent for oneself while their dream is on its way.

What a dream writes without its lease is refused where the other was first, so a lease saves the call of a model.
"""

from contextlib import AbstractAsyncContextManager

from everfold.core.dreams.scenes import Scene
from everfold.ports.memory import DreamLeaseStore
from everfold.ports.system import Clock
from everfold.services.sessions.hold_lease import Lease, hold_lease


def lease_dream(
    store: DreamLeaseStore, clock: Clock, scene: Scene, *, lease_secs: float
) -> AbstractAsyncContextManager[bool]:
    """Whether the dream of a scene may begin; see `hold_lease`."""
    pair, holder = (scene.user_id, scene.agent_id), scene.dream_id
    lease = Lease(
        claim=lambda now, until: store.claim_dream(*pair, holder=holder, now=now, lease_until=until),
        renew=lambda until: store.renew_dream(*pair, holder=holder, lease_until=until),
        release=lambda: store.release_dream(*pair, holder=holder),
    )
    return hold_lease(lease, clock, lease_secs=lease_secs)
