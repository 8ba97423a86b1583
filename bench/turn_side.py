"""One side of a comparison: plays a log's turns with the everfold that is on the path, block by block.

Run by `turn_against.py`. `log.json` in the folder holds what is said before and what is timed. Each line of stdin names the
first and the end of a block, and is answered with the clock's and the processors' seconds of what it did, each under its name:
the appends, the turns, and the windows that compacted. Imports nothing of this package and calls four public methods
only, so that other releases can be measured as well.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import everfold

Entry = Mapping[str, Any]
Played = tuple[str, float, float]


async def play(folder: Path) -> None:
    """Fill a log, say so, and play the blocks that are asked for."""
    log = json.loads((folder / "log.json").read_text("utf-8"))
    settings: dict[str, dict[str, object]] = {"compaction": {"synchronous": True}}
    if "recall" in everfold.Settings.model_fields:
        settings["recall"] = {"enabled": False}  # releases without this section recalled nothing by default
    async with everfold.open(f"sqlite:///{folder / 'side.db'}", settings=settings) as engine:
        session = await engine.session(limit=log["limit_tokens"])
        for batch in log["before"]:
            await session.append([entry["wire"] for entry in batch], said_at=read_moment(batch[-1]))
        folded = {read_compacted_through(await session.window())}
        print("ready", flush=True)
        for first, end in read_blocks():
            played = [one for entry in log["entries"][first:end] for one in await play_entry(session, entry, folded)]
            print(json.dumps(played), flush=True)


async def play_entry(session: Any, entry: Entry, folded: set[int]) -> list[Played]:
    """Append a message, and take the window where the model is asked after it; `folded` has how far each window was."""
    began = read_clocks()
    await session.append(entry["wire"], said_at=read_moment(entry))
    appended = read_clocks()
    played = [name_times("append", began, appended)]
    if entry["is_turn"]:
        window = await session.window()
        ended = read_clocks()
        played.append(name_times("turn", began, ended))
        if read_compacted_through(window) not in folded:
            played.append(name_times("compacting window", appended, ended))
        folded.add(read_compacted_through(window))
    return played


def read_compacted_through(window: Any) -> int:
    """How far compaction has come, under the name that the release has for it."""
    report = window.report
    return int(report.watermark if hasattr(report, "watermark") else report.compacted_through)


def read_clocks() -> tuple[float, float]:
    """The clock's and the processors' seconds now."""
    return time.perf_counter(), time.process_time()


def name_times(name: str, began: tuple[float, float], ended: tuple[float, float]) -> Played:
    """What something took, under its name."""
    return name, ended[0] - began[0], ended[1] - began[1]


def read_moment(entry: Entry) -> datetime:
    """When a message was said."""
    return datetime.fromisoformat(entry["said_at"])


def read_blocks() -> Iterator[tuple[int, int]]:
    """The blocks that are asked for, until stdin ends."""
    for line in sys.stdin:
        first, end = map(int, line.split())
        yield first, end


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1])))
