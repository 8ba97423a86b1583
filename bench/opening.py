"""Engines over files of their own, and logs put into them."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

import everfold
from bench.material.logs import LogEntry
from everfold.engine import Everfold
from everfold.session import Session

T = TypeVar("T")

BARE_SETTINGS: Mapping[str, Mapping[str, object]] = {
    "model": {"answer_tokens": 0},
    "compaction": {"suffix_ratio": 0.0, "synchronous": True},
    "recall": {"enabled": False},
}
"""No room for an answer and no dynamic suffix: the limit is the budget."""

INLINE_SETTINGS: Mapping[str, Mapping[str, object]] = {
    "compaction": {"synchronous": True},
    "recall": {"enabled": False},
}
"""Compactions are a part of the window that they are due in, so that a turn is timed alone; `holding` has them beside.
Recall is measured by itself, in `memory` and `worth`."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder on the disk that holds temporary files, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="everfold-bench-") as folder:
        yield Path(folder)


@asynccontextmanager
async def open_engine(path: Path, *, is_bare: bool = False) -> AsyncIterator[Everfold]:
    """An engine over a file, with default settings or bare ones; no settings file is read."""
    async with everfold.open(f"sqlite:///{path}", settings=BARE_SETTINGS if is_bare else INLINE_SETTINGS) as engine:
        yield engine


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


async def fill(session: Session, entries: Iterable[LogEntry], *, batch_count: int = 500) -> None:
    """Append a generated log in batches."""
    for batch in batched(entries, batch_count):
        await session.append([entry.wire for entry in batch], said_at=batch[-1].said_at)


def is_request_due(entries: Sequence[LogEntry], index: int) -> bool:
    """Whether the model would be asked after this entry: the next one is the assistant's."""
    return index + 1 < len(entries) and entries[index + 1].wire["role"] == "assistant"
