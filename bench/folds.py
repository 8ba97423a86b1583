"""What one extractive fold costs in processor time, in real transcripts and in generated logs."""

import asyncio
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

import everfold
import everfold.services.compaction.commit as committing
from bench.material.demo import demo_log
from bench.material.logs import LogEntry, chat_log, coding_log, endless_log
from bench.opening import is_request_due
from bench.report import DATA, Row
from bench.transcripts.reading import read_transcript
from everfold.core.compaction.folding import Fold, fold_stepwise
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.planning import CompactionPlan
from everfold.core.digests.drafts import Draft
from everfold.core.digests.pools import RollupPool
from everfold.core.log.messages import Note
from everfold.core.primitives.stepwise import Steps
from everfold.core.text.tokens import estimate_text_tokens

TITLE = "one extractive fold, in processor time"
MOST_MS = 5.0
"""What a fold may keep the event loop from other sessions' turns."""

_BEGAN_AT = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)
_TRANSCRIPTS = (("locomo-dev.json", 16_000), ("tau-airline-dev.jsonl", 4_500), ("coding-dev.json", 4_000))
_QUICK_MESSAGES_COUNT = 600


@dataclass(slots=True)
class FoldTimes:
    """Processor time of each fold of some logs, and of estimating the text of what it folded once."""

    fold_secs: list[float] = field(default_factory=list)
    text_secs: list[float] = field(default_factory=list)
    folded_counts: list[int] = field(default_factory=list)

    def list_rows(self, name: str) -> list[Row]:
        """The figures of these folds."""
        if not self.fold_secs:
            return [Row(figure=f"fold, {name}", value="not measured: nothing was folded")]
        of = f"fold, {name} ({len(self.fold_secs)} folds of {statistics.median(self.folded_counts):.0f} messages)"
        last = statistics.quantiles(self.fold_secs, n=20)[-1] if len(self.fold_secs) > 1 else self.fold_secs[0]
        return [
            Row(figure=f"{of}: median", value=statistics.median(self.fold_secs) * 1e3, unit="ms", most=MOST_MS),
            Row(figure=f"{of}: p95", value=last * 1e3, unit="ms"),
            Row(
                figure=f"{of}: to estimating the folded text once",
                value=sum(self.fold_secs) / max(sum(self.text_secs), 1e-9),
                unit="times",
                digits=1,
            ),
        ]


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Play every log into a session of its own, and give rows and notes."""
    rows: list[Row] = []
    for name, limit_tokens in _TRANSCRIPTS:
        if not (DATA / name).exists():
            rows.append(Row(figure=f"fold, {name}", value=f"not measured: no EVERFOLD_DATA with {name}"))
            continue
        times = FoldTimes()
        for log in islice(_read_logs(name), 6 if is_quick else None):
            asyncio.run(_play(log, limit_tokens, times))
        rows += times.list_rows(f"{name} at {limit_tokens:,}")
    for name, limit_tokens, log in _make_logs(is_quick=is_quick):
        times = FoldTimes()
        asyncio.run(_play(log, limit_tokens, times))
        rows += times.list_rows(f"{name} at {limit_tokens:,}")
    note = (
        "Every log is appended message by message into memory, with a window before each message of the assistant; the "
        "time is that of `fold_stepwise` alone, which runs in the event loop, digests, standing instructions and certificate included. "
        "The ratio is of all folds to the token estimate of the messages that they folded."
    )
    return rows, [note]


def _read_logs(name: str) -> Iterator[list[LogEntry]]:
    for conversation in read_transcript(DATA / name).conversations:
        yield [
            LogEntry(wire={**message.wire}, said_at=message.said_at or _BEGAN_AT, label="talk")
            for message in conversation.messages
        ]


def _make_logs(*, is_quick: bool) -> Iterator[tuple[str, int, list[LogEntry]]]:
    count = _QUICK_MESSAGES_COUNT if is_quick else 4 * _QUICK_MESSAGES_COUNT
    for limit_tokens in (16_000, 32_000):
        yield "endless log", limit_tokens, list(endless_log(11, messages_count=count))
    yield "chat log", 16_000, list(chat_log(3, messages_count=count // 2))
    yield "coding log", 16_000, list(coding_log(4, turns_count=count // 30))
    yield "demo", 16_000, demo_log().entries


async def _play(log: Sequence[LogEntry], limit_tokens: int, times: FoldTimes) -> None:
    async with everfold.open("memory://", settings={}) as engine:
        session = await engine.session(limit=limit_tokens)
        with _timed(log, times):
            for index, entry in enumerate(log):
                await session.append(entry.wire, said_at=entry.said_at)
                if is_request_due(log, index):
                    await session.window()


@contextmanager
def _timed(log: Sequence[LogEntry], times: FoldTimes) -> Iterator[None]:
    """Time every fold inside, and the estimate of what it folds."""

    def fold_timed(
        plan: CompactionPlan,
        layout: Layout,
        notes: Mapping[int, Note],
        pool: RollupPool | None,
        *,
        compaction_id: str,
        draft: Draft | None = None,
    ) -> Steps[Fold]:
        texts = [str(log[seq - 1].wire.get("content") or "") for seq in plan.folded]
        started = time.process_time()
        for text in texts:
            estimate_text_tokens(text)
        times.text_secs.append(time.process_time() - started)
        times.folded_counts.append(len(plan.folded))
        spent = 0.0
        steps = fold_stepwise(plan, layout, notes, pool, compaction_id=compaction_id, draft=draft)
        while True:
            started = time.process_time()
            try:
                next(steps)
            except StopIteration as done:
                times.fold_secs.append(spent + time.process_time() - started)
                folded: Fold = done.value
                return folded
            spent += time.process_time() - started
            yield

    name = "fold_stepwise"
    setattr(committing, name, fold_timed)
    try:
        yield
    finally:
        setattr(committing, name, fold_stepwise)
