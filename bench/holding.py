"""What a turn waits for while compactions go on: in its own session, and beside two hundred others.

A turn is an append after which the model is asked, and the window. Between two turns the model is thought to answer: the
event loop is free for `THINK_SECS`. The model that writes digests follows a script, and takes its time.
"""

import asyncio
import json
import resource
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import everfold
from bench.material.logs import LogEntry, endless_log
from bench.measuring import Times
from bench.opening import is_request_due, temporary_folder
from bench.report import Row
from everfold.engine import Everfold
from everfold.ports.jobs import Job
from everfold.services.compaction.commit import Committer
from everfold.session import Session

TITLE = "turns while compactions go on"
LIMIT_TOKENS = 32_000
THINK_SECS = 0.03
BUSY_SESSIONS = 200
BUSY_LIMIT_TOKENS = 8_000
MODEL_SECS = 2.0
DUE_RATIO = 0.78
"""Of the limit: above what a compaction that awaits a model's digest begins at, which is 0.80 of what is usable."""
NEAR_COUNT = 8
LEAST_COUNT = 10


@dataclass(slots=True)
class Turns:
    """Turns of one kind: what each took, and how many characters it appended."""

    times: Times = field(default_factory=Times)
    sizes: list[int] = field(default_factory=list)

    def like(self, sizes: Sequence[int]) -> float:
        """The median in microseconds of as many of these turns as there are sizes, each of the nearest size.

        A long message costs more by itself, and is likelier to be the one that fills a window.
        """
        known = sorted(zip(self.sizes, self.times.secs, strict=True))
        matched: list[float] = []
        for size in sizes:
            at = bisect_left(known, (size, 0.0))
            near = known[max(at - NEAR_COUNT, 0) : at + NEAR_COUNT]
            matched.append(statistics.median(secs for _, secs in near))
        return statistics.median(matched) * 1e6


