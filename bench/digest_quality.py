"""What extractive digests of real conversations hold at 10, 20 and 30 % of their source.

Run: python bench/digest_quality.py [--samples]
Reads the measuring data beside the project and says so when it is missing. The facts are listed by patterns of this
file, not by the detector.
"""

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from everfold.core.digests.extractive import DigestSource, compose_digest
from everfold.core.primitives.origins import Origin
from everfold.core.statements.reading import find_extract_lines

_DATA: Final = Path(os.environ.get("EVERFOLD_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
_FACTS: Final = {
    "numbers": re.compile(r"(?<![\w.-])\d{3,}(?:\.\d+)?(?![\w-])"),
    "dates": re.compile(
        r"\d{4}-\d\d-\d\d|\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}\b"
    ),
    "ids": re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}\b|\b[a-z]+_[a-z]*_?\d{4,}\b"),
    "paths": re.compile(r"/?(?:[\w.-]+/)+[\w-]+\.\w+"),
    "names": re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}"),
    "errors": re.compile(r"\w*Error\b[^\n]{0,40}"),
}
_BINDING: Final = re.compile(
    r"\b(?:must|never|always|don't want|prefer|only|need to|instead|would like)\b", re.IGNORECASE
)
_SHARES: Final = (0.1, 0.2, 0.3)
_TAIL_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The folded part of a conversation."""

    name: str
    texts: list[str]
    sources: list[DigestSource]
    questions: list[tuple[int, str]]


@dataclass(slots=True)
class Facts:
    """By kind, how many facts some talks have and their digests hold, and the seconds of composing."""

    all: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    elapsed_secs: float = 0.0


def estimate(text: str) -> int:
    """A plain estimate: four characters a token."""
    return -(-len(text) // 4)


def main() -> None:
    """Print shares of surviving facts by data set and digest size."""
    if not _DATA.is_dir():
        print(f"Skipped: no measuring data at {_DATA}; name its folder in EVERFOLD_BENCH_DATA.")
        return
    for name, talks in (("tau", list(read_tau())), ("coding", list(read_coding())), ("locomo", list(read_locomo()))):
        for share in _SHARES:
            report(name, talks, share)
        if "--samples" in sys.argv:
            print(compose(talks[0], 0.1 if name == "tau" else 0.2)[:6000], "\n")


def report(name: str, talks: Sequence[Talk], share: float) -> None:
    """Print what the digests of one data set hold at one size."""
    facts = count_facts(talks, share)
    print(f"{name} at {share:.0%}, {len(talks)} talks, {facts.elapsed_secs / len(talks) * 1e3:.1f} ms each")
    told = (f"{kind} {facts.held[kind] / count:.2f} of {count}" for kind, count in sorted(facts.all.items()))
    print("   " + "  ".join(told))


def count_facts(talks: Sequence[Talk], share: float) -> Facts:
    """Count by kind the facts of the talks, and those that their digests hold."""
    facts = Facts()
    for talk in talks:
        before = time.perf_counter()
        text = compose(talk, share)
        facts.elapsed_secs += time.perf_counter() - before
        for kind, fact in list_facts(talk):
            facts.all[kind] += 1
            facts.held[kind] += fact in text
    return facts


def list_facts(talk: Talk) -> Iterator[tuple[str, str]]:
    """Each distinct fact of a conversation by kind, and for questions their answers."""
    for kind, pattern in _FACTS.items():
        for fact in sorted({found for text in talk.texts for found in pattern.findall(text)}):
            yield kind, fact
    for text, source in zip(talk.texts, talk.sources, strict=True):
        if source.origin == "user":
            for sentence in re.split(r"(?<=[.!?])\s+", text):
                if _BINDING.search(sentence) and len(sentence) < 200:
                    yield "user rules", sentence.strip()
    for category, answer in talk.questions:
        yield f"answers {category}", answer


def compose(talk: Talk, share: float) -> str:
    """The digest of a talk at a share of its size."""
    size = sum(source.tokens for source in talk.sources)
    made = compose_digest(
        talk.sources,
        first_seq=talk.sources[0].seq,
        last_seq=talk.sources[-1].seq,
        cap_tokens=int(size * share),
        estimate=estimate,
    )
    return made.text


def make_source(
    seq: int, origin: Origin, text: str, said_at: datetime, speaker: str | None = None, calls: tuple[str, ...] = ()
) -> DigestSource:
    """A source with its extract lines."""
    lines = find_extract_lines(text, seq=seq, origin=origin, is_result=origin == "tool", said_at=said_at)
    return DigestSource(
        seq=seq,
        origin=origin,
        role=origin,
        speaker=speaker,
        said_at=said_at,
        tokens=estimate(text),
        lines=lines,
        is_result=origin == "tool",
        calls=calls,
    )


def _fold(
    name: str, rows: list[tuple[Origin, str, datetime, str | None, tuple[str, ...]]], questions: list[tuple[int, str]]
) -> Talk:
    kept = rows[: max(2, int(len(rows) * (1 - _TAIL_SHARE)))]
    sources = [
        make_source(seq, origin, text, at, speaker, calls)
        for seq, (origin, text, at, speaker, calls) in enumerate(kept, 1)
    ]
    return Talk(name=name, texts=[text for _, text, *_ in kept], sources=sources, questions=questions)


def _read_chat(name: str, messages: list[dict[str, Any]]) -> Talk:
    rows: list[tuple[Origin, str, datetime, str | None, tuple[str, ...]]] = []
    for at, message in enumerate(messages):
        if message["role"] == "system":
            continue
        calls = tuple(call["function"]["name"] for call in message.get("tool_calls") or ())
        said_at = datetime(2026, 1, 5, 9, tzinfo=UTC) + timedelta(seconds=20 * at)
        rows.append((message["role"], message.get("content") or "", said_at, None, calls))
    return _fold(name, rows, [])


def read_tau() -> Iterator[Talk]:
    """The conversations of the airline agent."""
    for row in (_DATA / "tau-airline-dev.jsonl").read_text(encoding="utf-8").splitlines():
        talk = json.loads(row)
        yield _read_chat(f"tau {talk['task_id']}", talk["messages"])


def read_coding() -> Iterator[Talk]:
    """The run of the coding agent."""
    yield _read_chat("coding", json.loads((_DATA / "coding-dev.json").read_text(encoding="utf-8")))


def read_locomo() -> Iterator[Talk]:
    """The sittings of two people; the first is taken for the user, the second for the assistant."""
    for sample in json.loads((_DATA / "locomo-dev.json").read_text(encoding="utf-8")):
        talk = sample["conversation"]
        rows: list[tuple[Origin, str, datetime, str | None, tuple[str, ...]]] = []
        number = 1
        while f"session_{number}" in talk:
            said_at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(
                tzinfo=UTC
            )
            for turn in talk[f"session_{number}"]:
                origin: Origin = "user" if turn["speaker"] == talk["speaker_a"] else "assistant"
                rows.append((origin, turn["text"], said_at, turn["speaker"], ()))
            number += 1
        questions = [
            (qa["category"], str(qa["answer"]))
            for qa in sample["qa"]
            if qa["category"] in (1, 4) and len(str(qa.get("answer", ""))) < 30
        ]
        yield _fold(sample["sample_id"], rows, questions)


if __name__ == "__main__":
    main()
