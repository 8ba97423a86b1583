"""Rotation: where it is configured, a session that has compacted is followed by one that goes on where it stands."""

import everfold
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock
from everfold.testing.kit.hearing import Hearing

LIMIT = 4_000


async def test_a_compaction_rotates_the_session(url: str) -> None:
    """The handle goes on in a session of its own, hooks hear end and switch in that order, and nothing is lost."""
    hearing = Hearing()
    settings = {"sessions": {"rotate_on_compaction": True}}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds(), hooks=[hearing]) as engine:
        session = await engine.session(limit=LIMIT)
        first_id, count = session.id, 0
        while session.id == first_id:
            await session.append(talk(2, first=2 * count))
            await session.window()
            count += 1
        assert session.record.parent_id == first_id
        assert session.record.started_by == "compaction"
        assert hearing.hooks[-2:] == ["on_session_end", "on_session_switch"]
        assert (await engine.session(limit=LIMIT)).id == session.id
        assert len(await session.messages(1, 4 * count)) == 4 * count
        await session.append(talk(1, topic="after"))
        assert (await session.window()).report.last_seq == 4 * count + 2
        assert (await session.verify()).is_sound


async def test_without_it_a_compaction_keeps_the_session(url: str) -> None:
    """Left alone, a session keeps its id however often it compacts."""
    async with everfold.open(url, clock=FakeClock(), ids=CountingIds()) as engine:
        session = await engine.session(limit=LIMIT)
        first_id = session.id
        for count in range(40):
            await session.append(talk(2, first=2 * count))
            await session.window()
        assert (await session.inspect.state()).compactions_count
        assert session.id == first_id