@dataclass(slots=True)
class HoldTimes:
    """Times of turns by what happened in them.

    Attributes:
        plain: Nothing.
        triggering: A compaction came due and was left to the background.
        swapping: The window shows what was committed beside it.
        inline: An extractive digest was committed before the window.
    """

    plain: Turns = field(default_factory=Turns)
    triggering: Turns = field(default_factory=Turns)
    swapping: Turns = field(default_factory=Turns)
    inline: Turns = field(default_factory=Turns)


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Measure, and give rows and notes."""
    return asyncio.run(_run(is_quick=is_quick))


async def _run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    messages_count = 1_500 if is_quick else 3_000
    for name, script in (
        ("no model", None),
        ("a model of 0.2 s", {"digest": "echo", "secs": 0.2}),
        ("a model that never answers", {"fault": "timeout"}),
    ):
        with temporary_folder() as folder:
            times = await _play(folder, script, list(endless_log(7, messages_count=messages_count)))
        rows += _rows(name, times)
    rows += await _run_hooks(10 if is_quick else 40)
    sessions_count = 50 if is_quick else BUSY_SESSIONS
    rows += await _run_busy(sessions_count)
    note = (
        f"endless log (seed 7), {messages_count} messages, {THINK_SECS * 1000:.0f} ms between turns; the busy run has "
        f"{sessions_count} sessions at a limit of {BUSY_LIMIT_TOKENS:,} whose model takes {MODEL_SECS:g} s, and a turn "
        "of another session every 10 ms meanwhile"
    )
    return rows, [note]


def _rows(name: str, times: HoldTimes) -> list[Row]:
    plain = times.plain.times
    figure = f"{name}: plain turn, median of {len(plain.secs)}"
    rows = [Row(figure=figure, value=plain.median_us, unit="µs", digits=0)]
    for kind, most in (("triggering", 1.2), ("swapping", None), ("inline", 3.0)):
        group: Turns = getattr(times, kind)
        if len(group.sizes) < LEAST_COUNT:
            continue
        median_us = group.times.median_us
        figure = f"{name}: {kind} turn, median of {len(group.sizes)}"
        rows.append(Row(figure=figure, value=median_us, unit="µs", digits=0))
        rows.append(Row(figure=f"{name}: {kind} to plain", value=median_us / plain.median_us, unit="times"))
        ratio = median_us / times.plain.like(group.sizes)
        rows.append(Row(figure=f"{name}: {kind} to plain ones of the same size", value=ratio, unit="times", most=most))
    return rows


def _settings(folder: Path, script: object) -> dict[str, dict[str, object]]:
    settings: dict[str, dict[str, object]] = {"compaction": {"synchronous": False}}
    if script is not None:
        path = folder / "model.jsonl"
        path.write_text(json.dumps(script), "utf-8")
        settings["model"] = {"name": f"script:{path}"}
    return settings


async def _play(folder: Path, script: object, entries: Sequence[LogEntry]) -> HoldTimes:
    times = HoldTimes()
    async with everfold.open(f"sqlite:///{folder}/log.db", settings=_settings(folder, script)) as engine:
        session = await engine.session(limit=LIMIT_TOKENS)
        woken = _count_wakes(engine)
        for index, entry in enumerate(entries):
            if not is_request_due(entries, index):
                await session.append(entry.wire, said_at=entry.said_at)
                continue
            before = woken.copy()
            group = Times()
            with group.one():
                await session.append(entry.wire, said_at=entry.said_at)
                window = await session.window()
            reasons = {one.reason for one in window.report.cache_breaks}
            turns = _group_of(times, reasons, woken - before)
            turns.times.add(group.secs[0], group.processor_secs[0])
            turns.sizes.append(len(json.dumps(entry.wire)))
            await asyncio.sleep(THINK_SECS)
        await engine.close(drain_secs=0.0)
    return times


def _count_wakes(engine: Everfold) -> Counter[str]:
    """Counts how often a window left work to the background, and how often it committed a compaction itself."""
    woken: Counter[str] = Counter()
    background = engine._background  # noqa: SLF001 - what a turn left to it cannot be seen from outside
    submit = background.dispatcher.submit

    def counted(job: Job) -> None:
        woken["wakes"] += job.kind == "wake"
        submit(job)

    background.dispatcher.submit = counted  # type: ignore[method-assign]
    commit = Committer.commit

    async def counted_commit(self: Committer, *arguments: Any, **options: Any) -> Any:
        woken["inline"] += not self.is_beside_turns
        return await commit(self, *arguments, **options)

    Committer.commit = counted_commit  # type: ignore[method-assign]
    return woken


def _group_of(times: HoldTimes, reasons: set[str], happened: Counter[str]) -> Turns:
    if happened["inline"]:
        return times.inline
    if reasons:
        return times.swapping
    return times.triggering if happened["wakes"] else times.plain


class _Noting(everfold.Hooks):
    """A plug-in that reads every message that is folded, and gives a hint."""

    async def on_pre_compress(self, fold: everfold.PendingFold) -> str:
        """How much was said."""
        return f"{sum(len(message.view.text) for message in fold.messages)} characters"


async def _run_hooks(sessions_count: int) -> list[Row]:
    """What a plug-in adds to a compaction: the same sessions compacted with and without one, in turns."""
    with temporary_folder() as folder:
        plain, noted = Times(), Times()
        async with AsyncExitStack() as opened:
            engines = [
                await opened.enter_async_context(
                    everfold.open(f"sqlite:///{folder}/{number}.db", settings=_settings(folder, None), hooks=hooks)
                )
                for number, hooks in enumerate(((), (_Noting(),)))
            ]
            for number in range(sessions_count):
                for engine, times in zip(engines, (plain, noted), strict=True):
                    session = await _fill(engine, number)
                    with times.one():
                        await session.compact(keep_recent=6)
    return [
        Row(figure="a compaction without plug-ins: median", value=plain.median_us, unit="µs", digits=0),
        Row(figure="the same with one that reads all messages", value=noted.median_us, unit="µs", digits=0),
        Row(figure="with a plug-in to without", value=noted.median_us / plain.median_us, unit="times", most=1.1),
    ]


async def _run_busy(sessions_count: int) -> list[Row]:
    """Turns of one session while many others compact at once, and while none does."""
    with temporary_folder() as folder:
        script = {"digest": "echo", "secs": MODEL_SECS}
        async with everfold.open(f"sqlite:///{folder}/log.db", settings=_settings(folder, script)) as engine:
            entries = list(endless_log(5, messages_count=4_000))
            others = [await _fill(engine, number) for number in range(sessions_count)]
            session = await engine.session(user="measured", limit=LIMIT_TOKENS)
            quiet, next_index = await _turns(session, entries, seconds=4.0)
            memory_before = _memory_mib()
            started = asyncio.get_running_loop().time()
            for other in others:
                await other.window()
            waiting = asyncio.create_task(_wait_for(others))
            busy, _ = await _turns(session, entries, next_index, until=waiting)
            elapsed = asyncio.get_running_loop().time() - started
            states = await waiting
            done = sum(count for state, count in states.items() if state in {"done", "degraded"})
            rows = [
                Row(figure="quiet: p95 of a turn", value=quiet.p95_us, unit="µs", digits=0),
                Row(
                    figure=f"{sessions_count} sessions compacting: p95 of {len(busy.secs)} turns",
                    value=busy.p95_us,
                    unit="µs",
                    most=max(2 * quiet.p95_us, quiet.p95_us + 5_000),
                    digits=0,
                ),
                Row(figure="all their events done after", value=elapsed, unit="s"),
                Row(figure="events that ended", value=f"{done} of {sum(states.values())}: {dict(states)}"),
                Row(figure="memory that it took more", value=_memory_mib() - memory_before, unit="MiB", digits=0),
            ]
    return rows


async def _fill(engine: Everfold, number: int) -> Session:
    """A session that is due for a compaction and has not asked for its window."""
    session = await engine.session(user=f"user {number}", limit=BUSY_LIMIT_TOKENS)
    for entry in endless_log(100 + number, messages_count=400):
        await session.append(entry.wire, said_at=entry.said_at)
        state = await session.inspect.state()
        if state.safe_sum_tokens > session.settings.limit_tokens * DUE_RATIO:
            return session
    raise RuntimeError("the log is too short to fill the session")


async def _turns(
    session: Session,
    entries: Sequence[LogEntry],
    first: int = 0,
    *,
    seconds: float = 0.0,
    until: asyncio.Task[Counter[str]] | None = None,
) -> tuple[Times, int]:
    """The turns from the entry at `first` until time is up, and the entry that comes next.

    The second call goes on where the first one stopped: a result whose call was left out would be refused.
    """
    times = Times()
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    for index in range(first, len(entries)):
        entry = entries[index]
        if until.done() if until is not None else loop.time() > end:
            return times, index
        if not is_request_due(entries, index):
            await session.append(entry.wire, said_at=entry.said_at)
            continue
        with times.one():
            await session.append(entry.wire, said_at=entry.said_at)
            await session.window()
        await asyncio.sleep(0.01)
    return times, len(entries)


async def _wait_for(sessions: Sequence[Session]) -> Counter[str]:
    """Wait until no event is on its way, and count how they ended."""
    waiting = list(sessions)
    ended: Counter[str] = Counter()
    while waiting:
        await asyncio.sleep(0.25)
        left = []
        for session in waiting:
            events = await session.inspect.compactions()
            if events and all(event.has_ended for event in events):
                ended.update(event.state for event in events)
            else:
                left.append(session)
        waiting = left
    return ended


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
