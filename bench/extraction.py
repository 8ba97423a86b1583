"""What the heuristic extraction takes for memory, on utterances that were labelled before it was written, and its cost.

Run: python -m bench extraction; python -m bench.extraction prints what it misses on dev, which rules may be tuned on.
"""

import json
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Final, NotRequired, TypedDict

from bench.report import DATA, Row
from bench.transcripts.reading import read_transcript
from everfold.core.extraction.remembering import find_memory_kind
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.origins import Origin
from everfold.core.recall.snapshots import RESERVE_CHARS_PER_TOKEN
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.reading import find_extract_lines
from everfold.core.text.tokens import estimate_text_tokens

TITLE = "what heuristic extraction takes for memory, on labelled utterances"
LEAST_PRECISION = 0.8
LEAST_RECALL = 0.7
MOST_US = 50.0

_LABELS: Final = Path(__file__).parents[1] / "tests" / "data" / "memory_statements.jsonl"
_NOW: Final = datetime(2026, 1, 5, tzinfo=UTC)
_SPLITS: Final = {"dev": "tuned on", "held": "held back"}
_TRANSCRIPTS: Final = ("locomo-dev.json", "tau-airline-dev.jsonl", "coding-dev.json")
_PIECE_CHARS: Final = 200
_LONG_CHARS: Final = 200_000
_NAMES: Final = {
    "identity": "fact",
    "question": "open",
    "state": "task",
    **dict.fromkeys(("identifier", "path", "number", "date", "name", "lead"), "fact"),
}
"""How the labels call a line of this kind that is remembered."""


class Label(TypedDict):
    """One labelled utterance; `kinds` names the main kind first and is empty for what is not to be remembered."""

    text: str
    role: Origin
    kinds: list[str]
    domain: str
    style: str
    split: str
    before: NotRequired[str]


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """The rows and notes of this section."""
    labels = read_labels()
    rows = [row for split in _SPLITS for row in rate_split(labels, split)]
    rows += rate_cost(labels, times_count=5 if is_quick else 25)
    rows += rate_real_cost(times_count=3 if is_quick else 9)
    rows += rate_blocks(labels, draws_count=500)
    domains, styles = ({label["domain"] for label in labels}, {label["style"] for label in labels})
    note = (
        f"{len(labels)} utterances of {len(domains)} domains in {len(styles)} styles; precision of a kind over the"
        " utterances that are called so, recall over those whose main kind it is."
    )
    return rows, [note]


def read_labels() -> list[Label]:
    """The labelled utterances."""
    return [json.loads(row) for row in _LABELS.read_text(encoding="utf-8").splitlines()]


def list_remembered(label: Label) -> list[ExtractLine]:
    """The lines of an utterance that become items."""
    lines = find_extract_lines(label["text"], seq=2, origin=label["role"], is_result=False, said_at=_NOW)
    return [line for line in lines if find_memory_kind(line, before=label.get("before")) is not None]


def rate_split(labels: Sequence[Label], split: str) -> list[Row]:
    """Precision and recall of what is to be remembered, then of each kind."""
    shown = [(label["kinds"], find_kinds(label)) for label in labels if label["split"] == split]
    said = sum(bool(found) for _, found in shown)
    true = sum(bool(kinds) for kinds, _ in shown)
    hits = sum(bool(kinds and found) for kinds, found in shown)
    of = f"{split} ({len(shown)}, {_SPLITS[split]})"
    is_judged = split == "held"
    rows = [
        Row(
            figure=f"{of}: to be remembered, precision ({hits}/{said})",
            value=hits / max(said, 1),
            least=LEAST_PRECISION if is_judged else None,
            digits=3,
        ),
        Row(
            figure=f"{of}: to be remembered, recall ({hits}/{true})",
            value=hits / max(true, 1),
            least=LEAST_RECALL if is_judged else None,
            digits=3,
        ),
    ]
    for kind in sorted({kind for kinds, _ in shown for kind in kinds}):
        called = [kinds for kinds, found in shown if kind in found]
        right = sum(kind in kinds for kinds in called)
        main = [found for kinds, found in shown if kinds[:1] == [kind]]
        met = sum(kind in found for found in main)
        value = f"precision {_share(right, len(called))}, recall {_share(met, len(main))}"
        rows.append(Row(figure=f"{of}: {kind}", value=value))
    return rows


