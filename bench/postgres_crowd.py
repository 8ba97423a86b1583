"""Many sessions that talk at once, from one process and from several, over PostgreSQL and over SQLite."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from bench.cluster import Cluster
from bench.measuring import Times
from bench.opening import temporary_folder
from bench.report import ROOT, Row

LEAST_RATIO = {1: 2.0, 4: 1.0}
"""How many times SQLite's turns a second there must be over PostgreSQL, by processes."""
MOST_P95_RATIO = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How many talk, and how long."""

    sessions_count: int = 200
    turns_count: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    turns_per_sec: float
    times: Times
    worked_ms: float
    """Processor time of a turn: of the processes that talk, and of PostgreSQL where it is asked."""


def measure_crowd(cluster: Cluster, crowd: Crowd) -> list[Row]:
    """All sessions at once, from one process and from four; with waiting for the disk, as a server does, and without."""
    rows: list[Row] = []
    for waits in (True, False):
        cluster.wait_for_disk(is_on=waits)
        for processes_count, least in LEAST_RATIO.items():
            with temporary_folder() as folder:
                sqlite = _run(
                    f"sqlite:///{folder / 'crowd.db'}", crowd, processes_count, waits=waits, served_secs=lambda: 0.0
                )
            postgres = _run(cluster.url, crowd, processes_count, waits=waits, served_secs=cluster.processor_secs)
            at = f"{crowd.sessions_count} sessions from {processes_count} process{'es' if processes_count > 1 else ''}, {'with' if waits else 'without'} disk wait"
            rows += [
                Row(figure=f"{at}: SQLite", value=sqlite.turns_per_sec, unit="turns/s", digits=0),
                Row(figure=f"{at}: PostgreSQL", value=postgres.turns_per_sec, unit="turns/s", digits=0),
                Row(figure=f"{at}: PostgreSQL to SQLite", value=postgres.turns_per_sec / sqlite.turns_per_sec, unit="times", least=least if waits else None),
                Row(figure=f"{at}: processor time of a turn, SQLite", value=sqlite.worked_ms, unit="ms"),
                Row(figure=f"{at}: processor time of a turn, PostgreSQL with its server", value=postgres.worked_ms, unit="ms"),
                Row(figure=f"{at}: SQLite, 95th percentile of a turn", value=sqlite.times.p95_us / 1e3, unit="ms", digits=0),
                Row(figure=f"{at}: PostgreSQL, 95th percentile of a turn", value=postgres.times.p95_us / 1e3, unit="ms", digits=0),
                Row(figure=f"{at}: 95th percentiles, PostgreSQL to SQLite", value=postgres.times.p95_us / sqlite.times.p95_us, unit="times", most=MOST_P95_RATIO if waits else None),
            ]  # fmt: skip
    return rows


def _run(url: str, crowd: Crowd, processes_count: int, *, waits: bool, served_secs: Callable[[], float]) -> _Found:
    """Start the processes, let all begin at once, and put together what they tell; `served_secs` is what a server has worked so far."""
    command = [sys.executable, "-m", "bench.postgres_side", url, str(crowd.sessions_count // processes_count), str(crowd.turns_count)]  # fmt: skip
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "BENCH_UNSYNCED": "" if waits else "1",
    }
    with ExitStack() as started:
        processes = [
            started.enter_context(
                subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
            )
            for _ in range(processes_count)
        ]  # fmt: skip
        for process in processes:
            assert process.stdout is not None
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError("a process ended before it was ready")
        served = served_secs()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        found = [json.loads(process.stdout.readline()) for process in processes if process.stdout]
        served = served_secs() - served
    times = Times()
    for one in found:
        for secs in one["secs"]:
            times.add(secs, 0.0)
    spent = max(one["ended"] for one in found) - min(one["begun"] for one in found)
    worked = served + sum(one["worked"] for one in found)
    return _Found(turns_per_sec=len(times.secs) / spent, times=times, worked_ms=1e3 * worked / len(times.secs))
