"""Compactions that a caller asks for and waits for: what they fold, and what a dry run tells of it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

import pytest
from tests.support.waiting import until

from everfold import Everfold, Fold, Session
from everfold.adapters.models.scripted import ScriptedModel, Step
from everfold.core.compaction.planning import Demand
from everfold.testing.kit.builders import assistant, budget_of, user

Opening: TypeAlias = Callable[..., AbstractAsyncContextManager[Everfold]]
LIMIT = 8_000


def list_ranges(folds: list[Fold]) -> list[tuple[str, int, int, int]]:
    """Why and over which messages each compaction was made, and how many of them it folded."""
    return [(it.report.trigger, it.report.first_seq, it.report.last_seq, it.report.folded_count) for it in folds]


async def fill(session: Session, *, share: float, times: int = 4) -> None:
    """Append answers of so many times 15 tokens until the window takes this share of what the hard limit allows."""
    await session.append(user("Write down how the parcels of the harbour are stored."))
    number = 0
    while True:
        state = await session.inspect.state()
        if state.safe_sum_tokens > share * budget_of(session.settings, state).hard_limit_tokens:
            return
        number += 1
        await session.append(assistant(f"Shelf {number} holds the parcels of quay {number}, by weight. " * times))


async def begin(session: Session, *, keep_recent: int) -> None:
    """Begin a compaction whose messages stay held in the window."""
    compactor = session._background.worker.compactor(session._live)
    plan, _ = await compactor.plan(demand=Demand(keep_recent=keep_recent))
    assert plan is not None
    await compactor.begin(plan)


async def test_the_newest_messages_stay_though_more_is_due(engine: Everfold) -> None:
    """Where the window stays above its trigger, as many of the newest messages stay as were asked for."""
    session = await engine.session(limit=LIMIT)
    await fill(session, share=0.99)
    last_seq = (await session.inspect.state()).last_seq
    told = await session.compact(keep_recent=last_seq - 2, dry_run=True)
    done = await session.compact(keep_recent=last_seq - 2)
    assert list_ranges(done) == list_ranges(told) == [("manual", 1, 2, 1)]
    assert await session.compact(keep_recent=last_seq - 2) == []


async def test_an_overflow_folds_more_than_was_asked(engine: Everfold) -> None:
    """Where the hard limit leaves no room for all messages that were to stay, it is met, and no limit is called too small."""
    session = await engine.session(limit=LIMIT)
    await fill(session, share=1.5)
    told = await session.compact(keep_recent=1_000, dry_run=True)
    done = await session.compact(keep_recent=1_000)
    assert list_ranges(done) == list_ranges(told)
    assert [fold.report.trigger for fold in done] == ["overflow"]
    assert await session.compact(keep_recent=1_000) == []


async def test_kept_messages_stay_while_there_is_room(engine: Everfold) -> None:
    """A second compaction of the same messages makes no kept one leave a window that is within its target."""
    session = await engine.session(limit=4_000)
    for number in range(12):
        quays = " ".join(f"quay{number}x{berth}" for berth in range(6))
        await session.append(user(f"Take the parcel of shelf {number} to the {quays}"))
        await session.append(assistant(f"Parcel {number} stands there now, by weight and by owner. " * 5))
    (done,) = await session.compact(keep_recent=2)
    assert done.report.kept_count == 10
    assert await session.compact(keep_recent=2, dry_run=True) == []
    assert await session.compact(keep_recent=2) == []


async def test_what_was_begun_before_is_done_first(engine: Everfold) -> None:
    """A compaction that is held is told by a dry run and done by a call, also where nothing else is left to do."""
    session = await engine.session(limit=LIMIT)
    await fill(session, share=0.5)
    await begin(session, keep_recent=6)
    told = await session.compact(keep_recent=6, dry_run=True)
    done = await session.compact(keep_recent=6)
    assert len(told) == 1
    assert [fold.report for fold in done] == [fold.report for fold in told]
    assert not (await session.inspect.state()).pending_compactions


@pytest.mark.parametrize("share", [0.5, 1.05])
async def test_with_a_model(open_with_model: Opening, share: float) -> None:
    """With a model a dry run tells each compaction that is done, also in an overflow."""
    settings = {"compaction": {"synchronous": False}}
    async with open_with_model("memory://", ScriptedModel((Step(digest="echo"),)), settings=settings) as engine:
        session = await engine.session(limit=LIMIT)
        await fill(session, share=share)
        told = await session.compact(dry_run=True)
        done = await session.compact()
        assert list_ranges(done) == list_ranges(told)
        assert [digest.generator for fold in done for digest in fold.digests] == ["abstractive"]
        assert await session.compact() == []


async def test_no_fold_is_lost_to_a_model_that_is_late(open_with_model: Opening) -> None:
    """What was committed before the deadline is returned with what the deadline forced."""
    model = ScriptedModel((Step(digest="echo"), Step(fault="timeout")))
    settings = {"compaction": {"summary_timeout_secs": 1}}
    async with open_with_model("memory://", model, settings=settings, drain_secs=0) as engine:
        session = await engine.session(limit=LIMIT)
        await fill(session, share=0.6, times=15)
        await begin(session, keep_recent=10)
        await begin(session, keep_recent=4)
        done = await session.compact(keep_recent=4)
        assert [digest.generator for fold in done for digest in fold.digests] == ["abstractive", "extractive"]


async def test_a_late_digest_of_another_window_ends_nothing(open_with_model: Opening) -> None:
    """Where another handle's window commits what a call waits for, the call goes on until its demand is met.

    The late digest is committed by the call, or by the worker that the window woke, whichever is first.
    """
    gate = asyncio.Event()

    async def wait(_: float) -> None:
        await gate.wait()

    model = ScriptedModel((Step(digest="echo", secs=1),), sleep=wait)
    settings = {"compaction": {"rows_per_digest": 20, "synchronous": False}}
    async with open_with_model("memory://", model, settings=settings) as engine:
        session = await engine.session(limit=16_000)
        for number in range(40):
            told = (
                f"The shelf {number} goes to the cellar of house {number}, behind the boxes {number} of the harbour. "
                * 3
            )
            await session.append([user(f"Detail {number}?"), assistant(told)])
        asked = asyncio.create_task(session.compact(keep_recent=4))
        await until(lambda: model.requests)
        await (await engine.session(id=session.id)).window(limit=4_500)
        gate.set()
        await asked
        assert "late_digest" in [it.plan.trigger for it in await session.inspect.compactions()]
        assert await session.compact(keep_recent=4) == []
