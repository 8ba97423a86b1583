"""Dreams, wipes, edits, turns and compactions at once: nothing is lost, doubled, or comes back."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest
from tests.support.sizes import examples

import everfold
from everfold import Everfold, Memory
from everfold.config import Overrides
from everfold.errors import ConflictError, NotFoundError
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
SETTINGS: Overrides = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": False},
    "sessions": {"gap_secs": 0},
}
ENOUGH_ROUNDS = 20
"""So many turns pass the limit of a session of this test."""
SUBJECTS = ("room", "badge", "locker", "berth", "gate", "desk")
EVERY = ("active", "superseded", "expired", "quarantined", "erased")


@asynccontextmanager
async def opened(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine with structured memory, whose work goes on beside the turns."""
    async with everfold.open(url, settings=SETTINGS, clock=clock, ids=CountingIds()) as engine:
        yield engine


async def talk_on(engine: Everfold, clock: FakeClock, name: str, *, rounds: int, agent: str) -> None:
    """Turns that say things, each with its window; the session is small, so that it compacts meanwhile."""
    session = await engine.session(user="ann", agent=agent, limit=4000)
    for number in range(rounds):
        clock.advance(timedelta(minutes=1))
        subject = SUBJECTS[number % len(SUBJECTS)]
        await session.append(user(f"My {subject} number is {name}{number}. " + "And the sea is calm today. " * 40))
        await session.window()
        await session.append(assistant("I see."))
        await asyncio.sleep(0)
    assert rounds < ENOUGH_ROUNDS or await session.inspect.compactions()


async def edit_on(memory: Memory, rng: random.Random, *, rounds: int) -> dict[str, str]:
    """Edits of whatever there is; gives, for each item, what the last edit that succeeded made it say."""
    said: dict[str, str] = {}
    for number in range(rounds):
        items = await memory.items()
        if items:
            item = rng.choice(items)
            try:
                edited = await memory.edit(item.id, f"Ann says {number}.", expected_revision=item.revision)
                said[item.id] = edited.statement
            except (ConflictError, NotFoundError):
                said.pop(item.id, None)
        await asyncio.sleep(0)
    return said


async def dream_on(memory: Memory, *, rounds: int) -> None:
    """Dreams, one after the other; one that others overtake each time writes nothing, and says so."""
    for _ in range(rounds):
        with suppress(ConflictError):
            await memory.dream()
        await asyncio.sleep(0)


async def check(memory: Memory) -> None:
    """Each active statement stands once, and every topic draws on what there is."""
    items = await memory.items(limit=1000)
    assert [one for one, count in Counter(item.identity for item in items).items() if count > 1] == []
    known = {item.id for item in await memory.items(statuses=EVERY, limit=1000)}  # type: ignore[arg-type]
    for topic in await memory.topics():
        assert set(topic.sources) <= known
    for item in items:
        revisions = await memory.item(item.id)
        assert [one.revision for one in revisions] == list(range(revisions[0].revision, revisions[-1].revision + 1))


@pytest.mark.parametrize("seed", range(examples(3)))
async def test_nothing_is_lost_or_doubled(url: str, seed: int) -> None:
    """Two agents, edits and dreams at once: an edit that succeeded stands until something replaces it."""
    clock, rng = FakeClock(), random.Random(seed)
    async with opened(url, clock) as engine:
        await engine.add_user("ann")
        memory, desk = await engine.memory(user="ann"), await engine.memory(user="ann", agent="desk")
        said, *_ = await asyncio.gather(
            edit_on(memory, rng, rounds=25),
            talk_on(engine, clock, "a", rounds=25, agent="desk"),
            talk_on(engine, clock, "b", rounds=25, agent="shop"),
            dream_on(desk, rounds=12),
        )
        await check(memory)
        for item_id, statement in said.items():
            revisions = await memory.item(item_id)
            assert statement in {one.statement for one in revisions}


@pytest.mark.parametrize("seed", range(examples(3)))
async def test_a_wipe_lets_nothing_back(url: str, seed: int) -> None:
    """What was said before a wipe is in no item, topic or window after it, whatever was on its way meanwhile."""
    clock, rng = FakeClock(), random.Random(seed)
    async with opened(url, clock) as engine:
        await engine.add_user("ann")
        memory, desk = await engine.memory(user="ann"), await engine.memory(user="ann", agent="desk")
        before = asyncio.gather(
            edit_on(memory, rng, rounds=20),
            talk_on(engine, clock, "old", rounds=20, agent="desk"),
            dream_on(desk, rounds=10),
        )
        for _ in range(rng.randrange(5, 40)):
            await asyncio.sleep(0.001)
        wiped_at = clock.now()
        await engine.wipe("ann")
        await before
        for item in await memory.items(statuses=EVERY, limit=1000):  # type: ignore[arg-type]
            assert all(one.said_at >= wiped_at for one in item.evidence)
        await engine.wipe("ann")
        await talk_on(engine, clock, "new", rounds=3, agent="desk")
        await desk.dream()
        told = [it.statement for it in await memory.items(limit=1000)] + [it.content for it in await memory.topics()]
        assert told != []
        assert not any("old" in text for text in told)
        await check(memory)
