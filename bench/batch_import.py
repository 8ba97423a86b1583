"""Importing whole conversations: LoCoMo turns in batches, on one core, beside `executemany` of the same rows."""

import asyncio
import cProfile
import os
import pstats
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from bench.measuring import Bindings, Recorder, Times, hooked
from bench.opening import batched, open_engine, temporary_folder
from bench.report import DATA, Row
from bench.transcripts.reading import read_transcript
from everfold.core.log.transcripts import TranscriptMessage
from everfold.services.sessions.append import append_once, read_incoming
from everfold.session import Session

TITLE = "LoCoMo turns in batches, on one core"
MESSAGES_COUNT = 20_000
QUICK_COUNT = 5_000
BATCH_COUNT = 1_000
RUNS_COUNT = 3


def run(*, is_quick: bool, profile: bool = False) -> tuple[list[Row], list[str]]:
    """Import into new files, several times, and write the same rows with `executemany`."""
    path = DATA / "locomo-dev.json"
    if not path.exists():
        return [Row(figure="import", value="not measured: no EVERFOLD_DATA with locomo-dev.json")], []
    messages = list(repeat_turns(path, QUICK_COUNT if is_quick else MESSAGES_COUNT))
    imports, plain = Times(), Times()
    with one_core():
        rows = asyncio.run(_record(messages))
        for _ in range(RUNS_COUNT):
            asyncio.run(_import(messages, imports))
            _write_plainly(rows, plain)
        if profile:
            _profile(messages)
    rate = len(messages) / statistics.median(imports.secs)
    ratio = statistics.median(imports.secs) / statistics.median(plain.secs)
    note = (
        f"{len(messages):,} messages (four conversations, again and again) into a new file, {BATCH_COUNT} a transaction, "
        "with everything that an append does; reading the file is left out. executemany writes the same rows and search "
        "rows in as many transactions, ready made."
    )
    return [
        Row(figure="import", value=rate, unit="messages/s", least=7_000, digits=0),
        Row(figure="import, by processor time", value=len(messages) / statistics.median(imports.processor_secs), unit="messages/s", digits=0),
        Row(figure="executemany of the same rows", value=len(messages) / statistics.median(plain.secs), unit="messages/s", digits=0),
        Row(figure="import to executemany", value=ratio, unit="times"),
        Row(figure="import, a message", value=1e6 / rate, unit="µs", digits=0),
    ], [note]  # fmt: skip


@contextmanager
def one_core() -> Iterator[None]:
    """Everything inside runs on one core, where the system can do that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def repeat_turns(path: Path, count: int) -> Iterator[TranscriptMessage]:
    """The turns of all conversations of a file, from the beginning again until there are enough."""
    conversations = read_transcript(path).conversations
    left_count = count
    while left_count:
        for conversation in conversations:
            for message in conversation.messages[:left_count]:
                yield message
                left_count -= 1


async def append_batch(session: Session, batch: list[TranscriptMessage]) -> None:
    """Append messages as an import does: each with its own time."""
    incoming = [
        read_incoming(message.wire, said_at=message.said_at or session.record.created_at, wire_format="openai")
        for message in batch
    ]
    await append_once(session._store, session._live, incoming)  # noqa: SLF001 - what an import calls


async def _import(messages: list[TranscriptMessage], times: Times) -> None:
    with temporary_folder() as folder:
        async with open_engine(folder / "import.db") as engine:
            session = await engine.session()
            with times.one():
                for batch in batched(messages, BATCH_COUNT):
                    await append_batch(session, batch)


def _profile(messages: list[TranscriptMessage]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    asyncio.run(_import(messages, Times()))
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(35)


Rows = dict[str, list[Bindings]]


async def _record(messages: list[TranscriptMessage]) -> list[Rows]:
    """The rows of messages and of the index that an import writes, a transaction each."""
    recorder = Recorder()
    written: list[Rows] = []
    with temporary_folder() as folder, hooked(recorder.watch):
        async with open_engine(folder / "record.db") as engine:
            session = await engine.session()
            for batch in batched(messages, BATCH_COUNT):
                recorder.statements, recorder.is_on = [], True
                await append_batch(session, batch)
                recorder.is_on = False
                rows: Rows = {}
                for sql, bound in recorder.statements:
                    if sql.startswith("INSERT"):
                        rows.setdefault(sql, []).append(bound)
                written.append(rows)
    return written


def _write_plainly(transactions: list[Rows], times: Times) -> None:
    with temporary_folder() as folder:
        path = folder / "plain.db"
        asyncio.run(_make_empty(path))
        connection = apsw.Connection(str(path))
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        with times.one():
            for rows in transactions:
                connection.execute("BEGIN IMMEDIATE")
                for sql, bindings in rows.items():
                    for _ in connection.executemany(sql, bindings):
                        pass
                connection.execute("COMMIT")
        connection.close()


async def _make_empty(path: Path) -> None:
    async with open_engine(path) as engine:
        await engine.session()
