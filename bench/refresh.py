"""What context sources cost a turn: after a gap, on a cadence, and while none is asked."""

import asyncio
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import apsw

import everfold
from bench.measuring import Times, hooked
from bench.opening import temporary_folder
from bench.report import Row
from everfold.engine import Everfold
from everfold.ports.jobs import Job
from everfold.session import Session
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import FakeClock, FakeSource

TITLE = "context refreshes: turns that wait for sources, and turns that do not"
SOURCE_SECS = (0.05, 0.1, 0.15)
LIMIT_TOKENS = 32_000
INTERVAL = 5
THINK_SECS = 0.04
BESIDE: Mapping[str, object] = {"synchronous": False, "turn_backstop": 100_000, "row_window": 100_000}
"""Work is done beside the turns, and nothing is due for the number of messages alone."""


@dataclass(slots=True)
class Played:
    """One engine's session and its turns: plain ones, those that set off a refresh, and those that first show one."""

    engine: Everfold
    session: Session
    submitted: list[str]
    plain: Times = field(default_factory=Times)
    firing: Times = field(default_factory=Times)
    showing: Times = field(default_factory=Times)
    every: Times = field(default_factory=Times)


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Measure, and give rows and notes."""
    rows = asyncio.run(_run_gap(10 if is_quick else 60))
    rows += asyncio.run(_run_cadence(200 if is_quick else 1_500))
    rows += asyncio.run(_run_off(60 if is_quick else 400))
    slow = ", ".join(f"{secs * 1000:.0f}" for secs in SOURCE_SECS)
    note = (
        f"three sources that wait {slow} ms and then say a line; cadence every {INTERVAL} exchanges, {THINK_SECS * 1000:.0f} "
        "ms between turns, the engines' turns in turns"
    )
    return rows, [note]


def _make_sources() -> list[FakeSource]:
    return [FakeSource(name=f"call://s{number}", secs=secs) for number, secs in enumerate(SOURCE_SECS)]


async def _run_gap(rounds_count: int) -> list[Row]:
    """Turns after a gap, which is met in the append, beside the slowest source asked alone in the same round."""
    windows, slowest, quiet = Times(), Times(), Times()
    clock, sources = FakeClock(), _make_sources()
    settings = {"compaction": {**BESIDE, "gap_secs": 600.0, "enabled": False}}
    with temporary_folder() as folder:
        async with everfold.open(f"sqlite:///{folder}/a.db", clock=clock, settings=settings, sources=sources) as engine:
            session = await engine.session(limit=LIMIT_TOKENS)
            for number in range(rounds_count):
                for away, times in ((timedelta(minutes=1), quiet), (timedelta(hours=1), windows)):
                    clock.advance(away)
                    with times.one():
                        await session.append(user(f"Question {number}: is the boat painted?"))
                        await session.window()
                    await session.append(assistant("It is."))
                now = clock.now()
                with slowest.one():
                    await sources[-1].summary("", from_at=now, to_at=now, budget_tokens=100)
    return [
        Row(figure="turn without a gap: median", value=quiet.median_us / 1e3, unit="ms"),
        Row(figure="slowest of three sources alone: median", value=slowest.median_us / 1e3, unit="ms", digits=1),
        Row(figure="turn after a gap: median", value=windows.median_us / 1e3, unit="ms", digits=1),
        Row(figure="turn after a gap: p95", value=windows.p95_us / 1e3, unit="ms", digits=1),
        Row(
            figure="turn after a gap to the slowest source",
            value=windows.median_us / slowest.median_us,
            unit="times",
            most=1.1,
        ),
    ]


async def _run_cadence(turns_count: int) -> list[Row]:
    """Turns of four engines in turns: with and without sources, where a cadence only refreshes and where it folds too."""
    cadence = {**BESIDE, "continuous_interval": INTERVAL}
    kinds = [
        ({**BESIDE, "enabled": False}, []),  # its log grows as that of the one which only refreshes
        ({**cadence, "enabled": False}, _make_sources()),
        (cadence, []),
        (cadence, _make_sources()),
    ]
    with temporary_folder() as folder:
        async with AsyncExitStack() as opened:
            engines = [
                await _open(opened, f"{folder}/{number}.db", settings, sources)
                for number, (settings, sources) in enumerate(kinds)
            ]
            for number in range(turns_count):
                first = number % len(engines)
                for played in (*engines[first:], *engines[:first]):
                    await _turn(played, number)
                    await asyncio.sleep(THINK_SECS / len(engines))
    plain, refreshing, folding, both = engines
    rows = [
        Row(
            figure=f"turn without a cadence: median of {turns_count}",
            value=plain.every.median_us,
            unit="µs",
            digits=0,
        )
    ]
    rows += _compare("a cadence that refreshes", refreshing, plain.every, plain.every)
    figure = f"a cadence that compacts, no sources: every turn, median of {turns_count}"
    rows.append(Row(figure=figure, value=folding.every.median_us, unit="µs", digits=0))
    rows += _compare("one that compacts and refreshes", both, folding.every, folding.firing)
    return rows


def _compare(name: str, played: Played, every: Times, firing: Times) -> list[Row]:
    """Rows of one engine's turns beside those of the same without sources."""
    rows: list[Row] = []
    for kind, times, beside, most in (
        ("firing turn", played.firing, firing, 1.1),
        ("every turn", played.every, every, None),
    ):
        figure = f"{name}: {kind}, median of {len(times.secs)}"
        rows.append(Row(figure=figure, value=times.median_us, unit="µs", digits=0))
        ratio = times.median_us / beside.median_us
        rows.append(Row(figure=f"{name}: {kind} to the same without", value=ratio, unit="times", most=most))
    figure = f"{name}: turn that first shows it, median of {len(played.showing.secs)}"
    return [*rows, Row(figure=figure, value=played.showing.median_us, unit="µs", digits=0)]


