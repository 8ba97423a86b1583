"""Work that blocks has threads of its own: bounded, never waited for, and honest about what came of it."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time

import pytest

from everfold.adapters.sources.own_threads import OwnThreads
from everfold.errors import SourceUnavailableError

pytestmark = pytest.mark.anyio


async def test_gives_what_the_work_gives_or_raises() -> None:
    """Values, errors and the caller's context pass between the threads."""
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")
    variable.set(7)
    threads = OwnThreads("call://x")
    assert await threads.run(variable.get) == 7
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)


async def test_no_more_at_once_than_places_and_none_is_lost() -> None:
    """Twelve pieces of work on three places: all are done, and never more than three at a time."""
    threads = OwnThreads("call://x", most_threads=3)
    lock, now, most = threading.Lock(), 0, 0

    def work() -> int:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.01)
        with lock:
            now -= 1
        return 1

    assert sum(await asyncio.gather(*(threads.run(work) for _ in range(12)))) == 12
    assert 1 <= most <= 3


async def test_what_hangs_keeps_its_place_until_it_comes_back() -> None:
    """Given up, it stays behind; who finds no place is refused in time, and served when it is back."""
    threads, release = OwnThreads("call://hanging", most_threads=1, wait_secs=0.05), threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await threads.run(lambda: release.wait(20))
    with pytest.raises(SourceUnavailableError, match="call://hanging is still busy") as caught:
        await threads.run(lambda: None)
    assert caught.value.retryable
    release.set()
    for thread in threading.enumerate():
        if thread.name == "everfold call://hanging":
            thread.join(10)
    assert await threads.run(lambda: "served") == "served"


PROGRAM = """
import asyncio, time
from everfold.adapters.sources.own_threads import OwnThreads

async def ask():
    try:
        async with asyncio.timeout(0.05):
            await OwnThreads("call://x").run(lambda: time.sleep(600))
    except TimeoutError:
        print("given up")

asyncio.run(ask())
"""


def test_a_process_ends_although_its_source_hangs() -> None:
    """Neither the event loop nor the interpreter waits at its end for work that was given up."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "given up\n"
