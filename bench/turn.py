"""What one turn costs: an append and the window after it, beside a hand-written loop over the same tables."""

import asyncio
import cProfile
import io
import json
import pstats
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from bench.measuring import Bindings, Recorder, Times, hooked
from bench.opening import fill, is_request_due, open_engine, temporary_folder
from bench.report import Row
from everfold.core.rendering import render
from everfold.session import Session
from everfold.testing import LogEntry, endless_log

TITLE = "append and window at a limit of 32,000 tokens"
LIMIT_TOKENS = 32_000
SIZES = (1_000, 100_000)
LOOP_BLOCK_COUNT = 100


@dataclass(slots=True)
class TurnTimes:
    """Times of one run.

    Attributes:
        turn: An append and the window after it, where the model would be asked.
        append: Every append alone.
        window: Every window alone.
        render: Every rendering for OpenAI alone.
        request: Everything between two requests: all appends since the last, window and rendering.
        compacting: The windows that compacted.
        loop: A hand-written transaction a message, of the same messages.
        bare_loop: The same without the session's state.
    """

    turn: Times = field(default_factory=Times)
    append: Times = field(default_factory=Times)
    window: Times = field(default_factory=Times)
    render: Times = field(default_factory=Times)
    request: Times = field(default_factory=Times)
    compacting: Times = field(default_factory=Times)
    loop: Times = field(default_factory=Times)
    bare_loop: Times = field(default_factory=Times)


def run(*, is_quick: bool, profile: bool = False) -> tuple[list[Row], list[str]]:
    """Measure at every size, and give rows and notes."""
    sizes = (SIZES[0], 10_000) if is_quick else SIZES
    turns_count = 300 if is_quick else 1_500
    entries = list(endless_log(11, messages_count=turns_count))
    runs = {size: asyncio.run(_measure(size, entries, profile=profile)) for size in sizes}
    rows: list[Row] = []
    for size, times in runs.items():
        rows += _rows(size, times)
    small, large = (runs[size] for size in sizes)
    rows.append(
        Row(
            figure=f"turn, {sizes[1]:,} to {sizes[0]:,} messages in the log",
            value=large.turn.median_us / small.turn.median_us,
            unit="times",
            most=1.3,
        )
    )
    note = (
        f"{len(entries)} messages of the endless log (seed 11) appended one by one; a turn is the append after which the "
        "model is asked, and the window. The loop replays the rows that these appends wrote, with json.loads of each "
        "message, one transaction a message, WAL, synchronous=FULL, on one thread."
    )
    return rows, [note]


def _rows(size: int, times: TurnTimes) -> list[Row]:
    at = f"at {size:,}"
    ratio = times.turn.median_us / times.loop.median_us
    bare = times.turn.median_us / times.bare_loop.median_us
    return [
        Row(figure=f"turn {at}: median", value=times.turn.median_us, unit="µs", most=1000, digits=0),
        Row(figure=f"turn {at}: median of processor time", value=times.turn.processor_us, unit="µs", digits=0),
        Row(figure=f"turn {at}: p95", value=times.turn.p95_us, unit="µs", digits=0),
        Row(figure=f"turn {at}: mean with its compactions", value=times.turn.mean_us, unit="µs", digits=0),
        Row(figure=f"append alone {at}: median", value=times.append.median_us, unit="µs", digits=0),
        Row(figure=f"window alone {at}: median", value=times.window.median_us, unit="µs", digits=0),
        Row(figure=f"rendering for OpenAI {at}: median", value=times.render.median_us, unit="µs", digits=0),
        Row(figure=f"request {at} (all appends, window, rendering): median", value=times.request.median_us, unit="µs", digits=0),
        Row(figure=f"window that compacts {at}: median of {len(times.compacting.secs)}", value=_median(times.compacting), unit="µs", digits=0),
        Row(figure=f"hand-written loop {at}: median", value=times.loop.median_us, unit="µs", digits=0),
        Row(figure=f"hand-written loop {at}: median of processor time", value=times.loop.processor_us, unit="µs", digits=0),
        Row(figure=f"turn to loop {at}", value=ratio, unit="times", most=3.0),
        Row(figure=f"turn to loop without the state row {at}", value=bare, unit="times"),
    ]  # fmt: skip


def _median(times: Times) -> float | str:
    return statistics.median(times.secs) * 1e6 if times.secs else "none"


