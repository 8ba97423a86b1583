"""Leases: one has each, and one that was left runs out. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from typing import get_args

import anyio
import pytest

from everfold.ports.leases import LeasedWork, LeaseName
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, LEASE_SECS, RUN_OUT_SECS

NAMES = [
    LeaseName(user_id=user_id, work=work, about=agent_id)
    for user_id, agent_id in ((ADA, GUIDE), (ADA, CLERK), (BEN, GUIDE))
    for work in get_args(LeasedWork)
]


class LeaseContract:
    """What every `LeaseStore` holds to."""

    async def test_one_has_each_lease(self, store: Store) -> None:
        """A lease is had by one until it is given back, and each user, work and subject has its own."""
        for name in NAMES:
            assert await store.claim_lease(name, holder="one", secs=LEASE_SECS)
        for name in NAMES:
            assert not await store.claim_lease(name, holder="two", secs=LEASE_SECS)
            await store.release_lease(name, holder="two")
            assert not await store.claim_lease(name, holder="two", secs=LEASE_SECS)
        await store.release_lease(NAMES[0], holder="one")
        assert [await store.claim_lease(name, holder="two", secs=LEASE_SECS) for name in NAMES[:2]] == [True, False]

    async def test_a_stale_lease_is_taken_over(self, store: Store) -> None:
        """A lease that has run out is free; who has lost it can neither renew it nor give it back."""
        name = NAMES[0]
        assert not await store.renew_lease(name, holder="one", secs=LEASE_SECS)
        assert await store.claim_lease(name, holder="one", secs=RUN_OUT_SECS)
        assert await store.claim_lease(name, holder="two", secs=LEASE_SECS)
        assert not await store.renew_lease(name, holder="one", secs=LEASE_SECS)
        await store.release_lease(name, holder="one")
        assert not await store.claim_lease(name, holder="one", secs=LEASE_SECS)
        assert await store.renew_lease(name, holder="two", secs=LEASE_SECS)

    async def test_the_holder_of_a_lease_is_found(self, store: Store) -> None:
        """A lease that is free or has run out has no holder; looking takes nothing from one that may still be renewed."""
        name = NAMES[0]
        assert await store.find_holder(name) is None
        assert await store.claim_lease(name, holder="one", secs=LEASE_SECS)
        assert [await store.find_holder(one) for one in NAMES[:2]] == ["one", None]
        assert await store.renew_lease(name, holder="one", secs=RUN_OUT_SECS)
        assert await store.find_holder(name) is None
        assert await store.renew_lease(name, holder="one", secs=LEASE_SECS)
        assert await store.find_holder(name) == "one"
        await store.release_lease(name, holder="one")
        assert await store.find_holder(name) is None

    @pytest.mark.parametrize(("first", "renewed", "is_free"), [(-60.0, 180.0, False), (180.0, -60.0, True)])
    async def test_a_renewed_lease_lasts_from_then_on(
        self, store: Store, first: float, renewed: float, *, is_free: bool
    ) -> None:
        """A lease that was renewed holds for the duration that was asked for last."""
        assert await store.claim_lease(NAMES[0], holder="one", secs=first)
        assert await store.renew_lease(NAMES[0], holder="one", secs=renewed)
        assert await store.claim_lease(NAMES[0], holder="two", secs=LEASE_SECS) is is_free

    async def test_of_many_holders_at_once_one_wins(self, store: Store) -> None:
        """However many want a lease at the same moment, one has it, also where another one's has run out."""
        for _ in range(2):
            won: list[str] = []

            async def claim(holder: str, won: list[str]) -> None:
                if await store.claim_lease(NAMES[0], holder=holder, secs=LEASE_SECS):
                    won.append(holder)

            async with anyio.create_task_group() as group:
                for number in range(6):
                    group.start_soon(claim, f"holder {number}", won)
            assert len(won) == 1
            assert await store.renew_lease(NAMES[0], holder=won[0], secs=RUN_OUT_SECS)
