"""Compaction never chases itself: not on turns one after the other, and not at a limit that cannot be met."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from bench.material.logs import chat_log
from bench.transcripts.reading import read_transcript
from tests.support.proofs import list_all_compactions
from tests.support.sizes import matrix, some, spread

import everfold
from everfold import Event, Everfold, Session
from everfold.adapters.models.scripted import ScriptedModel, Step
from everfold.core.observation.events import BreakerOpened
from everfold.testing.kit.builders import assistant, calls, result, user
from everfold.testing.kit.fakes import FakeClock

Wires = Sequence[Mapping[str, object]]
Opening = Callable[..., AbstractAsyncContextManager[Everfold]]
MODELS: dict[str, tuple[Step, ...] | None] = {
    "no model": None,
    "good": (Step(digest="echo"),),
    "failing": (Step(fault="unavailable"),),
    "poor": (Step(digest="poor"),),
}


def open_for(
    model: str, opening: Opening, clock: FakeClock, *, synchronous: bool
) -> AbstractAsyncContextManager[Everfold]:
    """An engine with such a model, or with none, and a trigger far below the hard limit."""
    settings: dict[str, Mapping[str, object]] = {
        "compaction": {"synchronous": synchronous, "retries": 0, "trigger_ratio": 0.8, "suffix_ratio": 0.1},
        "recovery": {"grace_secs": 0.0},
    }
    steps = MODELS[model]
    if steps is None:
        return everfold.open("memory://", settings=settings, clock=clock)
    return opening("memory://", ScriptedModel(steps), settings=settings, clock=clock)


async def rest(engine: Everfold, session: Session, clock: FakeClock) -> None:
    """A minute between two turns, in which the background ends what it does."""
    clock.advance(timedelta(seconds=60))
    await engine._background.dispatcher.join(session.id)
    await asyncio.sleep(0)  # every listener hears what was said


def talk_of(name: str, request: pytest.FixtureRequest) -> Wires:
    """A generated talk, or a real one."""
    if name == "own":
        return [entry.wire for entry in chat_log(7, messages_count=some(260, 130))]
    path: Path = request.getfixturevalue("real_data") / "locomo-dev.json"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the folder of real conversations")
    return [message.wire for message in next(iter(read_transcript(path).conversations)).messages][: some(400, 210)]


@pytest.mark.parametrize(("name", "model", "synchronous"), matrix(["own", "real"], [*MODELS], [True, False]))
async def test_no_turns_in_a_row(
    name: str,
    model: str,
    request: pytest.FixtureRequest,
    open_with_model: Opening,
    clock: FakeClock,
    *,
    synchronous: bool,
) -> None:
    """In a talk of small turns a compaction is followed by several turns without one, whatever the model does."""
    async with open_for(model, open_with_model, clock, synchronous=synchronous) as engine:
        session = await engine.session(limit=8_000)
        wires = talk_of(name, request)
        turns: list[int] = []
        seen: set[str] = set()
        for turn in range(0, len(wires), 2):
            await session.append(list(wires[turn : turn + 2]))
            await session.window()
            await rest(engine, session, clock)
            new = {
                compaction.id for compaction in await list_all_compactions(session) if compaction.revises is None
            } - seen
            seen |= new
            assert len(new) <= 1
            turns += [turn // 2] if new else []
        assert len(turns) > 3
        assert min(after - before for before, after in pairwise(turns)) >= 3


def words(count: int, word: str) -> str:
    """A text of so many different words."""
    return " ".join(f"{word}{number}" for number in range(count))


@pytest.mark.parametrize(("synchronous", "model"), spread([True, False], [*MODELS]))
async def test_a_limit_that_cannot_be_met(
    model: str, open_with_model: Opening, clock: FakeClock, *, synchronous: bool
) -> None:
    """Head and running message fill the window: one warning, then compactions only where the next request would not fit."""
    heard: list[Event] = []
    async with open_for(model, open_with_model, clock, synchronous=synchronous) as engine:

        async def listen() -> None:
            async for compaction in engine.events():
                heard.append(compaction)  # noqa: PERF401 - it must hear while others speak

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0)
        session = await engine.session(limit=16_000)
        await session.append([user(words(415, "head")), assistant("ok"), user(words(4_000, "paste"))])
        session = await engine.session(limit=4_000)
        ids: set[str] = set()
        open_breakers_count = 0
        for number in range(60):
            is_breaker_open = any(isinstance(one, BreakerOpened) for one in heard)
            await session.append([calls("a"), result("a", words(46, f"step{number}x"))])
            await session.window()
            await rest(engine, session, clock)
            compactions = [
                compaction for compaction in await list_all_compactions(session) if compaction.revises is None
            ]
            triggers = {compaction.plan.trigger for compaction in compactions if compaction.id not in ids}
            ids |= {compaction.id for compaction in compactions}
            open_breakers_count += is_breaker_open
            assert not is_breaker_open or triggers <= {"overflow"}
        assert open_breakers_count > 40
        assert len(ids) < 40
        assert (await session.verify()).is_sound
    await listening
    assert sum(isinstance(one, BreakerOpened) for one in heard) == 1
