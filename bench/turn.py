"""What one turn costs: an append and the window after it, beside a hand-written loop over the same tables."""

import asyncio
import cProfile
import io
import json
import pstats
import shutil
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from bench.material.logs import LogEntry, endless_log
from bench.measuring import Bindings, Recorder, Times, hooked
from bench.opening import fill, is_request_due, open_engine, temporary_folder
from bench.report import Row
from bench.turn_against import compare
from everfold.adapters.sqlite.connection import add_functions
from everfold.core.windows.rendering import render
from everfold.session import Session

TITLE = "append and window at a limit of 32,000 tokens"
LIMIT_TOKENS = 32_000
SIZES = (1_000, 100_000)
BLOCK_COUNT = 50
_PRAGMAS = (
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("foreign_keys", 1),
    ("secure_delete", 1),
    ("temp_store", "memory"),
    ("cache_size", -16_000),
)
"""Those of `adapters/sqlite/connection.py`."""


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
        loop: A hand-written transaction for each message that ends a turn.
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


def run(*, is_quick: bool, profile: bool = False, against: Path | None = None) -> tuple[list[Row], list[str]]:
    """Measure at every size, and beside another everfold where one is named; give rows and notes."""
    sizes = (SIZES[0], 10_000) if is_quick else SIZES
    turns_count = 300 if is_quick else 1_500
    entries = list(endless_log(11, messages_count=turns_count))
    runs = asyncio.run(_measure(sizes, entries, profile=profile))
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
    rows.append(
        Row(
            figure=f"turn, {sizes[1]:,} to {sizes[0]:,} messages in the log, processor time",
            value=large.turn.processor_us / small.turn.processor_us,
            unit="times",
        )
    )
    note = (
        f"{len(entries)} messages of the endless log (seed 11) appended one by one; a turn is the append after which the "
        "model is asked, and the window. The loop replays the rows that these appends wrote, with json.loads of each "
        "message, one transaction a message, WAL, synchronous=FULL, on one thread."
    )
    if against is None:
        return rows, [note]
    before = list(endless_log(5, messages_count=SIZES[0]))
    compared, compared_note = compare(against, before, entries, limit_tokens=LIMIT_TOKENS)
    return [*rows, *compared], [note, compared_note]


def _rows(size: int, times: TurnTimes) -> list[Row]:
    at = f"at {size:,}"
    ratio = times.turn.median_us / times.loop.median_us
    bare = times.turn.median_us / times.bare_loop.median_us
    return [
        Row(figure=f"turn {at}: median", value=times.turn.median_us, unit="µs", digits=0),
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
        Row(figure=f"turn to loop {at}", value=ratio, unit="times"),
        Row(figure=f"turn to loop without the state row {at}", value=bare, unit="times"),
    ]  # fmt: skip


def _median(times: Times) -> float | str:
    return statistics.median(times.secs) * 1e6 if times.secs else "none"


@dataclass(slots=True, kw_only=True)
class _Stage:
    """A log of one size: the engine's file, and the loop with what it writes."""

    size: int
    path: Path
    loop: "_Loop"
    transactions: "list[Transaction]"
    times: TurnTimes = field(default_factory=TurnTimes)


async def _measure(sizes: Sequence[int], entries: Sequence[LogEntry], *, profile: bool) -> dict[int, TurnTimes]:
    """Every size, a block of messages in turns, so that all of them meet the same moments of the machine."""
    profiler = cProfile.Profile() if profile else None
    with temporary_folder() as folder:
        folders = [_made(folder / str(size)) for size in sizes]
        stages = [await _prepare(size, own, entries) for size, own in zip(sizes, folders, strict=True)]
        async with AsyncExitStack() as opened:
            sessions: list[Session] = []
            for stage in stages:
                engine = await opened.enter_async_context(open_engine(stage.path))
                sessions.append(await engine.session(limit=LIMIT_TOKENS))
                await sessions[-1].window()
            for start in range(0, len(entries), BLOCK_COUNT):
                block = range(start, min(start + BLOCK_COUNT, len(entries)))
                for stage, session in zip(stages, sessions, strict=True):
                    await _turns(session, entries, block, stage.times, profiler)
                    stage.loop.run(stage.transactions[block.start : block.stop], stage.times)
        for stage in stages:
            stage.loop.close()
    if profiler is not None:
        _print_profile(profiler)
    return {stage.size: stage.times for stage in stages}


