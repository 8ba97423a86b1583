"""What structured memory adds to a window and to a compaction, and what recall costs and brings back.

One file is filled with a user's messages and items, another with the same and many other users. Each side plays the same
talk in a new session over a copy of one of them, a block of turns in turns, so that all of them meet the same moments of
the machine: without memory, with snapshot and delta, and with recall as well.
"""

import asyncio
import shutil
import statistics
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw

import everfold
from bench.material.logs import LogEntry, chat_log
from bench.measuring import Times
from bench.memory_evidence import measure_evidence
from bench.memory_filling import USER, fill_others, fill_user, unsynced
from bench.opening import INLINE_SETTINGS, batched, temporary_folder
from bench.recall import Babble
from bench.report import Row
from everfold.engine import Everfold
from everfold.session import Session

TITLE = "what memory adds to windows and compactions, and what recall brings back"
LIMIT_TOKENS = 32_000
BLOCK_COUNT = 25
NOTE_EVERY = 3
"""Every so many turns memory gains a note from elsewhere, so that the delta is not empty."""

Mode = Literal["off", "snapshot and delta", "recall"]
SETTINGS: Mapping[Mode, Mapping[str, Mapping[str, object]]] = {
    "off": INLINE_SETTINGS,
    "snapshot and delta": {**INLINE_SETTINGS, "memory": {"system": "structured"}},
    "recall": {**INLINE_SETTINGS, "memory": {"system": "structured"}, "recall": {"enabled": True}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured."""

    messages_count: int = 100_000
    items_count: int = 10_000
    others_count: int = 10_000
    turns_count: int = 300
    compactions_count: int = 40


QUICK = Scale(messages_count=10_000, items_count=1_000, others_count=400, turns_count=75, compactions_count=12)


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Windows of every side, compactions on both, and the evidence of LoCoMo."""
    scale = QUICK if is_quick else Scale()
    rows = asyncio.run(_measure_windows(scale))
    rows += asyncio.run(_measure_compactions(scale.compactions_count))
    evidence_rows, notes = measure_evidence(is_quick=is_quick)
    talk = (
        f"Windows: {scale.turns_count} turns of generated talk in a new session at {LIMIT_TOKENS:,} tokens, of a user with "
        f"{scale.messages_count:,} messages and {scale.items_count:,} items; a question of eight words a turn, and a note "
        f"into memory from elsewhere every {NOTE_EVERY} turns. Every window is the first of its turn, so that delta and "
        "recall are made in each, and its compactions are a part of it. Beside others: each has four messages and three "
        "items of the same words."
    )
    folded = (
        f"Compactions: `compact` of {FILLED_COUNT} messages of talk down to 6, which were appended one turn at a time and "
        "shown before, and the window after it, in which the snapshot is made again; both sides in turns."
    )
    return rows + evidence_rows, [talk, folded, *notes]


@dataclass(slots=True, kw_only=True)
class _Side:
    """One engine, and the times of its turns."""

    mode: Mode
    is_crowded: bool = False
    append: Times = field(default_factory=Times)
    window: Times = field(default_factory=Times)
    parts: list[frozenset[str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.mode}, beside others" if self.is_crowded else self.mode

    def share_with(self, part: str) -> float:
        """The share of the windows that show a part of memory."""
        return sum(part in shown for shown in self.parts) / len(self.parts)


async def _measure_windows(scale: Scale) -> list[Row]:
    sides = [
        *(_Side(mode=mode) for mode in SETTINGS),
        *(_Side(mode=mode, is_crowded=True) for mode in SETTINGS if mode != "off"),
    ]
    babble = Babble(7)
    with temporary_folder() as folder:
        alone, crowded = folder / "alone.db", folder / "crowded.db"
        with unsynced():
            await fill_user(alone, babble, messages_count=scale.messages_count, items_count=scale.items_count)
            await fill_others(_copied(alone, crowded), babble, scale.others_count)
        async with AsyncExitStack() as opened:
            players = [
                await opened.enter_async_context(_player(side, crowded if side.is_crowded else alone)) for side in sides
            ]
            talk = list(_make_talk(babble, scale.turns_count))
            for block in batched(talk, BLOCK_COUNT):
                for player in players:
                    await player.play(block)
    return _window_rows(sides, scale)


def _copied(path: Path, target: Path) -> Path:
    """A copy of a database that is not open."""
    shutil.copyfile(path, target)
    return target


@asynccontextmanager
async def _open(path: Path, mode: Mode) -> AsyncIterator[Everfold]:
    async with everfold.open(f"sqlite:///{path}", settings=SETTINGS[mode]) as engine:
        yield engine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A question, its answer, and what memory gains from elsewhere before it."""

    question: str
    answer: str
    note: str | None


def _make_talk(babble: Babble, turns_count: int) -> Iterator[_Turn]:
    for number in range(turns_count):
        note = f"Note {number}: {babble.text(6, 12)}." if number % NOTE_EVERY == 0 else None
        yield _Turn(question=babble.question(), answer=babble.text(30, 120), note=note)


@dataclass(slots=True, kw_only=True)
class _Player:
    """Plays turns in a session of its own."""

    engine: Everfold
    session: Session
    side: _Side

    async def play(self, turns: Sequence[_Turn]) -> None:
        memory = await self.engine.memory(user=USER)
        for turn in turns:
            if turn.note:
                await memory.add(turn.note)
            with self.side.append.one():
                await self.session.append({"role": "user", "content": turn.question})
            with self.side.window.one():
                window = await self.session.window()
            await self.session.append({"role": "assistant", "content": turn.answer})
            self.side.parts.append(frozenset(line.partition(":")[0] for line in window.report.memory))


@asynccontextmanager
async def _player(side: _Side, filled: Path) -> AsyncIterator[_Player]:
    """A player over a copy of a filled file, warmed up by a few turns that are not timed."""
    path = _copied(filled, filled.with_name(f"{side.name}.db"))
    async with _open(path, side.mode) as engine:
        session = await engine.session(beside=True, user=USER, limit=LIMIT_TOKENS)
        for turn in _make_talk(Babble(8), 5):
            await session.append({"role": "user", "content": turn.question})
            await session.window()
            await session.append({"role": "assistant", "content": turn.answer})
        yield _Player(engine=engine, session=session, side=side)


def _window_rows(sides: Sequence[_Side], scale: Scale) -> list[Row]:
    by_name = {side.name: side for side in sides}
    off, on, recall = (by_name[mode] for mode in SETTINGS)
    rows: list[Row] = []
    for side in sides:
        rows += [
            Row(figure=f"window, {side.name}: median", value=side.window.median_us / 1e3, unit="ms"),
            Row(figure=f"window, {side.name}: p95", value=side.window.p95_us / 1e3, unit="ms", most=120.0 if side.mode == "recall" else None),
        ]  # fmt: skip
    rows += [
        Row(figure="window, what snapshot and delta add: p95", value=(on.window.p95_us - off.window.p95_us) / 1e3, unit="ms", most=2.0),
        Row(figure="window, what snapshot and delta add: median", value=(on.window.median_us - off.window.median_us) / 1e3, unit="ms"),
        Row(figure="window, what snapshot and delta add: p95 of processor time", value=_processor_p95_ms(on.window) - _processor_p95_ms(off.window), unit="ms"),
        Row(figure="windows with a delta", value=on.share_with("delta") * 100, unit="%", digits=0),
        Row(figure="windows with recall", value=recall.share_with("recall") * 100, unit="%", digits=0),
        Row(figure="append of a question, off: median", value=off.append.median_us / 1e3, unit="ms"),
        Row(figure="append of a question, snapshot and delta: median", value=on.append.median_us / 1e3, unit="ms"),
    ]  # fmt: skip
    for side in (on, recall):
        crowded = by_name[f"{side.mode}, beside others"]
        figure = f"window, {side.mode}: beside {scale.others_count:,} other users to beside none"
        rows += [
            Row(figure=f"{figure}, median", value=crowded.window.median_us / side.window.median_us, unit="times", most=1.3),
            Row(figure=f"{figure}, p95", value=crowded.window.p95_us / side.window.p95_us, unit="times"),
        ]  # fmt: skip
    return rows


def _processor_p95_ms(times: Times) -> float:
    return statistics.quantiles(times.processor_secs, n=20)[-1] * 1e3


WARM_UP_COUNT = 2
FILLED_COUNT = 120
"""Messages before a compaction: some 17,000 tokens, a little under what triggers one."""


@dataclass(slots=True)
class _Compactions:
    """Times of one side: the compaction, the window after it, and both together."""

    compact: Times = field(default_factory=Times)
    window: Times = field(default_factory=Times)
    both: Times = field(default_factory=Times)


async def _measure_compactions(count: int) -> list[Row]:
    times = {"off": _Compactions(), "on": _Compactions()}
    with temporary_folder() as folder:
        paths = {name: folder / f"{name}.db" for name in times}
        async with _open(paths["off"], "off") as plain, _open(paths["on"], "snapshot and delta") as structured:
            engines = {"off": plain, "on": structured}
            for number in range(count + WARM_UP_COUNT):
                for side, name in enumerate(times if number % 2 else reversed(times)):
                    talk = list(chat_log(100 + 2 * number + side, messages_count=FILLED_COUNT))
                    kept = times[name] if number >= WARM_UP_COUNT else _Compactions()
                    await _compact(engines[name], paths[name], talk, kept)
    off, on = times["off"], times["on"]
    return [
        Row(figure="compaction, off: median", value=off.compact.median_us / 1e3, unit="ms"),
        Row(figure="compaction, on: median", value=on.compact.median_us / 1e3, unit="ms"),
        Row(figure="compaction, on to off", value=on.compact.median_us / off.compact.median_us, unit="times", most=1.1),
        Row(figure="compaction, on to off, processor time", value=on.compact.processor_us / off.compact.processor_us, unit="times"),
        Row(figure="compaction and the window after it, off: median", value=off.both.median_us / 1e3, unit="ms"),
        Row(figure="compaction and the window after it, on: median", value=on.both.median_us / 1e3, unit="ms"),
        Row(figure="compaction and the window after it, on to off", value=on.both.median_us / off.both.median_us, unit="times"),
    ]  # fmt: skip


async def _compact(engine: Everfold, path: Path, entries: Sequence[LogEntry], times: _Compactions) -> None:
    """Say everything in a new session, fold it, and look at the window.

    What is said was never said before: of texts that the process has just folded it remembers what it found.

    The write-ahead log is emptied first: a session writes about as much as makes SQLite do it, so that it would come in
    every compaction of one side and in none of the other.
    """
    session = await engine.session(beside=True, user=USER, limit=LIMIT_TOKENS)
    for batch in batched(entries, 2):
        await session.append([entry.wire for entry in batch], said_at=batch[-1].said_at)
    await session.window()
    _empty_log(path)
    with times.compact.one():
        await session.compact(keep_recent=6)
    with times.window.one():
        await session.window()
    times.both.add(
        times.compact.secs[-1] + times.window.secs[-1],
        times.compact.processor_secs[-1] + times.window.processor_secs[-1],
    )


def _empty_log(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
