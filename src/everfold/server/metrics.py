"""Metrics: the figures that a monitor scrapes.

What a store knows is asked for at each scrape; what only this process knows is counted as it happens. Each server has a
registry of its own, so that two in one process do not meet.

Source: REQUIREMENTS U-144; the naming practices of Prometheus: base units, `_total` for counters.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from everfold.core.observation.events import (
    CompactionCommitted,
    CompactionDegraded,
    DreamEnded,
    Event,
    EventsDropped,
    ExtractionEnded,
    HookFailed,
    ModelCalled,
    SourceAsked,
)
from everfold.core.observation.overview import sum_usd
from everfold.engine import Everfold
from everfold.ports.system import Clock

MEDIA_TYPE: Final = CONTENT_TYPE_LATEST
_SECS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
"""From a cached read to a compaction that waits for a model."""

_WAITING_STATES: Final = ("pending", "running", "ready")


class Metrics:
    """The figures of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "everfold_http_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self._request_secs = Histogram(
            "everfold_http_request_seconds",
            "From a request to the beginning of its answer.",
            ("method", "route"),
            buckets=_SECS,
            registry=registry,
        )
        self._compactions = Counter(
            "everfold_compactions", "Compactions in force.", ("trigger", "generator"), registry=registry
        )
        self._saved = Counter(
            "everfold_saved_tokens", "Tokens that compactions took out of windows.", registry=registry
        )
        self._folded = Counter("everfold_folded_messages", "Messages that compactions folded.", registry=registry)
        self._degraded = Counter(
            "everfold_degraded_compactions", "Compactions that a person must retry.", registry=registry
        )
        self._calls = Counter(
            "everfold_model_calls", "Calls of models beside the turns.", ("purpose", "outcome"), registry=registry
        )
        self._hooks = Counter("everfold_hook_failures", "Calls of plug-ins that failed.", ("hook",), registry=registry)
        self._extractions = Counter(
            "everfold_extractions", "Passes over messages that are in memory.", ("written_by",), registry=registry
        )
        self._found = Counter(
            "everfold_extracted_items", "Items that extractions found.", ("written_by",), registry=registry
        )
        self._dreams = Counter("everfold_dreams", "Dreams that ended.", ("state", "generator"), registry=registry)
        self._sources = Counter("everfold_sources_asked", "Context sources asked.", ("outcome",), registry=registry)
        self._dropped = Counter("everfold_events_dropped", "Events that were not counted.", registry=registry)
        self._open = Gauge(
            "everfold_open_compactions", "Compactions that wait, or failed.", ("state",), registry=registry
        )
        self._oldest = Gauge(
            "everfold_oldest_pending_compaction_seconds",
            "For how long the oldest compaction has waited.",
            registry=registry,
        )
        self._jobs = Gauge("everfold_jobs", "Jobs that were left to workers.", ("state",), registry=registry)
        self._users = Gauge("everfold_users", "Users in the store.", registry=registry)
        self._sessions = Gauge("everfold_sessions", "Sessions in the store.", registry=registry)
        self._spent = Gauge("everfold_spent_today_usd", "What models cost since midnight UTC.", registry=registry)

    def count_request(self, method: str, route: str, status: int, elapsed_secs: float) -> None:
        """Count an answer that has begun."""
        self._requests.labels(method, route, str(status)).inc()
        self._request_secs.labels(method, route).observe(elapsed_secs)

    def count(self, event: Event) -> None:
        """Count what the engine did."""
        match event:
            case CompactionCommitted(report=report, generator=generator):
                self._compactions.labels(report.trigger, generator).inc()
                self._saved.inc(max(0, report.tokens_before - report.tokens_after))
                self._folded.inc(report.folded_count)
            case CompactionDegraded():
                self._degraded.inc()
            case ModelCalled(purpose=purpose, error_code=error_code):
                self._calls.labels(purpose, error_code or "answered").inc()
            case HookFailed(hook=hook):
                self._hooks.labels(hook).inc()
            case ExtractionEnded(written_by=written_by, found_count=found_count):
                self._extractions.labels(written_by).inc()
                self._found.labels(written_by).inc(found_count)
            case DreamEnded(state=state, generator=generator):
                self._dreams.labels(state, generator).inc()
            case SourceAsked(outcome=outcome):
                self._sources.labels(outcome).inc()
            case EventsDropped(dropped_count=dropped_count):
                self._dropped.inc(dropped_count)
            case _:
                pass

    async def show(self, engine: Everfold, clock: Clock) -> bytes:
        """All figures now, as Prometheus reads them."""
        counts = await engine.admin.count_work()
        waiting = dict(counts.waiting)
        for state in _WAITING_STATES:
            self._open.labels(state).set(waiting.get(state, 0))
        self._open.labels("degraded").set(counts.degraded_count)
        self._oldest.set(counts.oldest_secs(clock.now()))
        for state, jobs_count in (await engine.admin.count_jobs()).items():
            self._jobs.labels(state).set(jobs_count)
        self._users.set(counts.users_count)
        self._sessions.set(counts.sessions_count)
        self._spent.set(sum_usd(await engine.admin.spent_today()))
        return generate_latest(self.registry)


@asynccontextmanager
async def watch(metrics: Metrics, engine: Everfold) -> AsyncIterator[None]:
    """Count what an engine does, for as long as this is open."""
    events = engine.events()

    async def count() -> None:
        async for event in events:
            metrics.count(event)

    task = asyncio.get_running_loop().create_task(count(), name="everfold metrics")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
