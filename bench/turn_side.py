"""One side of a comparison: plays a log's turns with the everfold that is on the path, block by block.

Run by `turn_against.py`. `log.json` in the folder holds what is said before and what is timed. Each line of stdin names the
first and the end of a block, and is answered with the clock's and the processors' seconds of its turns. Imports nothing of
this package and calls four public methods only, so that other releases can be measured as well.
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
Times = tuple[float, float]


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
        await session.window()
        print("ready", flush=True)
        for first, end in read_blocks():
            times = [await play_entry(session, entry) for entry in log["entries"][first:end]]
            print(json.dumps([one for one in times if one is not None]), flush=True)


async def play_entry(session: Any, entry: Entry) -> Times | None:
    """Append a message, and take the window where the model is asked after it; the times of both together."""
    processor, begun = time.process_time(), time.perf_counter()
    await session.append(entry["wire"], said_at=read_moment(entry))
    if not entry["is_turn"]:
        return None
    await session.window()
    return time.perf_counter() - begun, time.process_time() - processor


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
