"""The thread of a connection."""

import asyncio
from functools import partial
from pathlib import Path
from threading import Event, get_ident

import pytest

from everfold.adapters.sqlite.lane import Lane
from everfold.errors import StoreUnavailableError


def test_jobs_run_in_order_on_one_other_thread(tmp_path: Path) -> None:
    """Every job runs on the lane's own thread, one after the other, and gives its own outcome."""

    async def run() -> list[tuple[int, int]]:
        lane = Lane("test", str(tmp_path / "lane.db"))
        done: list[int] = []

        def job(number: int) -> tuple[int, int]:
            done.append(number)
            return len(done), get_ident()

        outcomes = await asyncio.gather(*(lane.call(partial(job, number)) for number in range(5)))
        lane.close()
        return outcomes

    outcomes = asyncio.run(run())
    assert [place for place, _ in outcomes] == [1, 2, 3, 4, 5]
    assert {thread for _, thread in outcomes}.isdisjoint({get_ident()})
    assert len({thread for _, thread in outcomes}) == 1


def test_an_error_is_raised_where_the_call_waits_and_the_lane_goes_on(tmp_path: Path) -> None:
    """A job that fails raises its own error in its caller, and the next job runs."""

    async def run() -> int:
        lane = Lane("test", str(tmp_path / "lane.db"))
        with pytest.raises(ZeroDivisionError):
            await lane.call(lambda: 1 // 0)
        try:
            return await lane.call(lambda: 7)
        finally:
            lane.close()

    assert asyncio.run(run()) == 7


def test_a_call_cancelled_before_its_turn_never_runs(tmp_path: Path) -> None:
    """What is cancelled while another job holds the lane is not done, and the jobs after it are."""

    async def run() -> list[str]:
        lane = Lane("test", str(tmp_path / "lane.db"))
        done: list[str] = []
        gate = Event()
        first = asyncio.create_task(lane.call(gate.wait))
        second = asyncio.create_task(lane.call(lambda: done.append("second")))
        third = asyncio.create_task(lane.call(lambda: done.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, third)
        lane.close()
        return done

    assert asyncio.run(run()) == ["third"]


def test_a_closed_lane_refuses(tmp_path: Path) -> None:
    """After its end a lane refuses every call with an error that names the file."""

    async def run() -> None:
        lane = Lane("test", str(tmp_path / "lane.db"))
        lane.close()
        with pytest.raises(StoreUnavailableError, match=r"lane\.db"):
            await lane.call(lambda: None)

    asyncio.run(run())
