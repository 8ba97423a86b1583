"""Leases of engines whose clocks differ: the server's clock decides."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import everfold
from everfold.adapters.postgres.store import PostgresStore
from everfold.core.primitives.ids import SessionId, UserId
from everfold.engine import Everfold
from everfold.errors import ConflictError
from everfold.ports.leases import LeaseName
from everfold.services.sessions.hold_lease import hold_lease
from everfold.testing.kit.builders import LEASE_SECS, RUN_OUT_SECS, open_session, plan_next_compaction, talk
from everfold.testing.kit.fakes import FakeClock

SKEWS = [timedelta(minutes=-7), timedelta(minutes=9)]
NAME = LeaseName(user_id=UserId("6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"), work="answer", about=SessionId("ses_1"))


def clock_of(skew: timedelta) -> FakeClock:
    """A clock that is wrong by so much."""
    return FakeClock(datetime.now(UTC) + skew, step=timedelta(milliseconds=1))


async def test_no_lease_is_taken_twice(database_url: str) -> None:
    """Of two engines whose clocks are a quarter of an hour apart one at a time has a lease, whichever asks first."""
    slow, fast = (everfold.open(database_url, clock=clock_of(skew)) for skew in SKEWS)
    async with slow as first, fast as second:
        holders: list[str] = []

        async def work(engine: Everfold, holder: str) -> bool:
            async with hold_lease(engine._store, NAME, holder=holder, secs=LEASE_SECS) as is_held:
                if is_held:
                    holders.append(holder)
                    assert len(holders) == 1
                    await asyncio.sleep(0.001)
                    holders.remove(holder)
                return is_held

        for number in range(20):
            done = await asyncio.gather(
                *(work(engine, f"{number} {at}") for at, engine in enumerate([first, second, second, first]))
            )
            assert any(done)


async def test_a_compaction_runs_once(database_url: str) -> None:
    """A worker whose clock is minutes ahead does not take what another has, nor does recovery list it; run out, it does."""
    slow, fast = (everfold.open(database_url, clock=clock_of(skew)) for skew in SKEWS)
    async with slow as first, fast as second:
        stores = [first._store, second._store]
        record = await open_session(stores[0], None, *talk(8))
        planned = await plan_next_compaction(stores[0], record.id, "evt_1")
        await stores[0].begin_compaction(planned.compaction, planned.begun, expected_revision=planned.before.revision)
        begun_after = planned.compaction.begun_at - timedelta(days=1)
        for owner in (0, 1):
            for _ in range(5):
                claimed = await stores[owner].claim_compaction(planned.compaction.id, secs=LEASE_SECS)
                for store in stores:
                    with suppress(ConflictError):
                        await store.claim_compaction(planned.compaction.id, secs=LEASE_SECS)
                        raise AssertionError("it was claimed twice")
                    assert await store.list_waiting(begun_after=begun_after, limit_count=9) == []
                await stores[owner].renew_compaction(planned.compaction.id, attempt=claimed.attempts, secs=RUN_OUT_SECS)
                for store in stores:
                    waiting = await store.list_waiting(begun_after=begun_after, limit_count=9)
                    assert [one.id for one in waiting] == [planned.compaction.id]


async def test_the_time_is_the_present_one(store: PostgresStore) -> None:
    """A transaction that has waited reads the time as it is then, not as it was when it began."""

    def read_twice(database: object) -> list[int]:
        connection = database.connection  # type: ignore[attr-defined]  # the store's own
        times: list[int] = []
        for pause in ("0", "0.01"):
            connection.execute(f"SELECT pg_sleep({pause})")
            times.append(connection.execute("SELECT now_micros()").fetchone()[0])
        return times

    before, after = await store._write(read_twice)
    assert after - before >= 10_000
