"""`everfold demo --serve` as a process of its own."""

import json
import signal
from pathlib import Path
from typing import Any

import httpx2
from tests.cli.commands.test_serve import COMMAND
from tests.forks import Forks


def serve_demo(folder: Path, forks: Forks) -> list[dict[str, Any]]:
    """The sessions that the demo serves from a folder, asked with the API key that it prints."""
    with forks.talking(COMMAND, "demo", "--serve", "--json", "--no-open", "--port", "0", folder=folder) as process:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(process.stdout.readline())
            assert lines[-1], "the server ended before it was ready"
        told = json.loads("".join(lines))
        headers = {"Authorization": f"Bearer {told['api_key']}"}
        sessions = httpx2.get(told["address"] + "api/sessions", headers=headers).json()["sessions"]
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        return sessions  # type: ignore[no-any-return]  # JSON


def test_the_demo_is_served_again_as_it_was(tmp_path: Path, command_forks: Forks) -> None:
    """The first start loads two sessions without a model; the second serves the same ones, with a new API key."""
    first = serve_demo(tmp_path, command_forks)
    assert sorted(one["messages_count"] for one in first) == [12, 482]
    assert serve_demo(tmp_path, command_forks) == first
    assert {path.name for path in (tmp_path / "demo").iterdir()} >= {"everfold.db", "everfold.toml"}