async def _open(
    opened: AsyncExitStack, path: str, compaction: Mapping[str, object], sources: Sequence[FakeSource]
) -> Played:
    engine = await opened.enter_async_context(
        everfold.open(f"sqlite:///{path}", settings={"compaction": compaction}, sources=sources)
    )
    dispatcher = engine._background.dispatcher  # noqa: SLF001 - what a turn left to it cannot be seen from outside
    submitted: list[str] = []
    submit = dispatcher.submit

    def noted(job: Job) -> None:
        submitted.append(job.name)
        submit(job)

    dispatcher.submit = noted  # type: ignore[method-assign]
    return Played(engine=engine, session=await engine.session(limit=LIMIT_TOKENS), submitted=submitted)


async def _turn(played: Played, number: int) -> None:
    """A question, its window and the answer, timed: a cadence begins with the answer."""
    played.submitted.clear()
    processor, started = time.process_time(), time.perf_counter()
    await played.session.append(user(f"Question {number}: is the boat painted?"))
    window = await played.session.window()
    await played.session.append(assistant("It is."))
    took = time.perf_counter() - started, time.process_time() - processor
    is_firing = played.session.id in played.submitted
    times = played.firing if is_firing else played.showing if window.report.cache_breaks else played.plain
    for one in (times, played.every):
        one.add(*took)


async def _run_off(turns_count: int) -> list[Row]:
    """How many statements a turn makes: without sources, with some that no occasion asks, and with occasions far off."""
    kinds: Sequence[tuple[str, Mapping[str, object], Sequence[FakeSource]]] = (
        ("without sources", {}, ()),
        ("with sources, no occasion", {}, _make_sources()),
        (
            "with sources, both occasions far off",
            {"gap_secs": 86_400.0, "continuous_interval": 100_000},
            _make_sources(),
        ),
    )
    means = {name: await _count_statements(turns_count, extra, sources) for name, extra, sources in kinds}
    rows = [Row(figure=f"statements a turn {name}: mean", value=mean) for name, mean in means.items()]
    base, *others = means.values()
    return [*rows, Row(figure="statements a turn that sources add", value=max(others) - base, most=0)]


async def _count_statements(turns_count: int, extra: Mapping[str, object], sources: Sequence[FakeSource]) -> float:
    counts: list[int] = []
    statements: list[str] = []

    def keep(_cursor: object, sql: str, _bindings: object) -> bool:
        statements.append(sql)
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = keep

    settings = {"compaction": {**BESIDE, "synchronous": True, **extra}}
    with temporary_folder() as folder, hooked(watch):
        async with everfold.open(f"sqlite:///{folder}/a.db", settings=settings, sources=sources) as engine:
            session = await engine.session(limit=LIMIT_TOKENS)
            for number in range(turns_count):
                statements.clear()
                await session.append(user(f"Question {number}: is the boat painted?"))
                await session.window()
                counts.append(len(statements))
                await session.append(assistant("It is."))
    return statistics.fmean(counts[1:])
