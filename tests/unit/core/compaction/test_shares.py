"""What digests and their rollup take of a window."""

from bench.material.logs import chat_log
from tests.support.sizes import some

import everfold
from everfold.core.compaction.layout import Layout, ShownRange
from everfold.core.compaction.shares import Wanted, cap_rollup, choose_joined, share_parts
from everfold.core.log.budget import Policy, share_budget
from everfold.core.log.calibration import Calibration
from everfold.core.windows.entries import RangeEntry
from everfold.core.windows.window import Window

SLICE = 2_000


def layout_of(*tokens: int) -> Layout:
    """A layout that shows a rollup of the first ten messages, and a digest for each further ten."""
    ranges = tuple(
        ShownRange(
            first_seq=at * 10 + 1, last_seq=at * 10 + 10, digest_id=f"d{at}", kind=_KINDS[at > 0], digest_tokens=count
        )
        for at, count in enumerate(tokens)
    )
    return Layout(watermark=len(tokens) * 10, ranges=ranges)


_KINDS = ("rollup", "digest")


async def play(limit: int, messages_count: int) -> Window:
    """The window after a plain talk at a limit."""
    settings = {"compaction": {"synchronous": True}, "recall": {"enabled": False}, "model": {"answer_tokens": 0}}
    async with everfold.open("memory://", settings=settings) as engine:
        session = await engine.session(limit=limit)
        for entry in chat_log(7, messages_count=messages_count):
            await session.append(entry.wire, said_at=entry.said_at)
            await session.window()
        return await session.window()


async def test_a_small_window_has_one_rollup_that_fills_its_share() -> None:
    """Where no provider keeps a prefix, all digests but the newest are one, and it takes what they may."""
    window = await play(1_600, some(400, 160))
    rollup, *newer = (entry.shown for entry in window.entries if isinstance(entry, RangeEntry))
    assert rollup.kind == "rollup"
    assert len(newer) <= 1
    assert rollup.digest_tokens >= 0.11 * window.report.usable_tokens


def test_a_rollup_takes_what_the_digests_beside_it_leave() -> None:
    """A rollup has what is free of the slice, less a quarter for the digest after the next; all of it in a small window."""
    layout = layout_of(600, 300, 300)
    assert cap_rollup(layout, 20, cap_tokens=400, slice_tokens=SLICE, joins_all=False) == SLICE - 300 - 400 - 500
    assert cap_rollup(layout, 30, cap_tokens=400, slice_tokens=SLICE, joins_all=True) == SLICE - 400


def test_a_rollup_has_its_least_beside_full_digests() -> None:
    """However much the digests beside it take, a rollup has 0.4 of the slice."""
    assert cap_rollup(layout_of(600, 300, 800), 20, cap_tokens=500, slice_tokens=SLICE, joins_all=False) == 800


def test_in_a_small_window_every_digest_joins() -> None:
    """Digests that would find room beside the rollup join it all the same where nothing is gained by their standing."""
    layout = layout_of(600, 100)
    assert choose_joined(layout, (), cap_tokens=100, slice_tokens=SLICE) == 0
    assert choose_joined(layout, (), cap_tokens=100, slice_tokens=SLICE, joins_all=True) == 20


def test_a_window_with_a_model_joins_in_batches() -> None:
    """The digest of a model stays until there are too many, also where the window is small."""
    budget = share_budget(1_600, Policy(answer_tokens=0), calibration=Calibration())
    few = share_parts(Wanted(digests=100, rollup=60, folded=800), budget)
    all_joined = share_parts(Wanted(digests=100, rollup=60, folded=800, joins_all=True), budget)
    assert few.digests < few.slice
    assert all_joined.digests == all_joined.slice
