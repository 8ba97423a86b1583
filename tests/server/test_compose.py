"""The compose file of PostgreSQL, with a container engine: `make containers` runs this, and needs its ports to be free."""

import asyncio
import json
import os
import re
import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
import pytest
from tests.server.processes import SECS
from tests.server.talking import Talk

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif("CONTAINERS" not in os.environ, reason="needs a container engine; `make containers` runs it"),
]
PROJECT: Final = Path(__file__).resolve().parents[2]
PROJECT_NAME: Final = "everfold-check"
ADDRESSES: Final = ("http://127.0.0.1:8420", "http://127.0.0.1:8421")
Compose = Callable[..., str]


def write_override(folder: Path) -> Path:
    """A second compose file that gives servers and workers a scripted model."""
    script = folder / "script.jsonl"
    script.write_text(json.dumps({"digest": "echo"}) + "\n", "utf-8")
    environment = {"EVERFOLD_MODEL__NAME": "script:/model.jsonl", "EVERFOLD_MODEL__CONTEXT_LIMIT": "8000"}
    service = {"environment": environment, "volumes": [f"{script}:/model.jsonl:ro"]}
    override = folder / "override.yaml"
    override.write_text(json.dumps({"services": dict.fromkeys(("server-1", "server-2", "worker"), service)}), "utf-8")
    return override


@contextmanager
def composing(folder: Path) -> Iterator[Compose]:
    """Build and start what the compose file names, wait until all of it is healthy, and take everything away again."""
    files = ("-f", str(PROJECT / "compose.postgres.yaml"), "-f", str(write_override(folder)))
    environment = {**os.environ, "POSTGRES_PASSWORD": secrets.token_hex(16)}

    def compose(*arguments: str) -> str:
        command = ["docker", "compose", "--project-name", PROJECT_NAME, *files, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        compose("up", "--build", "--wait")
        yield compose
    finally:
        compose("down", "--volumes")


def kill_containers(*names: str) -> None:
    """End containers at once, whatever they do."""
    for name in names:
        subprocess.run(["docker", "kill", f"{PROJECT_NAME}-{name}"], check=True, capture_output=True)


def list_containers(compose: Compose) -> dict[str, tuple[str, int]]:
    """The state and the exit code of each container, by its name without the project."""
    rows = [json.loads(line) for line in compose("ps", "--all", "--format", "json").splitlines()]
    return {row["Name"].removeprefix(f"{PROJECT_NAME}-"): (row["State"], row["ExitCode"]) for row in rows}


async def test_two_servers_and_two_workers_go_on_without_one_of_each(tmp_path: Path) -> None:
    """Requests go to either server, digests are written by workers, and neither a killed server nor a worker loses any."""
    with composing(tmp_path) as compose:
        (secret,) = re.findall(r"shown once: (\S+)", compose("logs", "--no-log-prefix", "server-1", "server-2"))
        headers = {"Authorization": f"Bearer {secret}"}
        clients = [httpx2.AsyncClient(base_url=one, headers=headers, timeout=SECS) for one in ADDRESSES]
        made = await clients[0].post("/api/sessions", json={"user": "default", "agent": "guide"})
        talk = Talk(clients[1], made.json()["id"])
        while not (written := [one for one in await talk.compactions() if one["digest_kind"] == "abstractive"]):
            talk.client = clients[len(talk.wires) % 2]
            await talk.say()
            await asyncio.sleep(0.05)
        kill_containers("server-1-1", "worker-1")
        talk.client = clients[1]
        while talk.wires:
            await talk.say()
        found = await talk.until("done", "ready")  # a written digest may wait for a cache break
        assert len([one for one in found if one["digest_kind"] == "abstractive"]) > len(written)
        assert len((await talk.get("messages?limit=1000"))["messages"]) == 240
        assert (await talk.get("verify"))["problems"] == []
        for client in clients:
            await client.aclose()
        compose("stop")
        ended = list_containers(compose)
        assert ended["server-2-1"] == ended["worker-2"] == ("exited", 0)
