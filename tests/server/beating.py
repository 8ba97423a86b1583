"""A server that watches its own event loop: a task that wants to run all the time, and how long it was kept from it.

Run as `python beating.py --config ... serve --db ... --port 0`. When it is told to stop it prints one line of JSON: the
longest step of the loop, by the clock and by this thread's processor, which is how long it was blocked; the longest time
between two beats, which is that of all steps that were due at once; and what ran when the loop was late.

Time that the machine gave to other programs is in the figures by the clock and not in those by the processor, so these
say what the server itself did without a pause.
"""

import asyncio
import gc
import json
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from everfold.cli.main import run
from everfold.server import serving
from everfold.server.runtime import Runtime

BEAT_SECS: Final = 0.005
LATE_SECS: Final = 0.03
"""From here on what runs is looked at."""


@dataclass
class Heart:
    """What the beats of a loop tell."""

    beat_secs: float = 0.0
    beat_processor_secs: float = 0.0
    step_secs: float = 0.0
    step_processor_secs: float = 0.0
    beats_count: int = 0
    late: Counter[str] = field(default_factory=Counter)
    collected_secs: float = 0.0
    _step_processor: float = 0.0
    _last: float = 0.0
    _last_processor: float = 0.0
    _collecting: float = 0.0

    async def beat(self) -> None:
        """Beat until it is ended."""
        watched = threading.get_ident()
        threading.Thread(target=self._watch, args=(watched,), daemon=True).start()
        self._last, self._last_processor = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(BEAT_SECS)
            now, processor = time.perf_counter(), time.thread_time()
            self.beat_secs = max(self.beat_secs, now - self._last - BEAT_SECS)
            self.beat_processor_secs = max(self.beat_processor_secs, processor - self._last_processor)
            self.beats_count += 1
            self._last, self._last_processor = now, processor

    def time_steps(self) -> None:
        """Time every step of the loop of this thread."""
        run_step, watched = asyncio.Handle._run, threading.get_ident()
        gc.callbacks.append(self._collect)

        def run_timed(handle: asyncio.Handle) -> None:
            if threading.get_ident() != watched:
                run_step(handle)
                return
            began, processor = time.perf_counter(), time.thread_time()
            self._step_processor = processor
            run_step(handle)
            secs, spent = time.perf_counter() - began, time.thread_time() - processor
            self.step_secs = max(self.step_secs, secs)
            self.step_processor_secs = max(self.step_processor_secs, spent)
            self._step_processor = 0.0

        asyncio.Handle._run = run_timed  # type: ignore[method-assign,assignment]  # as asyncio's own debug mode times it

    def _collect(self, phase: str, _: dict[str, int]) -> None:
        """Time the collecting of garbage, which is a part of whatever step it falls into."""
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self.collected_secs = max(self.collected_secs, time.thread_time() - self._collecting)

    def _watch(self, watched: int) -> None:
        clock = time.pthread_getcpuclockid(watched)
        while True:
            time.sleep(0.01)
            began = self._step_processor
            if began and time.clock_gettime(clock) - began > LATE_SECS:
                frames = traceback.extract_stack(sys._current_frames()[watched])
                ours = [frame for frame in frames if "everfold" in frame.filename]
                names = [f"{Path(frame.filename).name}:{frame.name}:{frame.lineno}" for frame in ours[-4:]]
                self.late[" > ".join([*names, frames[-1].name])] += 1


def main() -> None:
    """Serve, and tell at the end."""
    heart = Heart()
    serve = serving.serve

    async def serve_and_beat(runtime: Runtime, *, host: str, port: int, on_ready: Callable[[str], None]) -> None:
        tasks: list[asyncio.Task[None]] = []

        def begin(address: str) -> None:
            heart.time_steps()
            tasks.append(asyncio.create_task(heart.beat()))
            on_ready(address)

        try:
            await serve(runtime, host=host, port=port, on_ready=begin)
        finally:
            for task in tasks:
                task.cancel()
            told = {
                "step_secs": heart.step_secs,
                "step_processor_secs": heart.step_processor_secs,
                "beat_secs": heart.beat_secs,
                "beat_processor_secs": heart.beat_processor_secs,
                "collected_secs": heart.collected_secs,
                "beats_count": heart.beats_count,
                "processor_secs": time.process_time(),
                "late": heart.late.most_common(12),
            }
            sys.stdout.write(f"{json.dumps(told)}\n")

    serving.serve = serve_and_beat  # the command takes it from there when it runs
    run()


if __name__ == "__main__":
    main()
