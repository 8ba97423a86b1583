"""Servers over one PostgreSQL: how long until what is done at one shows at the other."""

import json
import queue
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import httpx2

from bench.cluster import Cluster, running
from bench.opening import temporary_folder
from bench.report import Row
from bench.serving import SETTINGS, Address, starting

TITLE = "what is done at one server, shown at another"
TIMES_COUNT: Final = 100
WARM_UP_COUNT: Final = 3
"""Changes before it is measured: with its first ones a process loads what it needs."""

MOST_SHOWN_MS: Final = 1_000.0
"""Source: own choice; a person sees a change within a second as the effect of what was done."""

MOST_PAUSE_SECS: Final = 0.4
"""Between two changes, a random part of it, so that they come at any moment between two that a server tells at."""

LOOK_SECS: Final = 0.01
AGENT: Final = "/api/agents/guide"


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Two servers, each a process of its own, over an empty database that waits for the disk."""
    times_count = WARM_UP_COUNT + (10 if is_quick else TIMES_COUNT)
    with running() as cluster, _serving_twice(cluster) as (one, other):
        appended = _measure_events(one, other, times_count)
        changed = _measure_agents(one, other, times_count)
    note = (
        "Two servers of their own processes over one PostgreSQL of the same machine. Timed is from before a request is sent to "
        "one until the other shows its effect: `messages_appended` in an open `/api/stream`, and the instructions of an agent "
        f"in `GET {AGENT}`, asked every {LOOK_SECS * 1e3:.0f} ms. Changes come at random moments."
    )
    return [*_tell("an appended message", appended), *_tell("a changed agent", changed)], [note]


def _tell(what: str, secs: list[float]) -> list[Row]:
    secs = secs[WARM_UP_COUNT:]
    return [
        Row(figure=f"{what} at the other server after, median", value=statistics.median(secs) * 1e3, unit="ms", digits=0),
        Row(figure=f"{what} at the other server after, 95th percentile", value=statistics.quantiles(secs, n=20)[-1] * 1e3, unit="ms", digits=0),
        Row(figure=f"{what} at the other server after, most of {len(secs)}", value=max(secs) * 1e3, unit="ms", most=MOST_SHOWN_MS, digits=0),
    ]  # fmt: skip


@contextmanager
def _serving_twice(cluster: Cluster) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    """Clients of both servers, with one key."""
    with temporary_folder() as folder:
        config = folder / "everfold.toml"
        config.write_text(f'{SETTINGS}\n[store]\nurl = "{cluster.url}"\n', "utf-8")
        with starting(config) as one, starting(config) as other:
            second = Address(url=other.url, secret=one.secret)
            with one.client() as client, second.client() as reader:
                yield client, reader


def _measure_events(one: httpx2.Client, other: httpx2.Client, times_count: int) -> list[float]:
    """The seconds until a reader of the other server's stream is told of a message."""
    path = "/api/sessions/" + one.post("/api/sessions", json={}).raise_for_status().json()["id"]
    with _listening(other) as heard:

        def append() -> None:
            wire = {"role": "user", "content": "Which berth is free?"}
            one.post(f"{path}/messages", json={"messages": [wire]}).raise_for_status()

        return [_time(append, lambda: heard.get(timeout=60)) for _ in range(times_count)]


def _measure_agents(one: httpx2.Client, other: httpx2.Client, times_count: int) -> list[float]:
    """The seconds until the other server gives the new instructions of an agent."""
    return [_change(one, other, f"Answer in {number} words.") for number in range(1, times_count + 1)]


def _change(one: httpx2.Client, other: httpx2.Client, instructions: str) -> float:
    def change() -> None:
        one.patch(f"{AGENT}/config", json={"instructions": instructions}).raise_for_status()

    def wait() -> None:
        while instructions not in other.get(AGENT).text:
            time.sleep(LOOK_SECS)

    return _time(change, wait)


def _time(act: Callable[[], object], wait: Callable[[], object]) -> float:
    time.sleep(random.uniform(0, MOST_PAUSE_SECS))
    begun = time.perf_counter()
    act()
    wait()
    return time.perf_counter() - begun


@contextmanager
def _listening(client: httpx2.Client) -> Iterator["queue.Queue[object]"]:
    """What a stream of a server tells of messages, each put there as it comes."""
    heard: queue.Queue[object] = queue.Queue()
    with client.stream("GET", "/api/stream") as answer:
        lines = answer.iter_lines()
        next(lines)  # it is open now

        def read() -> None:
            with suppress(httpx2.HTTPError):  # it is closed at the end
                for line in lines:
                    if line.startswith("data: ") and "last_seq" in (told := json.loads(line.removeprefix("data: "))):
                        heard.put(told)

        threading.Thread(target=read, daemon=True).start()
        yield heard