async def _measure(size: int, entries: Sequence[LogEntry], *, profile: bool) -> TurnTimes:
    times = TurnTimes()
    recorder = Recorder()
    with temporary_folder() as folder:
        path = folder / "turn.db"
        with hooked(recorder.watch):
            async with open_engine(path) as engine:
                session = await engine.session(limit=LIMIT_TOKENS)
                await fill(session, endless_log(5, messages_count=size))
                await session.window()
        # A copy as the log stands, for the loop to write to: the same size of tables and index.
        copy = folder / "loop.db"
        _copy(path, copy)
        with hooked(recorder.watch):
            statements = await _record(_copied(path, folder / "record.db"), entries, recorder)
        loop = _Loop(copy)
        profiler = cProfile.Profile() if profile else None
        async with open_engine(path) as engine:
            session = await engine.session(limit=LIMIT_TOKENS)
            await session.window()
            for start in range(0, len(entries), LOOP_BLOCK_COUNT):
                end = min(start + LOOP_BLOCK_COUNT, len(entries))
                await _turns(session, entries, range(start, end), times, profiler)
                loop.run(statements[start:end], times)
        loop.close()
    if profiler is not None:
        _print_profile(profiler, size)
    return times


def _copied(path: Path, target: Path) -> Path:
    _copy(path, target)
    return target


def _copy(path: Path, target: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    target.write_bytes(path.read_bytes())


async def _turns(
    session: Session, entries: Sequence[LogEntry], indexes: range, times: TurnTimes, profiler: cProfile.Profile | None
) -> None:
    begun = len(times.append.secs)
    watermark = None
    for index in indexes:
        entry = entries[index]
        if profiler:
            profiler.enable()
        with times.append.one():
            await session.append(entry.wire, said_at=entry.said_at)
        if is_request_due(entries, index):
            with times.window.one():
                window = await session.window()
            with times.render.one():
                render(window, "openai")
            _sum_up(times, begun)
            begun = len(times.append.secs)
            if watermark is not None and window.report.watermark != watermark:
                times.compacting.add(times.window.secs[-1], times.window.processor_secs[-1])
            watermark = window.report.watermark
        if profiler:
            profiler.disable()


def _sum_up(times: TurnTimes, begun: int) -> None:
    """The turn that ended now, and the request with everything since the one before."""
    append, window, rendering = times.append, times.window, times.render
    times.turn.add(append.secs[-1] + window.secs[-1], append.processor_secs[-1] + window.processor_secs[-1])
    times.request.add(
        sum(append.secs[begun:]) + window.secs[-1] + rendering.secs[-1],
        sum(append.processor_secs[begun:]) + window.processor_secs[-1] + rendering.processor_secs[-1],
    )


Transaction = list[tuple[str, Bindings]]


async def _record(path: Path, entries: Sequence[LogEntry], recorder: Recorder) -> list[Transaction]:
    """What each append writes, statement by statement; nothing of compactions."""
    transactions: list[Transaction] = []
    async with open_engine(path) as engine:
        session = await engine.session(limit=LIMIT_TOKENS)
        for entry in entries:
            recorder.statements = []
            recorder.is_on = True
            await session.append(entry.wire, said_at=entry.said_at)
            recorder.is_on = False
            transactions.append(
                [(sql, bound) for sql, bound in recorder.statements if not sql.startswith(("BEGIN", "COMMIT"))]
            )
    return transactions


class _Loop:
    """The hand-written loop: one connection, one thread."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._bare = apsw.Connection(str(_copied(path, path.with_name("bare.db"))))
        self._bare.pragma("journal_mode", "wal")
        self._bare.pragma("synchronous", "full")

    def run(self, transactions: Sequence[Transaction], times: TurnTimes) -> None:
        """Write every transaction, first with the state's row, then without."""
        for transaction in transactions:
            with times.loop.one():
                _write(self._connection, transaction)
        for transaction in transactions:
            rows = [(sql, bound) for sql, bound in transaction if "session_states" not in sql]
            with times.bare_loop.one():
                _write(self._bare, rows)

    def close(self) -> None:
        """Close both."""
        self._connection.close()
        self._bare.close()


def _write(connection: apsw.Connection, transaction: Transaction) -> None:
    execute = connection.execute
    execute("BEGIN IMMEDIATE")
    for sql, bound in transaction:
        if isinstance(bound, tuple):
            json.loads(bound[-1])
        execute(sql, bound).fetchall()
    execute("COMMIT")


def _print_profile(profiler: cProfile.Profile, size: int) -> None:
    out = io.StringIO()
    stats = pstats.Stats(profiler, stream=out)
    stats.sort_stats("tottime").print_stats(28)
    print(f"\nWhere the time goes at {size:,} messages (this thread; the store's threads are under `lock.acquire`)")
    print(out.getvalue())
