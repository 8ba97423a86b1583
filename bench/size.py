"""What a store takes beside the text that was said: real conversations, with structured memory, table by table."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import apsw

import everfold
from bench.opening import temporary_folder
from bench.report import DATA, Row
from bench.transcripts.reading import read_transcript
from everfold.core.log.transcripts import Conversation
from everfold.core.log.wire import read_wire
from everfold.testing.kit.fakes import FakeClock

TITLE = "what a store takes, to its text"
LIMIT_TOKENS = 16_000
SETTINGS: Mapping[str, Mapping[str, object]] = {
    "model": {"answer_tokens": 0},
    "compaction": {"synchronous": True},
    "memory": {"system": "structured"},
}
MOST_TIMES = 6.0
LEAST_BYTES = 200_000
"""Of less text the tables themselves, at a page each, are the most; it is told, and has no target."""
SETS: Mapping[str, Sequence[str]] = {
    "LoCoMo": ("locomo-dev.json",),
    "coding agents": (
        "agents/claude-code-worktree-status-shim.json",
        "agents/mini-swe-pytest-6197.json",
        "agents/aider-chat-617.json",
        "agents/openhands-ponyc-1.json",
        "agents/swe-agent-pydicom-1458.json",
        "agents/tau-bench-airline-33.json",
    ),
    "companions": ("agents/memorybank-frank.json", "agents/memorybank-susan.json", "agents/memorybank-cn-1.json"),
}
PARTS: Mapping[str, Sequence[str]] = {
    "messages": ("messages",),
    "search index of messages": ("message_index",),
    "compactions and digests": ("compactions", "digests"),
    "memory": ("item", "topic", "dream", "extractions", "memory_"),
}


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Play each set into a file of its own; of a quick run the first conversation of each."""
    rows: list[Row] = []
    with temporary_folder() as folder:
        for name, files in SETS.items():
            if not all((DATA / file).exists() for file in files):
                rows.append(Row(figure=f"{name}: file to text", value="not measured: no EVERFOLD_DATA with its files"))
                continue
            conversations = [one for file in files for one in read_transcript(DATA / file).conversations]
            path = folder / f"{name}.db"
            text_bytes = asyncio.run(_play(path, conversations[:1] if is_quick else conversations))
            rows += _measure(path, name, text_bytes)
        asyncio.run(_play(folder / "empty.db", []))
        empty_bytes = (folder / "empty.db").stat().st_size
    note = (
        f"Each conversation in a session of its own at {LIMIT_TOKENS:,} tokens, a message at a time, with a window before "
        "each answer, structured memory and recall. The text is what can be read in the messages, calls and results "
        "included, in UTF-8; the file is the database after the engine was closed. Parts are whole pages, indexes included."
    )
    return [*rows, Row(figure="a file without a message", value=empty_bytes / 1e3, unit="kB", digits=0)], [note]


async def _play(path: Path, conversations: Sequence[Conversation]) -> int:
    """Play conversations into a new file; gives the bytes of their text."""
    clock, text_bytes = FakeClock(), 0
    async with everfold.open(f"sqlite:///{path}", settings=SETTINGS, clock=clock) as engine:
        for number, conversation in enumerate(conversations):
            session = await engine.session(beside=True, user=f"user {number}", limit=LIMIT_TOKENS)
            for message in conversation.messages:
                clock.set(message.said_at or clock.now() + timedelta(seconds=20))
                if message.wire["role"] == "assistant":
                    await session.window()
                await session.append(message.wire, wire_format=message.wire_format)
                view = read_wire(message.wire, wire_format=message.wire_format)
                text_bytes += len(view.text.encode("utf-8", "surrogatepass"))
    return text_bytes


def _measure(path: Path, name: str, text_bytes: int) -> Iterator[Row]:
    connection = apsw.Connection(str(path))
    sizes = connection.execute(
        "SELECT coalesce(tbl_name, stored.name), sum(pgsize) FROM dbstat AS stored "
        "LEFT JOIN sqlite_schema AS known ON known.name = stored.name GROUP BY 1"
    ).fetchall()
    connection.close()
    most = MOST_TIMES if text_bytes > LEAST_BYTES else None
    yield Row(figure=f"{name}: text", value=text_bytes / 1e3, unit="kB", digits=0)
    yield Row(figure=f"{name}: file to text", value=path.stat().st_size / text_bytes, unit="times", most=most)
    for part, beginnings in PARTS.items():
        held_bytes = sum(size for table, size in sizes if table.startswith(tuple(beginnings)))
        yield Row(figure=f"{name}: {part} to text", value=held_bytes / text_bytes, unit="times")
