"""What an attempt decides from what it has read, while turns go on."""

import pytest
from tests.services.test_named_properties import BESIDE, LIMIT, hold_back, overflow

import everfold
from everfold.services.compaction.attempt import without_moot_digest
from everfold.services.sessions.live import load_session
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio


async def test_a_layout_from_before_the_commit_makes_no_digest_moot(url: str) -> None:
    """A compaction that a turn commits after a worker has read the layout still gets its model's digest."""
    async with everfold.open(url, settings=BESIDE, clock=FakeClock(), ids=CountingIds()) as engine:
        gate = hold_back(engine)
        session = await engine.session(limit=LIMIT)
        await session.append(talk(1, first=1))
        await overflow(session)
        read_before = await load_session(engine._store, session.record)
        await overflow(session)
        committed = (await session.inspect.compactions())[-1]
        assert committed.is_committed
        assert committed.plan.last_seq > read_before.layout.watermark
        assert without_moot_digest(read_before, committed) == committed
        gate.set()
