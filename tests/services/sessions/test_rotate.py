"""Rotation: where it is configured, a session that has compacted is followed by one that goes on where it stands."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

import everfold
from everfold.core.log.sessions import SessionRecord
from everfold.core.log.state import SessionState
from everfold.session import Session
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock
from everfold.testing.kit.hearing import Hearing

LIMIT = 4_000
ROTATES = {"sessions": {"rotate_on_compaction": True}}


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


async def _fill(session: Session) -> None:
    """Append until the next window shows a new compaction."""
    count = 0
    while not (await session.window(preview=True)).report.cache_breaks:
        await session.append(talk(2, first=2 * count))
        count += 1


@pytest.mark.parametrize("ends_by", ["new", "rewind", "resume"])
async def test_a_session_that_another_handle_has_ended_stays(url: str, ends_by: str) -> None:
    """A window is given at once, and its session goes on, where another handle made another session current."""
    async with everfold.open(url, settings=ROTATES, clock=FakeClock(), ids=CountingIds()) as engine:
        one = await engine.session(limit=LIMIT)
        first_id = one.id
        await one.append(talk(2))
        aside = await one.branch(2)
        other = await engine.session(limit=LIMIT)
        current = aside
        match ends_by:
            case "new":
                current = await other.new()
            case "rewind":
                current = await other.rewind(2)
            case _:
                await aside.integration.resume()
        await _fill(one)
        assert (await one.window()).report.compacted_through
        assert (one.id, one.record.is_current) == (first_id, False)
        assert (await engine.session(limit=LIMIT)).id == current.id


@pytest.mark.parametrize("engines_count", [1, 2])
async def test_of_two_handles_that_see_a_compaction_one_rotates(file_url: str, engines_count: int) -> None:
    """Both have their window, one session follows, and one switch is told, whether one engine or two serve the handles."""
    hearing = Hearing()
    async with AsyncExitStack() as opened:
        open_engine = partial(everfold.open, file_url, settings=ROTATES, hooks=[hearing])
        engines = [await opened.enter_async_context(open_engine()) for _ in range(engines_count)]
        handles = [await engine.session(limit=LIMIT) for engine in (engines[0], engines[-1])]
        first_id = handles[0].id
        await _fill(handles[0])
        windows = await asyncio.gather(*(handle.window() for handle in handles))
        assert all(window.report.compacted_through for window in windows)
        listed = await engines[0].list_sessions()
        assert [record.started_by for record in listed] == ["open", "compaction"]
        assert sorted(handle.id != first_id for handle in handles) == [False, True]
        assert hearing.hooks.count("on_session_end") == 1


async def test_a_session_that_ends_while_it_is_rotated_stays(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another program makes a session current between the look and the write, the window is given all the same."""
    async with (
        everfold.open(file_url, settings=ROTATES) as engine,
        everfold.open(file_url, settings=ROTATES) as other,
    ):
        session = await engine.session(limit=LIMIT)
        first_id = session.id
        await _fill(session)
        create = engine._store.create_session

        async def create_late(record: SessionRecord, state: SessionState) -> None:
            monkeypatch.setattr(engine._store, "create_session", create)
            await (await other.session(limit=LIMIT)).new()
            await create(record, state)

        monkeypatch.setattr(engine._store, "create_session", create_late)
        assert (await session.window()).report.compacted_through
        assert (session.id, session.record.is_current) == (first_id, False)
        assert [record.started_by for record in await engine.list_sessions()] == ["open", "new"]