async def _prepare(size: int, folder: Path, entries: Sequence[LogEntry]) -> _Stage:
    """A log of this size, a copy of it for the loop, and what the entries will write."""
    path, recorder = folder / "turn.db", Recorder()
    async with open_engine(path) as engine:
        session = await engine.session(limit=LIMIT_TOKENS)
        await fill(session, endless_log(5, messages_count=size))
        await session.window()
    loop = _Loop(_copied(path, folder / "loop.db"))
    with hooked(recorder.watch):
        transactions = await _record(_copied(path, folder / "record.db"), entries, recorder)
    return _Stage(size=size, path=path, loop=loop, transactions=transactions)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _copied(path: Path, target: Path) -> Path:
    """A copy of a database that is not written to."""
    connection = apsw.Connection(str(path))
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    shutil.copyfile(path, target)
    return target


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
            if watermark is not None and window.report.compacted_through != watermark:
                times.compacting.add(times.window.secs[-1], times.window.processor_secs[-1])
            watermark = window.report.compacted_through
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """What one append wrote: the message's JSON as it came, and every statement with its bindings.

    `is_turn` tells that the model is asked after it, so that the loop is timed over the messages that turns are.
    """

    is_turn: bool
    content: bytes
    statements: list[tuple[str, Bindings]]


async def _record(path: Path, entries: Sequence[LogEntry], recorder: Recorder) -> list[Transaction]:
    """What each append writes, statement by statement; nothing of compactions."""
    transactions: list[Transaction] = []
    async with open_engine(path) as engine:
        session = await engine.session(limit=LIMIT_TOKENS)
        for index, entry in enumerate(entries):
            recorder.statements = []
            recorder.is_on = True
            await session.append(entry.wire, said_at=entry.said_at)
            recorder.is_on = False
            written = [(sql, bound) for sql, bound in recorder.statements if not sql.startswith(("BEGIN", "COMMIT"))]
            content = json.dumps(entry.wire).encode()
            is_turn = is_request_due(entries, index)
            transactions.append(Transaction(is_turn=is_turn, content=content, statements=written))
    return transactions


class _Loop:
    """The hand-written loop: one connection, one thread."""

    def __init__(self, path: Path) -> None:
        self._bare = _open_plainly(_copied(path, path.with_name("bare.db")))
        self._connection = _open_plainly(path)

    def run(self, transactions: Sequence[Transaction], times: TurnTimes) -> None:
        """Write every transaction, first with the state's row, then without; time those that a turn is timed for."""
        for transaction in transactions:
            with (times.loop if transaction.is_turn else Times()).one():
                _write(self._connection, transaction.content, transaction.statements)
        for transaction in transactions:
            rows = [(sql, bound) for sql, bound in transaction.statements if "session_states" not in sql]
            with (times.bare_loop if transaction.is_turn else Times()).one():
                _write(self._bare, transaction.content, rows)

    def close(self) -> None:
        """Close both."""
        self._connection.close()
        self._bare.close()


def _open_plainly(path: Path) -> apsw.Connection:
    """A connection with the engine's own pragmas, and the functions that its statements call."""
    connection = apsw.Connection(str(path))
    add_functions(connection)
    for name, value in _PRAGMAS:
        connection.pragma(name, value)
    return connection


def _write(connection: apsw.Connection, content: bytes, statements: Sequence[tuple[str, Bindings]]) -> None:
    execute = connection.execute
    json.loads(content)
    execute("BEGIN IMMEDIATE")
    for sql, bound in statements:
        execute(sql, bound).fetchall()
    execute("COMMIT")


def _print_profile(profiler: cProfile.Profile) -> None:
    out = io.StringIO()
    stats = pstats.Stats(profiler, stream=out)
    stats.sort_stats("tottime").print_stats(28)
    print("\nWhere the time goes (this thread; waiting for the store's threads is under `poll`)")
    print(out.getvalue())
