"""The same turns by this everfold and by another installed one, each in a process of its own, a block in turns."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import everfold
from bench.material.logs import LogEntry
from bench.measuring import Times
from bench.opening import batched, is_request_due, temporary_folder
from bench.report import Row

BLOCK_COUNT = 50
MOST_TIMES = 1.5
"""A turn of ours may take this many times the other's median. Source: docs/adr/0028-plain-python.md."""
_NAMES = ("turn", "append", "compacting window")
_PROGRAM = Path(__file__).with_name("turn_side.py")


class Side:
    """A process that plays turns with the everfold of a folder, and the times of what it does, by name."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.times = {name: Times() for name in _NAMES}
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM), str(folder)],
            env={**os.environ, "PYTHONPATH": str(tree.resolve())},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        self._expect_line()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def play(self, first: int, end: int) -> None:
        """Play a block, and add its times."""
        assert self._process.stdin
        self._process.stdin.write(f"{first} {end}\n")
        self._process.stdin.flush()
        for name, secs, processor_secs in json.loads(self._expect_line()):
            self.times[name].add(secs, processor_secs)

    def _expect_line(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{_PROGRAM.name} ended with {self._process.wait()}; its error stands above")
        return line


def compare(
    tree: Path, before: Sequence[LogEntry], entries: Sequence[LogEntry], *, limit_tokens: int
) -> tuple[list[Row], str]:
    """Play the entries after a log on both sides; rows, and what they are."""
    with temporary_folder() as folder, ExitStack() as running:
        sides = []
        for name, path in (("here", Path(everfold.__file__).parent.parent), ("there", tree)):
            (own := folder / name).mkdir()
            _write_log(own / "log.json", before, entries, limit_tokens=limit_tokens)
            sides.append(running.enter_context(Side(path, own)))
        for number, first in enumerate(range(0, len(entries), BLOCK_COUNT)):
            for side in sides if number % 2 else sides[::-1]:
                side.play(first, first + BLOCK_COUNT)
    note = (
        f"Against another everfold: {len(entries)} messages after {len(before):,}, in two processes that take turns of "
        f"{BLOCK_COUNT} messages each, both without recall."
    )
    here, there = [side.times for side in sides]
    return [row for name in _NAMES for row in _rows(name, here[name], there[name])], note


def _write_log(path: Path, before: Sequence[LogEntry], entries: Sequence[LogEntry], *, limit_tokens: int) -> None:
    rows = [_to_row(entries, index) for index in range(len(entries))]
    filling = [_to_row(before, index) for index in range(len(before))]
    log = {"limit_tokens": limit_tokens, "before": list(batched(filling, 500)), "entries": rows}
    path.write_text(json.dumps(log), "utf-8")


def _to_row(entries: Sequence[LogEntry], index: int) -> dict[str, object]:
    entry = entries[index]
    return {"wire": entry.wire, "said_at": entry.said_at.isoformat(), "is_turn": is_request_due(entries, index)}


def _rows(name: str, here: Times, there: Times) -> list[Row]:
    if not (here.secs and there.secs):
        return [Row(figure=f"{name} here to the other's", value="not measured: one of them had none")]
    most = MOST_TIMES if name == "turn" else None
    clock = here.median_us / there.median_us
    processor = here.processor_us / there.processor_us
    return [
        Row(figure=f"{name} here: median of {len(here.secs):,}", value=here.median_us, unit="µs", digits=0),
        Row(figure=f"{name} of the other everfold: median of {len(there.secs):,}", value=there.median_us, unit="µs", digits=0),
        Row(figure=f"{name} here to the other's", value=clock, unit="times", most=most),
        Row(figure=f"{name} here to the other's, processor time", value=processor, unit="times"),
    ]  # fmt: skip
