"""What a compaction costs the workers and the database, with one worker, two and four."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import psycopg

import everfold
from bench.cluster import Cluster
from bench.material.logs import endless_log
from bench.opening import temporary_folder
from bench.report import Row
from everfold.engine import Everfold
from everfold.session import Session

LIMIT_TOKENS = 8_000
AT_ONCE_COUNT = 20
"""Messages that are appended in one batch, before any is due."""
WORKERS = (1, 2, 4)
WARM_UP_COUNT = 3
"""Compactions for each worker before it is measured: with its first ones a process loads what it needs."""

SETTINGS = """\
[store]
url = "{url}"

[model]
name = "script:{script}"
context_limit = {limit}

[workers]
enabled = true
"""
COUNT_DONE = "SELECT count(*) FROM compactions WHERE state = 'done' AND key > %s"
COUNT_WAITING = "SELECT count(*) FROM everfold_jobs.procrastinate_jobs"


async def measure_work(cluster: Cluster, *, sessions_count: int) -> list[Row]:
    """As many sessions with a compaction due for each number of workers; a model answers at once with quotes."""
    rows: list[Row] = []
    rates: dict[int, float] = {}
    cluster.wait_for_disk(is_on=True)
    for workers_count in WORKERS:
        with temporary_folder() as folder, ExitStack() as started:
            config = _configure(folder, cluster.url)
            await _make_due(cluster.url, folder, WARM_UP_COUNT * workers_count)
            workers = [started.enter_context(_worker(config)) for _ in range(workers_count)]
            after = _find_last(cluster.url)
            _halt(workers, cluster.url)
            await _make_due(cluster.url, folder, sessions_count)
            rates[workers_count], worker_ms, server_ms = _work(cluster, workers, sessions_count, after)
        at = f"{workers_count} worker{'s' if workers_count > 1 else ''}"
        rows += [
            Row(figure=f"compactions a second, {at}", value=rates[workers_count], digits=1),
            Row(figure=f"a compaction, {at}: processor time of the workers", value=worker_ms, unit="ms", digits=1),
            Row(figure=f"a compaction, {at}: processor time of PostgreSQL", value=server_ms, unit="ms", digits=1),
        ]
    rows += [
        Row(figure=f"compactions a second, {more} workers to {less}", value=rates[more] / rates[less], unit="times")
        for less, more in pairwise(WORKERS)
    ]
    return rows


def _configure(folder: Path, url: str) -> Path:
    script, config = folder / "digests.jsonl", folder / "everfold.toml"
    script.write_text(json.dumps({"digest": "echo"}) + "\n", "utf-8")
    config.write_text(SETTINGS.format(url=url, script=script, limit=LIMIT_TOKENS), "utf-8")
    return config


def _find_last(url: str) -> int:
    with psycopg.connect(url) as connection:
        return int(connection.execute("SELECT coalesce(max(key), 0) FROM compactions").fetchall()[0][0])


async def _make_due(url: str, folder: Path, sessions_count: int) -> None:
    """Talk in each session until a compaction is left to the workers."""
    settings: Mapping[str, Mapping[str, object]] = {
        "model": {"name": f"script:{folder / 'digests.jsonl'}", "context_limit": LIMIT_TOKENS},
        "recall": {"enabled": False},
        "workers": {"enabled": True},
    }
    async with everfold.open(url, settings=settings) as engine:
        for number in range(sessions_count):
            await _talk_until_due(engine, await engine.session(user=str(uuid.uuid4())), number)


async def _talk_until_due(engine: Everfold, session: Session, number: int) -> None:
    before = (await engine.admin.count_jobs())["todo"]
    wires = [entry.wire for entry in endless_log(number, messages_count=200)]
    await session.append(wires[:AT_ONCE_COUNT])
    for wire in wires[AT_ONCE_COUNT:]:
        await session.append(wire)
        await session.window()
        await engine._background.dispatcher.join()  # noqa: SLF001 - a job is put into the queue behind the answer
        if (await engine.admin.count_jobs())["todo"] > before:
            return
    raise RuntimeError("nothing became due")


def _halt(workers: Sequence["subprocess.Popen[str]"], url: str) -> None:
    """Let the workers finish what waits, and stop them where they are."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(COUNT_WAITING).fetchall() != [(0,)]:
            connection.execute("SELECT pg_sleep(0.2)")
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)


def _work(
    cluster: Cluster, workers: Sequence["subprocess.Popen[str]"], sessions_count: int, after: int
) -> tuple[float, float, float]:
    """Compactions a second from when all go on, and the milliseconds of processors for each: of the workers, and of the server."""
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        worked, served = sum(_processor_secs(one.pid) for one in workers), cluster.processor_secs()
        begun = time.perf_counter()
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
        while int(connection.execute(COUNT_DONE, (after,)).fetchall()[0][0]) < sessions_count:
            connection.execute("SELECT pg_sleep(0.02)")
        spent = time.perf_counter() - begun
    worked = sum(_processor_secs(one.pid) for one in workers) - worked
    served = cluster.processor_secs() - served
    return sessions_count / spent, worked * 1e3 / sessions_count, served * 1e3 / sessions_count


@contextmanager
def _worker(config: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process of `everfold worker`, once it says that it is at work."""
    command = [sys.executable, "-m", "everfold.cli.main", "--config", str(config), "worker"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout or ():
            if "http://" in line:
                break
        else:
            raise RuntimeError("the worker ended before it was ready")
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(60)
        if process.stdout:
            process.stdout.close()


def _processor_secs(process_id: int) -> float:
    """What the processors have worked for a process, over all of its threads."""
    told = Path(f"/proc/{process_id}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in told) / 1e9
