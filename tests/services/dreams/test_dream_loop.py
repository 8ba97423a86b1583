"""The dream loop: who has been idle is found in the store and dreamed for once, and no other user is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.dreams import day, note, remember
from tests.support.waiting import SECS

from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.topics import Dream
from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import StoreUnavailableError
from everfold.ports.jobs import DreamPair, Job
from everfold.services.dreams.dream import Dreamer
from everfold.services.dreams.dream_loop import MOST_AT_ONCE, DreamLoop
from everfold.testing.kit.builders import ADA, GUIDE, append_wires, incoming, open_session, session_record, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
BOB, OTHER = UserId("usr_bob"), AgentId("agt_other")
PAIRS = [(ADA, GUIDE), (ADA, OTHER), (BOB, GUIDE)]
STRUCTURED = MemoryPolicy(system="structured")


class Gate:
    """Holds dreams back until it is opened, and counts those that wait at it."""

    def __init__(self) -> None:
        self.opening = asyncio.Event()
        self.running_count = 0
        self.most_count = 0

    def make(self) -> type[Dreamer]:
        """A dreamer that waits at this gate."""
        gate = self

        class _SlowDreamer(Dreamer):
            async def dream(self, user_id: UserId, agent_id: AgentId, **_: object) -> Dream | None:
                gate.running_count += 1
                gate.most_count = max(gate.most_count, gate.running_count)
                await gate.opening.wait()
                gate.running_count -= 1
                return await super().dream(user_id, agent_id)

        return _SlowDreamer


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """Three pairs with something to dream of, said at the start."""
    store = SqliteStore(IN_MEMORY)
    for number, (user_id, agent_id) in enumerate(PAIRS, start=1):
        record = session_record(f"ses_{number}", user_id=user_id, agent_id=agent_id)
        await open_session(store, record)
        item = note(f"itm_{number}", "The berth is free.", user_id=user_id, agent_id=agent_id, session_id=record.id)
        await remember(store, item, session_id=record.id, said_at=day(0) + timedelta(minutes=number))
    yield store
    await store.close()


def make_loop(
    store: SqliteStore, clock: FakeClock, *, gap_secs: float = 300.0, kind: type[Dreamer] = Dreamer
) -> DreamLoop:
    """A loop over a dreamer without a model."""
    dreamer = kind(store=store, clock=clock, ids=CountingIds(), policy_of=lambda _agent: STRUCTURED)
    dispatcher = InProcessDispatcher()
    loop = DreamLoop(
        store=store, clock=clock, dreamer=dreamer, dispatcher=dispatcher, gap_secs=gap_secs, poll_secs=0.01
    )

    async def do(job: Job) -> None:
        assert isinstance(job, DreamPair)
        await loop.dream(job.user_id, job.agent_id)

    dispatcher.serve(do)
    return loop


async def test_who_is_idle_is_dreamed_for(store: SqliteStore) -> None:
    """Each pair is dreamed for once it has been idle for the gap, and not before; those active last go first."""
    clock = FakeClock(day(0) + timedelta(minutes=2, seconds=301))
    loop = make_loop(store, clock)
    assert await loop.poll() == [PAIRS[1], PAIRS[0]]
    await loop.dispatcher.join()
    assert await store.list_topics(BOB, GUIDE) == []
    clock.advance(timedelta(minutes=1))
    assert await loop.poll() == [PAIRS[2]]
    await loop.dispatcher.join()
    assert len(await store.list_topics(BOB, GUIDE)) == 1


async def test_idle_is_measured_from_the_last_word(store: SqliteStore) -> None:
    """What was said within the gap keeps a pair awake; a tick does not."""
    late = day(0) + timedelta(hours=1)
    await append_wires(store, session_record("ses_1").id, incoming(user("One more thing."), said_at=late))
    tick = incoming(user("06:00"), origin="system", source="tick", said_at=late)
    await append_wires(store, session_record("ses_2").id, tick)
    loop = make_loop(store, FakeClock(late + timedelta(seconds=60)))
    assert await loop.poll() == [PAIRS[2], PAIRS[1]]
    await loop.dispatcher.join()
    loop = make_loop(store, FakeClock(late + timedelta(seconds=301)))
    assert await loop.poll() == [PAIRS[0]]


async def test_a_dream_is_had_once(store: SqliteStore) -> None:
    """After its dream a pair is not found again until something new was found for it."""
    clock = FakeClock(day(1))
    loop = make_loop(store, clock)
    assert len(await loop.poll()) == 3
    await loop.dispatcher.join()
    assert await loop.poll() == []
    await remember(store, note("itm_9", "The berth is let.", seq=2), said_at=day(1))
    clock.set(day(2))
    assert await loop.poll() == [PAIRS[0]]


async def test_a_restart_forgets_nothing(store: SqliteStore) -> None:
    """A loop that is new finds what the one before it left undone."""
    first = make_loop(store, FakeClock(day(1)))
    assert len(await first.poll()) == 3
    await first.dispatcher.close(drain_secs=0)
    fresh = make_loop(store, FakeClock(day(1)))
    assert len(await fresh.poll()) == 3
    await fresh.dispatcher.join()
    assert await fresh.poll() == []


async def test_zero_switches_it_off(store: SqliteStore) -> None:
    """With a gap of 0 not one query is made."""
    await store.close()
    assert await make_loop(store, FakeClock(day(1)), gap_secs=0).poll() == []


async def test_a_pair_whose_dream_is_on_its_way_is_skipped(store: SqliteStore) -> None:
    """A second look takes up no pair that is being dreamed for or waits for its place."""
    gate = Gate()
    loop = make_loop(store, FakeClock(day(1)), kind=gate.make())
    assert len(await loop.poll()) == 3
    await asyncio.sleep(0)
    assert await loop.poll() == []
    gate.opening.set()
    await loop.dispatcher.join()
    assert len(await store.list_dreams(ADA, None, limit_count=9)) == 2


async def test_only_a_few_dreams_run_at_once(store: SqliteStore) -> None:
    """However many pairs are idle, only so many are dreamed for at the same time, and all in the end."""
    for number in range(4, 12):
        agent_id = AgentId(f"agt_{number}")
        record = session_record(f"ses_{number}", agent_id=agent_id)
        await open_session(store, record)
        await remember(store, note(f"itm_{number}", "A berth.", agent_id=agent_id), session_id=record.id)
    gate = Gate()
    loop = make_loop(store, FakeClock(day(1)), kind=gate.make())
    assert len(await loop.poll()) == 11
    for _ in range(20):
        await asyncio.sleep(0)
    gate.opening.set()
    await loop.dispatcher.join()
    assert gate.most_count == MOST_AT_ONCE
    assert await loop.poll() == []


async def test_what_waits_for_approval_is_not_found(store: SqliteStore) -> None:
    """A pair with a proposed dream is left alone until a person has decided it."""
    loop = make_loop(store, FakeClock(day(1)))
    review = MemoryPolicy(system="structured", review=True)
    dreamer = replace(loop.dreamer, policy_of=lambda _agent: review)
    proposed = await dreamer.dream(BOB, GUIDE)
    assert proposed is not None
    assert await loop.poll() == [PAIRS[1], PAIRS[0]]
    await loop.dispatcher.join()
    await dreamer.reject(proposed.id)
    assert await loop.poll() == []


async def test_a_stale_proposal_keeps_no_idle_pair_from_its_dream(store: SqliteStore) -> None:
    """Where another agent's dream takes a proposed topic's name, the pair gets its dream, and the proposal has failed."""
    loop = make_loop(store, FakeClock(day(1)))
    review = MemoryPolicy(system="structured", review=True)
    proposed = await replace(loop.dreamer, policy_of=lambda _agent: review).dream(ADA, GUIDE)
    assert proposed is not None
    assert await loop.poll() == [PAIRS[2], PAIRS[1]]
    await loop.dispatcher.join()
    assert await loop.poll() == [PAIRS[0]]
    await loop.dispatcher.join()
    newest, stale = await store.list_dreams(ADA, GUIDE, limit_count=9)
    assert newest.state == "applied"
    assert set(newest.items) >= set(proposed.items)
    assert (stale.id, stale.state, stale.topics) == (proposed.id, "failed", ())


async def test_a_look_gives_at_most_so_many(store: SqliteStore) -> None:
    """The store gives the pairs that were active last, as many as asked for."""
    assert await store.list_dreamable(day(1), 2) == [PAIRS[2], PAIRS[1]]


async def test_the_loop_goes_on_and_stops_cleanly(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not serve is asked again; cancelled, the loop ends and nothing is left running."""
    loop = make_loop(store, FakeClock(day(1)))
    whole, has_looked_again = store.list_dreamable, asyncio.Event()
    calls: list[object] = []

    async def fail_once(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            raise StoreUnavailableError("it is locked; try again")
        asyncio.get_running_loop().call_later(0.02, has_looked_again.set)
        return await whole(*arguments)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(store, "list_dreamable", fail_once)
    task = asyncio.ensure_future(loop.poll_forever())
    async with asyncio.timeout(SECS):
        await has_looked_again.wait()
    await loop.dispatcher.join()
    assert len(await store.list_topics(BOB, GUIDE)) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await loop.dispatcher.close(drain_secs=1) == 0
