"""The sweep: what no process works on any more is found, once a session, and what a store refuses is asked again."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.sizes import STORES

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.compaction.record import Compaction
from everfold.core.observation.events import CHANGES, Event, Recovered
from everfold.core.primitives.ids import SessionId, UserId
from everfold.errors import StoreUnavailableError
from everfold.ports.stores import Store
from everfold.services.compaction.recover import Recovery
from everfold.services.telling.stream import Stream
from everfold.testing.kit.builders import append_wires, open_session, plan_next_compaction, session_record, talk
from everfold.testing.kit.fakes import STARTED_AT, FakeClock

pytestmark = pytest.mark.anyio


class Woken:
    """Notes which sessions were woken."""

    def __init__(self) -> None:
        self.sessions: list[SessionId] = []
        self.has_any = asyncio.Event()

    def __call__(self, session_id: SessionId) -> None:
        """Note it."""
        self.sessions.append(session_id)
        self.has_any.set()


class Told:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.compactions: list[Event] = []

    def hears(self, kind: type[Event]) -> bool:
        """Everything but changes."""
        return not issubclass(kind, CHANGES)

    def take(self, compaction: Event) -> None:
        """Keep it."""
        self.compactions.append(compaction)


@dataclass(kw_only=True)
class Rig:
    """A recovery over a store, with all that it touches."""

    store: Store
    clock: FakeClock = field(default_factory=FakeClock)
    woken: Woken = field(default_factory=Woken)
    told: Told = field(default_factory=Told)

    @property
    def recovery(self) -> Recovery:
        """Looks back for an hour, and looks all the time."""
        return Recovery(
            store=self.store,
            clock=self.clock,
            wake=self.woken,
            stream=Stream((self.told,)),
            lookback_secs=3600.0,
            every_secs=0.001,
        )

    async def leave(self, name: str, begun_at: datetime, *, count: int = 1) -> list[Compaction]:
        """A session that has so many events which no process works on."""
        record = await open_session(self.store, session_record(f"ses_{name}", user_id=UserId(name)), *talk(8))
        compactions: list[Compaction] = []
        for number in range(count):
            await append_wires(self.store, record.id, *talk(1, first=100 + number))
            planned = await plan_next_compaction(self.store, record.id, f"evt_{name}_{number}")
            compaction = replace(planned.compaction, ordinal=number + 1, begun_at=begun_at)
            await self.store.begin_compaction(compaction, planned.begun, expected_revision=planned.before.revision)
            compactions.append(compaction)
        return compactions


@pytest.fixture(params=STORES)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    """A recovery over each store."""
    is_memory = request.param == "memory"
    clock = FakeClock()
    store: Store = await SqliteStore.open(IN_MEMORY if is_memory else str(tmp_path / "everfold.db"), clock)
    yield Rig(store=store, clock=clock)
    await store.close()


async def test_nothing_to_find(rig: Rig) -> None:
    """Where nothing waits, no session is woken and nothing told."""
    assert await rig.recovery.recover() == []
    assert (rig.woken.sessions, rig.told.compactions) == ([], [])


async def test_each_session_is_woken_once(rig: Rig) -> None:
    """However many events of it wait, a session is woken once, the one with the oldest event first."""
    await rig.leave("late", STARTED_AT + timedelta(minutes=2), count=3)
    await rig.leave("early", STARTED_AT + timedelta(minutes=1))
    assert await rig.recovery.recover() == ["ses_early", "ses_late"]
    assert rig.woken.sessions == ["ses_early", "ses_late"]
    assert rig.told.compactions == [Recovered(found_count=4, sessions_count=2)]


async def test_what_is_too_old_is_left_to_a_person(rig: Rig) -> None:
    """An event that was begun before the look-back is not found any more."""
    await rig.leave("one", STARTED_AT)
    rig.clock.advance(timedelta(seconds=3599))
    assert await rig.recovery.recover() == ["ses_one"]
    rig.clock.advance(timedelta(seconds=1))
    assert await rig.recovery.recover() == []


async def test_no_look_back_finds_nothing(rig: Rig) -> None:
    """With a look-back of 0 everything is left to a person."""
    await rig.leave("one", STARTED_AT)
    assert await replace(rig.recovery, lookback_secs=0.0).recover() == []
    assert await rig.recovery.recover() == ["ses_one"]


async def test_a_living_workers_event_is_left_alone(rig: Rig) -> None:
    """While its lease holds an event is not found; once it has run out, it is."""
    (compaction,) = await rig.leave("one", STARTED_AT)
    await rig.store.claim_compaction(compaction.id, secs=180)
    rig.clock.advance(timedelta(seconds=180))
    assert await rig.recovery.recover() == []
    rig.clock.advance(timedelta(microseconds=1))
    assert await rig.recovery.recover() == ["ses_one"]


async def test_it_sweeps_again_and_again(rig: Rig) -> None:
    """It looks at once and goes on looking, also after a store that did not serve; what comes later is found."""
    served = rig.store
    asked: list[None] = []

    class Refusing(SqliteStore):
        async def list_waiting(self, *, begun_after: datetime, limit_count: int) -> list[Compaction]:
            asked.append(None)
            if len(asked) <= 2:
                raise StoreUnavailableError("the disk is away; try again")
            return await served.list_waiting(begun_after=begun_after, limit_count=limit_count)

    rig.store = Refusing(IN_MEMORY)
    sweeping = asyncio.create_task(rig.recovery.recover_forever())
    rig.store = served
    await rig.leave("one", STARTED_AT)
    await rig.woken.has_any.wait()
    assert len(asked) > 2
    sweeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sweeping
