"""A server that watches its own event loop: a task that wants to run all the time, and how long it was kept from it.

Run as `python beating.py --config ... serve --db ... --port 0`. When it is told to stop it prints one line of JSON: the
longest time between two beats by the clock and by this thread's processor, and what ran when the loop was late.

Time that the machine gave to other programs is in the first figure and not in the second, so the second says what the
server itself did without a pause.
"""

import asyncio
import json
import sys
import threading
import time
import traceback
from collections import Counter
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

    worst_secs: float = 0.0
    worst_processor_secs: float = 0.0
    beats_count: int = 0
    late: Counter[str] = field(default_factory=Counter)
    _last: float = 0.0
    _last_processor: float = 0.0

    async def beat(self) -> None:
        """Beat until it is ended."""
        watched = threading.get_ident()
        threading.Thread(target=self._watch, args=(watched,), daemon=True).start()
        self._last, self._last_processor = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(BEAT_SECS)
            now, processor = time.perf_counter(), time.thread_time()
            self.worst_secs = max(self.worst_secs, now - self._last - BEAT_SECS)
            self.worst_processor_secs = max(self.worst_processor_secs, processor - self._last_processor)
            self.beats_count += 1
            self._last, self._last_processor = now, processor

    def _watch(self, watched: int) -> None:
        clock = time.pthread_getcpuclockid(watched)
        while True:
            time.sleep(0.01)
            spent = time.clock_gettime(clock) - self._last_processor
            if self._last and spent > LATE_SECS:
                frames = traceback.extract_stack(sys._current_frames()[watched])
                ours = [frame for frame in frames if "everfold" in frame.filename]
                names = [f"{Path(frame.filename).name}:{frame.name}:{frame.lineno}" for frame in ours[-4:]]
                self.late[" > ".join([*names, frames[-1].name])] += 1


def main() -> None:
    """Serve, and tell at the end."""
    heart = Heart()
    serve = serving.serve

    async def serve_and_beat(
        runtime: Runtime, *, host: str, port: int, on_ready: "serving.Callable[[str], None]"
    ) -> None:
        task = asyncio.create_task(heart.beat())
        try:
            await serve(runtime, host=host, port=port, on_ready=on_ready)
        finally:
            task.cancel()
            told = {
                "worst_secs": heart.worst_secs,
                "worst_processor_secs": heart.worst_processor_secs,
                "beats_count": heart.beats_count,
                "late": heart.late.most_common(12),
            }
            sys.stdout.write(f"{json.dumps(told)}\n")

    serving.serve = serve_and_beat  # type: ignore[assignment]  # the command takes it from there when it runs
    run()


if __name__ == "__main__":
    main()
