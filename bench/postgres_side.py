"""One process of several that talk with sessions over one store at once.

Run by `postgres_crowd.py`. Fills its sessions, says so, waits for a line on stdin, and plays the turns of all of them at once.
Prints the clock's seconds of each turn, when the first began and the last ended, and the processor's seconds in between.
"""

import asyncio
import json
import os
import sys
import time
import uuid
from contextlib import nullcontext
from typing import Any

import everfold
from bench.material.logs import chat_log
from bench.memory_filling import unsynced
from bench.opening import INLINE_SETTINGS

FILLED_COUNT = 20


async def talk(session: Any, wires: list[dict[str, object]]) -> list[float]:
    """Say everything; an append of the user and the window after it are a turn."""
    secs: list[float] = []
    for wire in wires:
        begun = time.perf_counter()
        await session.append(wire)
        if wire["role"] == "user":
            await session.window()
            secs.append(time.perf_counter() - begun)
    return secs


async def play(url: str, sessions_count: int, turns_count: int) -> None:
    """Fill the sessions, and play when it is said."""
    async with everfold.open(url, settings=INLINE_SETTINGS) as engine:
        sessions = [await engine.session(user=str(uuid.uuid4())) for _ in range(sessions_count)]
        logs = [[entry.wire for entry in chat_log(number, messages_count=FILLED_COUNT + 2 * turns_count)] for number in range(sessions_count)]  # fmt: skip
        for session, wires in zip(sessions, logs, strict=True):
            await session.append(wires[:FILLED_COUNT])
            await session.window()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        begun, worked = time.time(), time.process_time()
        found = await asyncio.gather(
            *(talk(session, wires[FILLED_COUNT:]) for session, wires in zip(sessions, logs, strict=True))
        )
        ended, worked = time.time(), time.process_time() - worked
    secs = [one for several in found for one in several]
    print(json.dumps({"begun": begun, "ended": ended, "worked": worked, "secs": secs}), flush=True)


if __name__ == "__main__":
    with unsynced() if os.environ.get("BENCH_UNSYNCED") else nullcontext():
        asyncio.run(play(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
