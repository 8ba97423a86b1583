"""What a turn takes over PostgreSQL and over SQLite: the same talk, a block of turns on each in turns."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field

import everfold
from bench.cluster import Cluster
from bench.material.logs import LogEntry, chat_log, endless_log
from bench.measuring import Times
from bench.memory_filling import unsynced
from bench.opening import batched, fill, is_request_due, temporary_folder
from bench.report import Row
from everfold.session import Session

LIMIT_TOKENS = 32_000
FILLED_COUNT = 1_000
BLOCK_COUNT = 50
MOST_RATIO = {False: 4.0, True: 2.5}
"""How many times SQLite's turn one over PostgreSQL may take: without waiting for the disk, and with."""
MOST_MEDIAN_MS = 5.0

Settings = Mapping[str, Mapping[str, object]]


@dataclass(slots=True, kw_only=True)
class _Side:
    """One store, and the times of its turns."""

    session: Session
    times: Times = field(default_factory=Times)

    async def play(self, entries: Sequence[LogEntry], indexes: range) -> None:
        """Append each message alone, and take the window where the model would be asked; both together are a turn."""
        for index in indexes:
            append, window = Times(), Times()
            with append.one():
                await self.session.append(entries[index].wire, said_at=entries[index].said_at)
            if not is_request_due(entries, index):
                continue
            with window.one():
                await self.session.window()
            self.times.add(append.secs[0] + window.secs[0], append.processor_secs[0] + window.processor_secs[0])


async def measure_turns(cluster: Cluster, settings: Settings, messages_count: int) -> list[Row]:
    """Turns of both stores, without waiting for the disk and with it."""
    has_memory = "memory" in settings
    log = chat_log if has_memory else endless_log
    before, entries = list(log(5, messages_count=FILLED_COUNT)), list(log(11, messages_count=messages_count))
    rows: list[Row] = []
    for waits in (False, True):
        cluster.wait_for_disk(is_on=waits)
        sqlite, postgres = await _play(cluster.url, settings, before, entries, waits=waits)
        at = f"turn, {'with' if waits else 'without'} disk wait{', memory and recall on' if has_memory else ''}"
        rows += [
            Row(figure=f"{at}: SQLite, median", value=sqlite.median_us / 1e3, unit="ms"),
            Row(figure=f"{at}: PostgreSQL, median", value=postgres.median_us / 1e3, unit="ms", most=None if has_memory else MOST_MEDIAN_MS),
            Row(figure=f"{at}: PostgreSQL, 95th percentile", value=postgres.p95_us / 1e3, unit="ms"),
            Row(figure=f"{at}: PostgreSQL to SQLite", value=postgres.median_us / sqlite.median_us, unit="times", most=MOST_RATIO[waits]),
        ]  # fmt: skip
    return rows


async def _play(
    url: str,
    settings: Settings,
    before: Sequence[LogEntry],
    entries: Sequence[LogEntry],
    *,
    waits: bool,
) -> tuple[Times, Times]:
    """The times of both, which alternate by blocks."""
    with temporary_folder() as folder, nullcontext() if waits else unsynced():
        async with AsyncExitStack() as opened:
            sides = [
                await opened.enter_async_context(_opened(store, settings, before))
                for store in (f"sqlite:///{folder / 'turn.db'}", url)
            ]
            for indexes in batched(range(len(entries)), BLOCK_COUNT):
                for side in sides:
                    await side.play(entries, range(indexes[0], indexes[-1] + 1))
    return sides[0].times, sides[1].times


@asynccontextmanager
async def _opened(url: str, settings: Settings, before: Sequence[LogEntry]) -> AsyncIterator[_Side]:
    """A side whose session has what was said before."""
    async with everfold.open(url, settings=settings) as engine:
        session = await engine.session(user=str(uuid.uuid4()), limit=LIMIT_TOKENS)
        await fill(session, before)
        await session.window()
        yield _Side(session=session)
