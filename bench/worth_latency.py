"""How long a window with recall takes in a session of 10,000 and of 100,000 messages.

Generated talk is appended in batches to one session at 32,000 tokens, and folded. Then turns are played: a question, the
window (timed, its compactions included), an answer. Every window is the first of its turn, so that recall is made in
each. The log has the word frequencies of a language, so that a question finds common and rare words. Recall reads the
session's own past; `memory` measures it over a user's other sessions and items.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.measuring import Times
from bench.memory_filling import unsynced
from bench.opening import batched, temporary_folder
from bench.recall import Babble
from bench.report import Row
from bench.worth_windows import PLAIN_SETTINGS, RECALL_SETTINGS, USER, Scope, copy_file, open_at
from everfold.testing.kit.fakes import FakeClock

LIMIT_TOKENS: Final = 32_000
MOST_MS: Final = {10_000: 15.0, 100_000: 40.0}
PLAYED_AT: Final = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)
"""After everything in the generated talk."""
TURNS_COUNT: Final = 150
WARM_UP_COUNT: Final = 5
_BATCH_COUNT: Final = 500


def measure_latency(scope: Scope) -> list[Row]:  # noqa: ARG001 - every part has the same signature
    """The window's time at both sizes, without recall and with it."""
    return [row for size in MOST_MS for row in asyncio.run(_measure(size))]


async def _measure(messages_count: int) -> list[Row]:
    with temporary_folder() as folder:
        await _fill(folder / "filled.db", messages_count)
        plain = await _play(copy_file(folder / "filled.db", folder / "plain.db"), PLAIN_SETTINGS)
        recalling = await _play(copy_file(folder / "filled.db", folder / "recall.db"), RECALL_SETTINGS)
    at = f"window at {messages_count:,} messages"
    times, recalled_count = recalling
    return [
        Row(figure=f"{at}, recall off: p95", value=plain[0].p95_us / 1e3, unit="ms"),
        *_recall_rows(f"{at}, with recall", times, MOST_MS.get(messages_count), is_measured=recalled_count > 0),
        Row(figure=f"{at}: windows with something recalled", value=100 * recalled_count / TURNS_COUNT, unit="%", digits=0),
    ]  # fmt: skip


def _recall_rows(at: str, times: Times, most_ms: float | None, *, is_measured: bool) -> list[Row]:
    """The times with recall; none where nothing came back, since such a window shows nothing of its cost."""
    if not is_measured:
        return [Row(figure=at, value="not measured: nothing was recalled")]
    return [
        Row(figure=f"{at}: median", value=times.median_us / 1e3, unit="ms"),
        Row(figure=f"{at}: p95", value=times.p95_us / 1e3, unit="ms", most=most_ms),
        Row(figure=f"{at}: median of processor time", value=times.processor_us / 1e3, unit="ms"),
    ]


async def _fill(path: Path, messages_count: int) -> None:
    """A session with so many messages, folded."""
    with unsynced():
        async with open_at(path, FakeClock(PLAYED_AT), PLAIN_SETTINGS) as engine:
            session = await engine.session(user=USER, limit=LIMIT_TOKENS)
            for turns in batched(Babble(7).talk(messages_count), _BATCH_COUNT):
                wires = [{"role": turn.role, "content": turn.text} for turn in turns]
                await session.append(wires, said_at=turns[-1].said_at)
                await session.window()


async def _play(path: Path, settings: Mapping[str, object]) -> tuple[Times, int]:
    """The times of the windows of some turns, and how many of them recalled something."""
    times, recalled_count, babble = Times(), 0, Babble(8)
    async with open_at(path, FakeClock(PLAYED_AT), settings) as engine:
        session = await engine.session(user=USER, limit=LIMIT_TOKENS)
        for number in range(WARM_UP_COUNT + TURNS_COUNT):
            await session.append({"role": "user", "content": babble.question()})
            timed = times if number >= WARM_UP_COUNT else Times()
            with timed.one():
                window = await session.window()
            recalled_count += number >= WARM_UP_COUNT and any("recall" in line for line in window.report.memory)
            await session.append({"role": "assistant", "content": babble.text(30, 120)})
    return times, recalled_count
