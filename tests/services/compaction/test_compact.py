"""Compaction goes on until the window fits."""

import pytest
from bench.material.logs import endless_log

from everfold import Everfold
from everfold.testing.kit.builders import assistant, calls, talk


@pytest.mark.parametrize("count", [199, pytest.param(200, marks=pytest.mark.slow), 201, 450])
async def test_passes_a_run_of_messages_that_are_all_kept(engine: Everfold, count: int) -> None:
    """A range of short user messages, which gains nothing by itself, does not stop the overflow from folding what follows."""
    session = await engine.session(limit=8000)
    await session.append([{"role": "user", "content": f"{number}"} for number in range(count)])
    await session.append([entry.wire for entry in endless_log(5, messages_count=300)])
    report = (await session.window()).report
    assert report.tokens <= report.budget_tokens
    assert (await session.verify()).is_sound


async def test_a_manual_compaction_passes_it_too(engine: Everfold) -> None:
    """What was asked for reaches the messages behind such a run, down to the newest ones that stay."""
    session = await engine.session(limit=120_000)
    await session.append([{"role": "user", "content": f"{number}"} for number in range(250)])
    await session.append([entry.wire for entry in endless_log(5, messages_count=100)])
    done = await session.compact(keep_recent=10)
    assert done[-1].layout.watermark > 300
    assert sum(fold.report.folded_count for fold in done) > 20


@pytest.mark.moves_prefix
@pytest.mark.parametrize(("way", "count"), [("retracted", 1), ("retracted", 300), ("erased", 8)])
async def test_messages_that_are_gone_are_none_of_the_newest(engine: Everfold, way: str, count: int) -> None:
    """A compaction leaves as many messages as it is told, without those that were retracted or erased."""
    session = await engine.session(limit=120_000)
    await session.append(talk(10))
    gone = await session.append([assistant(f"Draft {number}.") for number in range(count)])
    if way == "retracted":
        await session.retract(count)
    for seq in gone if way == "erased" else ():
        await session.erase(seq)
    await session.append(calls("a"))
    (done,) = await session.compact(keep_recent=6)
    assert done.report.last_seq == 15


async def test_no_more_messages_stay_than_there_are(engine: Everfold) -> None:
    """A log that has fewer messages than are to stay, those that are gone left out, is not compacted."""
    session = await engine.session(limit=120_000)
    await session.append(talk(4))
    await session.retract(2)
    await session.append(talk(1))
    assert await session.compact(keep_recent=8) == []
