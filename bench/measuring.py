"""Time, and what a database is told to do, measured from outside the engine."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

Bindings = Any
"""What stands for the marks of a statement: a sequence, or values by name, or None."""


@dataclass(slots=True)
class Times:
    """Seconds of single calls: by the clock, and of the processors under all threads of this process."""

    secs: list[float] = field(default_factory=list)
    processor_secs: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Time what is inside."""
        processor, started = time.process_time(), time.perf_counter()
        yield
        self.add(time.perf_counter() - started, time.process_time() - processor)

    def add(self, secs: float, processor_secs: float) -> None:
        """Take what was timed elsewhere."""
        self.secs.append(secs)
        self.processor_secs.append(processor_secs)

    @property
    def processor_us(self) -> float:
        """Median of the processors' microseconds: without waiting for the disk or for other programs."""
        return statistics.median(self.processor_secs) * 1e6

    @property
    def median_us(self) -> float:
        """Median in microseconds."""
        return statistics.median(self.secs) * 1e6

    @property
    def mean_us(self) -> float:
        """Mean in microseconds."""
        return statistics.fmean(self.secs) * 1e6

    @property
    def p95_us(self) -> float:
        """95th percentile in microseconds."""
        return statistics.quantiles(self.secs, n=20)[-1] * 1e6


@contextmanager
def hooked(hook: Callable[[apsw.Connection], None]) -> Iterator[None]:
    """Show every database connection that is opened inside to `hook`."""
    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


class RowCounter:
    """Counts the rows that queries give. Use `watch` as a connection hook."""

    def __init__(self) -> None:
        self.rows_count = 0
        self._queries: set[tuple[int, object]] = set()

    def watch(self, connection: apsw.Connection) -> None:
        """Count the rows of this connection; those of a virtual table's own statements are left out."""
        connection.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_ROW, self._count, id=self)

    def _count(self, event: dict[str, object]) -> None:
        if event.get("trigger"):
            return
        key = (id(event["connection"]), event["id"])
        if event["code"] == apsw.SQLITE_TRACE_ROW:
            self.rows_count += key in self._queries
        elif str(event["sql"]).lstrip().upper().startswith("SELECT"):
            self._queries.add(key)
        else:
            self._queries.discard(key)


@dataclass(slots=True)
class Recorder:
    """Keeps every statement that writes, with its bindings, while `is_on`. Use `watch` as a connection hook.

    What the store puts off and does behind its answers is left out.
    """

    is_on: bool = False
    statements: list[tuple[str, Bindings]] = field(default_factory=list)

    def watch(self, connection: apsw.Connection) -> None:
        """Record this connection."""
        connection.exec_trace = self._keep

    def _keep(self, _cursor: object, sql: str, bindings: Bindings) -> bool:
        if self.is_on and not sql.lstrip().upper().startswith(("SELECT", "PRAGMA")) and "'merge'" not in sql:
            self.statements.append((sql, bindings))
        return True
