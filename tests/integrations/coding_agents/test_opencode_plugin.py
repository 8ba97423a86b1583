"""The plugin for opencode, run by Node: what it writes of a conversation, whose messages a stand-in for opencode tells."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from everfold.integrations.coding_agents.connecting import connect
from everfold.integrations.coding_agents.connection import find_path

NODE = shutil.which("node")
IDLE = """
import { readFileSync } from "node:fs"
const [plugin, messages] = process.argv.slice(2)
const { Everfold } = await import(plugin)
const data = JSON.parse(readFileSync(messages, "utf8"))
const session = { get: async () => ({ data: {} }), messages: async () => ({ data }) }
const { event } = await Everfold({ client: { session } })
await event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
process.exit() // the plugin's own deadlines are still awaited
"""
"""Tells the plugin that a conversation of these messages is idle."""

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node")


@pytest.fixture
def plugin(home: Path) -> Path:
    """The plugin as `everfold connect` writes it, with no daemon that listens and none to start."""
    connected = connect("opencode", user="ada", agent=None, url=f"sqlite:///{home / 'e.db'}", config=None)
    path = find_path("opencode")
    path.write_text(json.dumps({**json.loads(path.read_text()), "python": "true"}))
    (written,) = connected.files
    return Path(written).rename(home / "everfold.mjs")


def write(plugin: Path, messages: Iterable[dict[str, object]]) -> list[str]:
    """The ids that the transcript holds once a conversation of these messages is idle."""
    assert NODE is not None
    told, program = plugin.with_name("messages.json"), plugin.with_name("idle.mjs")
    told.write_text(json.dumps([{"info": info, "parts": []} for info in messages]))
    program.write_text(IDLE)
    subprocess.run([NODE, str(program), str(plugin), str(told)], check=True, timeout=60)
    (transcript,) = (find_path("opencode").parent.parent / "opencode").iterdir()
    return [json.loads(line)["info"]["id"] for line in transcript.read_text().splitlines()]


def test_the_last_reply_is_written_when_it_is_over(plugin: Path) -> None:
    """A reply that opencode may still be writing waits, with what was said after it."""
    first: list[dict[str, object]] = [{"id": "1", "role": "user"}, {"id": "2", "role": "assistant", "time": {}}]
    queued: dict[str, object] = {"id": "3", "role": "user"}
    assert write(plugin, [*first, queued]) == ["1"]
    assert write(plugin, [first[0], {**first[1], "time": {"completed": 7}}, queued]) == ["1", "2", "3"]


@pytest.mark.parametrize("broken", [{"id": "2", "role": "assistant", "time": {}}, {"id": "2", "role": "assistant"}])
def test_a_reply_that_never_ended_holds_nothing_back(plugin: Path, broken: dict[str, object]) -> None:
    """Where opencode was killed within a reply, that reply and all after it are written once another reply is there."""
    after: list[dict[str, object]] = [
        {"id": "3", "role": "user"},
        {"id": "4", "role": "assistant", "time": {"completed": 9}},
    ]
    assert write(plugin, [{"id": "1", "role": "user"}, broken, *after]) == ["1", "2", "3", "4"]


def test_a_reply_that_failed_is_over(plugin: Path) -> None:
    """A reply with an error is written though it was never completed."""
    failed: dict[str, object] = {"id": "2", "role": "assistant", "time": {}, "error": {"name": "MessageAbortedError"}}
    assert write(plugin, [{"id": "1", "role": "user"}, failed]) == ["1", "2"]