def find_kinds(label: Label) -> set[str]:
    """The kinds of what is remembered of an utterance, as the labels call them."""
    kinds = {_NAMES.get(line.kind, line.kind) for line in list_remembered(label)}
    return {*kinds, "answer"} if kinds and "before" in label else kinds


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f} ({part}/{whole})" if whole else "- (0)"


def rate_cost(labels: Sequence[Label], *, times_count: int) -> list[Row]:
    """Processor time for each 200 characters of a user: messages of that length, all statements, and one far too long."""
    talk = " ".join(label["text"] for label in labels if label["role"] == "user")
    short = [talk[at : at + _PIECE_CHARS] for at in range(0, len(talk) - _PIECE_CHARS, _PIECE_CHARS)]
    long = (talk + "\n") * (_LONG_CHARS // len(talk) + 1)
    return [
        Row(
            figure="200 characters of a user, labelled talk of all styles run together",
            value=_time(short, times_count),
            unit="µs",
            most=MOST_US,
            digits=1,
        ),
        Row(
            figure=f"200 characters of one message of {len(long):,}",
            value=_time([long], times_count),
            unit="µs",
            most=MOST_US,
            digits=1,
        ),
    ]


def rate_blocks(labels: Sequence[Label], *, draws_count: int) -> list[Row]:
    """How many characters a token has in full blocks of memory, drawn from what users say that is to be remembered."""
    lines = [f"- {' '.join(label['text'].split())} (preference, 2026-03-05)" for label in labels if label["kinds"]]
    rng = random.Random(1)
    limit_chars = MemoryPolicy().user_char_limit + MemoryPolicy().agent_char_limit
    ratios = []
    for _ in range(draws_count):
        rng.shuffle(lines)
        ends = accumulate(len(line) + 1 for line in lines)
        block = "\n".join(lines[: sum(end <= limit_chars for end in ends)])
        ratios.append(len(block) / estimate_text_tokens(block))
    figure = f"characters a token, the costliest of {draws_count} full blocks of memory"
    return [Row(figure=figure, value=min(ratios), least=RESERVE_CHARS_PER_TOKEN)]


def rate_real_cost(*, times_count: int) -> list[Row]:
    """The same over what users say in real conversations, message by message, where there are any."""
    rows = []
    for name in _TRANSCRIPTS:
        figure = f"200 characters of a user, {name}"
        if not (DATA / name).exists():
            rows.append(Row(figure=figure, value="not measured: no real conversations"))
            continue
        texts = [
            content
            for talk in read_transcript(DATA / name).conversations
            for message in talk.messages
            if message.wire.get("role") == "user" and isinstance(content := message.wire.get("content"), str)
        ]
        rows.append(Row(figure=figure, value=_time(texts, times_count), unit="µs", most=MOST_US, digits=1))
    return rows


def _time(texts: Sequence[str], times_count: int) -> float:
    """Microseconds for each 200 characters: of every text the best of repeated runs, so that other work hardly counts."""
    return 1e6 * _PIECE_CHARS * sum(_time_one(text, times_count) for text in texts) / sum(map(len, texts))


def _time_one(text: str, times_count: int) -> float:
    taken = []
    for _ in range(times_count):
        before = time.perf_counter()
        for line in find_extract_lines(text, seq=2, origin="user", is_result=False, said_at=_NOW):
            find_memory_kind(line)
        taken.append(time.perf_counter() - before)
    return min(taken)


def print_misses() -> None:
    """Print what is judged wrong among the utterances that may be looked at."""
    for label in read_labels():
        found = find_kinds(label)
        if label["split"] != "dev" or (bool(found) == bool(label["kinds"]) and found <= set(label["kinds"])):
            continue
        verdict = "KIND " if found and label["kinds"] else "WRONG" if found else "MISSED"
        print(f"{verdict:6} {label['kinds']} {sorted(found)} {label['role'][:1]} {label['style']}: {label['text']}")


if __name__ == "__main__":
    print_misses()
