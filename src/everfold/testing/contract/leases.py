"""Leases of context refreshes: one has each, and one that was left runs out. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, minute


class RefreshLeaseContract:
    """What every `RefreshLeaseStore` holds to."""

    async def test_one_refresh_has_the_lease(self, store: Store) -> None:
        """The lease of a user and an agent is had by one until it is given back, and each pair has its own."""
        end = minute(3)
        for user_id, agent_id in ((ADA, GUIDE), (ADA, CLERK), (BEN, GUIDE)):
            assert await store.claim_refresh(user_id, agent_id, holder="one", now=minute(0), lease_until=end)
            assert not await store.claim_refresh(user_id, agent_id, holder="two", now=minute(0), lease_until=end)
        await store.release_refresh(ADA, GUIDE, holder="two")
        assert not await store.claim_refresh(ADA, GUIDE, holder="two", now=minute(1), lease_until=end)
        await store.release_refresh(ADA, GUIDE, holder="one")
        assert await store.claim_refresh(ADA, GUIDE, holder="two", now=minute(1), lease_until=end)

    async def test_a_stale_lease_of_a_refresh_is_taken_over(self, store: Store) -> None:
        """A lease holds up to its end, renewed up to its new one; who has lost it can neither renew it nor give it back."""
        assert not await store.renew_refresh(ADA, GUIDE, holder="one", lease_until=minute(5))
        assert await store.claim_refresh(ADA, GUIDE, holder="one", now=minute(0), lease_until=minute(3))
        assert await store.renew_refresh(ADA, GUIDE, holder="one", lease_until=minute(5))
        assert not await store.claim_refresh(ADA, GUIDE, holder="two", now=minute(5), lease_until=minute(9))
        assert await store.claim_refresh(ADA, GUIDE, holder="two", now=minute(6), lease_until=minute(9))
        assert not await store.renew_refresh(ADA, GUIDE, holder="one", lease_until=minute(9))
        await store.release_refresh(ADA, GUIDE, holder="one")
        assert await store.renew_refresh(ADA, GUIDE, holder="two", lease_until=minute(9))
