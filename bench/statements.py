"""Precision, recall and cost of the extract line detector, on sentences that were labelled before it was written.

Run: python bench/statements.py [--misses]
"""

import json
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypedDict

from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.reading import find_extract_lines

_LABELS: Final = Path(__file__).parents[1] / "tests" / "data" / "statements.jsonl"
_NOW: Final = datetime(2026, 1, 5, tzinfo=UTC)
_CHAT: Final = (
    "Hey, I went to the new pottery place downtown with my cousin yesterday and it was so much fun! We made two bowls each."
    " Have you tried it?"
)


class Label(TypedDict):
    """One labelled sentence; `kinds` names the main kind first."""

    text: str
    role: Origin
    kinds: list[str]
    standing: bool
    split: str


def main() -> None:
    """Print the figures; dev was tuned on; held and fresh were not, and fresh was written after the rules."""
    labels: list[Label] = [json.loads(row) for row in _LABELS.read_text(encoding="utf-8").splitlines()]
    for split in ("dev", "held", "fresh"):
        report(
            [label for label in labels if label["split"] == split],
            split,
            with_misses="--misses" in sys.argv and split == "dev",
        )
    report_cost()


def find_lines(label: Label) -> tuple[ExtractLine, ...]:
    """The lines of a labelled sentence, as its role would bring it."""
    return find_extract_lines(
        label["text"], seq=1, origin=label["role"], is_result=label["role"] == "tool", said_at=_NOW
    )


def report(labels: list[Label], split: str, *, with_misses: bool) -> None:
    """Print precision and recall of `standing` and of each kind."""
    if not labels:
        return
    shown = [(label, find_lines(label)) for label in labels]
    hits = sum(label["standing"] and any(line.standing for line in lines) for label, lines in shown)
    said = sum(any(line.standing for line in lines) for _, lines in shown)
    true = sum(label["standing"] for label in labels)
    print(
        f"{split}: {len(labels)} sentences; standing precision {hits / said:.3f} ({hits}/{said}) recall {hits / true:.3f} ({hits}/{true})"
    )
    for kind in sorted({kind for label in labels for kind in label["kinds"]}):
        print(f"  {kind:11} {rate_kind(shown, kind)}")
    if with_misses:
        for label, lines in shown:
            if label["standing"] != any(line.standing for line in lines):
                print("   ", "MISSED" if label["standing"] else "WRONG ", [line.kind for line in lines], label["text"])
        for label, lines in shown:
            kinds = {line.kind for line in lines}
            if (
                label["standing"] == any(line.standing for line in lines)
                and label["kinds"]
                and not kinds & set(label["kinds"])
            ):
                print("    KIND  ", label["role"], label["kinds"], kinds, label["text"])


def rate_kind(shown: Iterable[tuple[Label, tuple[ExtractLine, ...]]], kind: str) -> str:
    """Precision over the sentences that the detector calls `kind`, recall over those whose main kind it is."""
    called = [label for label, lines in shown if any(_name(line) == kind for line in lines)]
    main = [(label, lines) for label, lines in shown if label["kinds"][:1] == [kind]]
    right = sum(kind in label["kinds"] for label in called)
    found = sum(any(_name(line) == kind for line in lines) for _, lines in main)
    precision = f"{right / len(called):.2f}" if called else "-"
    recall = f"{found / len(main):.2f}" if main else "-"
    return f"precision {precision:>5} of {len(called):3}   recall {recall:>5} of {len(main):3}"


def _name(line: ExtractLine) -> str:
    return "task" if line.kind == "state" else line.kind


def report_cost() -> None:
    """Print microseconds for a chat message and megabytes a second for long texts, the best of repeated runs."""
    print(f"chat message of {len(_CHAT.split())} words: {_time(_CHAT, 'user', 2000):.1f} us")
    prose = (_CHAT + " ") * 120
    log = "2026-01-05 12:00:01 INFO worker 17 handled request 8f3a-22c1 in 41 ms\n" * 240
    rows = json.dumps(
        [{"flight": f"BX{i}", "price": i * 7, "date": "2026-02-01", "note": "seats left"} for i in range(220)]
    )
    texts: tuple[tuple[str, str, Origin], ...] = (
        ("prose", prose, "user"),
        ("log", log, "tool"),
        ("json", rows, "tool"),
    )
    for name, text, origin in texts:
        print(f"{name} of {len(text)} chars: {len(text) / _time(text, origin, 12):.1f} MB/s")
    print(f"log of {40 * len(log)} chars: {40 * len(log) / _time(log * 40, 'tool', 12):.1f} MB/s")


def _time(text: str, origin: Origin, times: int) -> float:
    taken = []
    for _ in range(15):
        before = time.perf_counter()
        for _ in range(times):
            find_extract_lines(text, seq=1, origin=origin, is_result=origin == "tool", said_at=_NOW)
        taken.append((time.perf_counter() - before) / times)
    return min(taken) * 1e6


if __name__ == "__main__":
    main()
