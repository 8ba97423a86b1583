"""Writing: whether anything may have been written within a piece of work, so that a repeat can be decided.

A store says so before each commit. What is only noted beside the work (audits, calls of models, when a key was used) is
not said: it changes nothing that a repeat would do again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Written:
    """What a piece of work has written, with all that was begun within it."""

    commits_count: int = 0


_watched: ContextVar[Written | None] = ContextVar("everfold_written", default=None)


@contextmanager
def watch_writes() -> Iterator[Written]:
    """Within it every commit is counted, on whatever thread."""
    written = Written()
    token = _watched.set(written)
    try:
        yield written
    finally:
        _watched.reset(token)


def note_commit() -> None:
    """Say that something may be written from here on; for what is written outside a store."""
    if (written := _watched.get()) is not None:
        written.commits_count += 1


def find_watched() -> Written | None:
    """What a store counts its commits in; None if the commits are not watched. Read where the work is called."""
    return _watched.get()
