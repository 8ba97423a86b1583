"""A server that leaves its work to workers, all as processes of their own over one PostgreSQL."""

import json
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from tests.forks import Forks
from tests.server.processes import SECS, Process, starting
from tests.server.talking import Talk

from everfold.adapters.dispatch.queue import JobQueue
from everfold.ports.dispatch import DoJob
from everfold.server.opening import open_runtime
from everfold.server.working import work

pytestmark = pytest.mark.anyio
SETTINGS: Final = """\
[store]
url = "{url}"

[model]
name = "script:{script}"
context_limit = 8000

[compaction]
lease_secs = 2.0

[recovery]
every_secs = 0.5
grace_secs = 0.5

[workers]
heartbeat_secs = 0.3
"""
SERVE: Final = ("serve", "--no-work", "--port", "0")


def configure(folder: Path, url: str, name: str, step: Mapping[str, object], *, more: str = "") -> Path:
    """The settings of a process whose model does this at each call, and what more is set."""
    script = folder / f"{name}.jsonl"
    script.write_text(json.dumps(step) + "\n", "utf-8")
    config = folder / f"{name}.toml"
    config.write_text(SETTINGS.format(url=url, script=script) + more, "utf-8")
    return config


@asynccontextmanager
async def talking(server: Process) -> AsyncIterator[Talk]:
    """A new conversation with a server."""
    async with server.client() as client:
        made = await client.post("/api/sessions", json={"user": "default", "agent": "guide"})
        assert made.status_code == 201, made.text
        yield Talk(client, made.json()["id"])


async def test_a_worker_goes_on_where_another_was_killed(
    tmp_path: Path, database_url: str, command_forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server leaves to workers is done by them; of one that is killed within a job another takes over, once."""
    monkeypatch.delenv("EVERFOLD_COMPACTION__SYNCHRONOUS")
    writes = configure(tmp_path, database_url, "writes", {"digest": "echo"})
    hangs = configure(tmp_path, database_url, "hangs", {"digest": "echo", "secs": SECS})
    with starting(writes, command_forks, *SERVE) as server:
        async with talking(server) as talk:
            while not await talk.count_jobs("todo"):
                await talk.say()
            assert all(one["attempts"] == 0 for one in await talk.compactions())  # nothing is done by the server
            with starting(hangs, command_forks, "worker") as dying:
                [held] = await talk.until("running")
                with starting(writes, command_forks, "worker") as living:
                    dying.kill()
                    [done] = await talk.until("done")
                    assert (done["id"], done["digest_kind"], done["attempts"]) == (held["id"], "abstractive", 2)
                    while talk.wires:
                        await talk.say()
                    _, *others = await talk.until("done", "ready")  # a written digest may wait for a cache break
                    assert len(others) > 2
                    assert all(one["attempts"] <= 1 for one in others)  # none was begun beside its first attempt
                    assert living.stop() == 0
            assert (await talk.get("verify"))["problems"] == []
            assert await talk.count_jobs("doing") == 0


@pytest.mark.parametrize("given", [None, 5])
async def test_the_settings_reach_a_worker(
    database_url: str, monkeypatch: pytest.MonkeyPatch, given: int | None
) -> None:
    """A worker works as the settings say, but for the concurrency that its command names, until SIGTERM."""
    seen: list[dict[str, object]] = []

    async def note(_: JobQueue, do: DoJob, **options: object) -> None:
        del do
        seen.append(options)

    monkeypatch.setattr(JobQueue, "work", note)
    options = {"concurrency": 3, "heartbeat_secs": 0.7, "drain_secs": 1.5}
    async with open_runtime(database_url, settings={"workers": {"enabled": True, **options}}) as runtime:
        await work(
            runtime,
            host="127.0.0.1",
            port=0,
            concurrency=given,
            on_ready=lambda _: signal.raise_signal(signal.SIGTERM),
        )
    assert seen == [{**options, "concurrency": given or 3}]
