"""`everfold serve` as a process of its own."""

import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.forks import Forks, Program

COMMAND = "from everfold.cli.main import run; run()"


@contextmanager
def serving(folder: Path, forks: Forks, *, port: int | None = 0) -> Iterator[tuple[Program, dict[str, Any]]]:
    """A server in a folder, and what it printed when it was ready; without a port it takes the one of the settings."""
    place = [] if port is None else ["--port", str(port)]
    with forks.talking(COMMAND, "serve", "--json", *place, folder=folder) as process:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], "the server ended before it was ready"
        yield process, json.loads("".join(lines))


def test_the_first_start_makes_a_key_and_the_second_does_not(tmp_path: Path, command_forks: Forks) -> None:
    """What a first start prints opens the API, also after a restart, which prints no key; SIGTERM ends it well."""
    with serving(tmp_path, command_forks) as (process, first):
        assert first["address"].startswith("http://127.0.0.1:")
        headers = {"Authorization": f"Bearer {first['api_key']}"}
        who = httpx2.get(first["address"] + "api/me", headers=headers).json()
        assert (who["api_key"]["name"], who["api_key"]["scope"]) == ("first", "admin")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    with serving(tmp_path, command_forks) as (process, second):
        assert second["api_key"] is None
        assert httpx2.get(second["address"] + "api/me", headers=headers).status_code == 200
        assert httpx2.get(second["address"] + "health/ready").json() == {"status": "ok"}
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


@pytest.mark.parametrize("command", ["serve", "gateway", "mcp"])
def test_a_port_in_use_is_told_in_one_line(tmp_path: Path, command_forks: Forks, command: str) -> None:
    """A server that cannot listen says why and what to do, without a traceback, and the first API key is left for the next start."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = command_forks.run(COMMAND, command, "--port", port, folder=tmp_path)
    assert ended.returncode == 2
    assert f"port {port} of 127.0.0.1 is in use; stop what listens there" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    with serving(tmp_path, command_forks) as (process, told):
        assert told["api_key"] is not None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_an_address_that_is_none_here_is_told(tmp_path: Path, command_forks: Forks) -> None:
    """An address of another machine is refused in words, and the first API key is left for the next start."""
    ended = command_forks.run(COMMAND, "serve", "--host", "192.0.2.7", "--port", "0", folder=tmp_path)
    assert ended.returncode == 2
    assert "nothing can listen on port 0 of 192.0.2.7" in ended.stderr.splitlines()[-1]
    assert "choose others with --host and --port" in ended.stderr
