"""A chat whose process is stopped, ended or killed at any point has lost nothing that was stored, and says what was cut."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.forks import Forks, Program
from typer.testing import CliRunner

import everfold
from everfold.cli.main import app
from everfold.core.log.messages import Message
from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.judges.requests import check_window_rules

pytestmark = pytest.mark.moves_prefix  # a refresh may take the place of an older one

Step = Mapping[str, object]

MODULE = '''
import asyncio, pathlib, time

def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"

async def slow() -> str:
    """Takes long."""
    pathlib.Path("slow").touch()
    await asyncio.sleep(60)
    return "never"

def meanwhile(prompt, *, from_at, to_at, budget_tokens):
    pathlib.Path("asked").touch()
    if pathlib.Path("quick").exists():
        return "The kiln is at 900 degrees."
    time.sleep(60)
'''
SETTINGS = """
[agents.shop]
instructions = "You help in a shop."
tools = ["chat_tools:weather", "chat_tools:slow"]

[compaction]
gap_secs = 0.5

[[compaction.context_sources]]
source = "kiln"

[sources.kiln]
kind = "callable"
function = "chat_tools:meanwhile"
"""
COMMAND = "from everfold.cli.entry import run; run()"
WORDS = " ".join(f"word{number}" for number in range(200))
STREAM = {"text": WORDS, "word_secs": 0.05}
CALLS = {"text": "Looking.", "calls": [{"tool": "slow"}, {"tool": "weather", "args": {"city": "Graz"}}]}
WHOLE = {"text": "All is well."}
SECS = 120.0
"""How long a program may take to get anywhere: it only ends a test that hangs."""


@dataclass
class Told:
    """A chat that runs, and what it told."""

    process: Program
    events: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Type a line."""
        assert self.process.stdin
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def wait_for(self, kind: str, times: int = 1) -> None:
        """Read what it tells until events of a kind came so often."""
        assert self.process.stdout
        while times:
            line = self.process.stdout.readline()
            assert line, f"it ended before {kind}: {self.events}"
            self.events.append(json.loads(line))
            times -= self.events[-1]["kind"] == kind

    def end(self) -> int:
        """Type no more, read the rest, and give the exit code."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.events += [json.loads(line) for line in self.process.stdout]
        return self.process.wait(SECS)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with settings, tools and a source."""
    (tmp_path / "everfold.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "chat_tools.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "chat_tools", raising=False)
    return tmp_path


def write_script(shop: Path, *steps: Step) -> list[str]:
    """The command line of a chat that plays these steps."""
    path = shop / "script.jsonl"
    path.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
    return ["chat", "--agent", "shop", "--script", str(path), "--db", str(shop / "chat.db"), "--json"]


Running = Callable[..., AbstractContextManager[Told]]


@pytest.fixture
def running(shop: Path, command_forks: Forks) -> Running:
    """A chat with these steps, in a process of its own."""

    @contextmanager
    def run_steps(*steps: Step) -> Iterator[Told]:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        with command_forks.talking(COMMAND, *write_script(shop, *steps), folder=shop, environment=environment) as it:
            yield Told(it)

    return run_steps


def wait_for_file(path: Path) -> None:
    """Wait until the process under test has touched a file."""
    until = time.monotonic() + SECS
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} was never reached"
        time.sleep(0.02)


def be_in_stream(chat: Told, shop: Path) -> None:  # noqa: ARG001 - all take the same
    """Go into the middle of an answer."""
    chat.say("tell me")
    chat.wait_for("text_delta", 5)


def be_in_tool(chat: Told, shop: Path) -> None:
    """Go where one tool has answered and the other works."""
    chat.say("look")
    chat.wait_for("tool_answered")
    wait_for_file(shop / "slow")


def be_in_refresh(chat: Told, shop: Path) -> None:
    """Go where the user is back after a gap, and a source is asked."""
    chat.say("hello")
    chat.wait_for("said", 2)
    time.sleep(0.7)
    chat.say("back")
    wait_for_file(shop / "asked")


@dataclass(frozen=True)
class Place:
    """A moment of a chat; `kinds` is the log that it leaves when the process is killed there."""

    reach: Callable[[Told, Path], None]
    steps: tuple[Step, ...]
    kinds: tuple[str, ...]
    told: str


PLACES = {
    "stream": Place(be_in_stream, (STREAM, WHOLE), ("user",), "your last message has no answer"),
    "tool": Place(be_in_tool, (CALLS, WHOLE), ("user", "assistant", "result"), "cut off while slow worked"),
    "refresh": Place(be_in_refresh, (WHOLE, WHOLE), ("user", "assistant", "user"), "your last message has no answer"),
}


async def read(shop: Path) -> list[Message]:
    """All messages of the chat, once everything about it has been checked."""
    async with everfold.open(f"sqlite:///{shop / 'chat.db'}") as engine:
        [record] = await engine.list_sessions()
        session = await engine.session(id=record.id)
        assert (await session.verify()).is_sound
        assert await engine.admin.check_store() == []
        window = await session.window(preview=True)
        openai, anthropic = window.render("openai"), window.render("anthropic")
        assert check_openai_request(openai) == check_window_rules(openai, kind="openai") == []
        assert check_anthropic_request(anthropic) == check_window_rules(anthropic, kind="anthropic") == []
        return await session.messages(1, (await session.inspect.state()).last_seq)


def require_told(chat: Told, log: list[Message]) -> None:
    """What was told to be stored is in the log, as it was told."""
    by_seq = {message.seq: message for message in log}
    for event in chat.events:
        if event["kind"] == "said":
            assert by_seq[event["seq"]].view.role == event["role"]
        if event["kind"] == "tool_answered":
            assert by_seq[event["seq"]].view.text == event["text"]


def reopen(shop: Path, *lines: str, code: int = 0) -> list[dict[str, Any]]:
    """What a chat tells that is begun again, and what comes of some lines; it ends with an exit code."""
    (shop / "quick").touch()
    typed = "".join(f"{line}\n" for line in lines)
    result = CliRunner().invoke(app, write_script(shop, WHOLE), prog_name="everfold", input=typed)
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_killed_while_sources_are_asked_it_has_not_taken_the_message(shop: Path, running: Running) -> None:
    """A gap is met before the message is stored: killed outright within it, the chat goes on as if it had not been said."""
    place = PLACES["refresh"]
    with running(*place.steps) as chat:
        place.reach(chat, shop)
        chat.process.kill()
        assert chat.process.wait(SECS) == -signal.SIGKILL
    log = anyio.run(read, shop)
    assert tuple(message.kind for message in log) == ("user", "assistant")
    require_told(chat, log)
    assert "no message waits for an answer" in reopen(shop, "/again", code=2)[0]["text"]


@pytest.mark.parametrize("name", [name for name in PLACES if name != "refresh"])
def test_killed_it_is_whole_up_to_what_was_stored(shop: Path, running: Running, name: str) -> None:
    """Killed outright, a chat keeps every part that was complete, tells what was cut, and goes on from there."""
    place = PLACES[name]
    with running(*place.steps) as chat:
        place.reach(chat, shop)
        chat.process.kill()
        assert chat.process.wait(SECS) == -signal.SIGKILL
    log = anyio.run(read, shop)
    assert tuple(message.kind for message in log) == place.kinds
    require_told(chat, log)
    events = reopen(shop, "/again")
    assert place.told in events[0]["text"]
    assert not [event for event in events if event["kind"] in {"error", "stopped"}]
    assert (anyio.run(read, shop))[-1].view.text == "All is well."
    assert reopen(shop) == []


@pytest.mark.parametrize("name", PLACES)
def test_terminated_it_stores_what_was_said_and_leaves(shop: Path, running: Running, name: str) -> None:
    """Told to end, a chat stores what was said so far as one interrupted message, leaves, and tells of it next time."""
    place = PLACES[name]
    with running(*place.steps) as chat:
        place.reach(chat, shop)
        chat.process.send_signal(signal.SIGTERM)
        code = chat.end()
        assert code == 128 + signal.SIGTERM
    log = anyio.run(read, shop)
    require_told(chat, log)
    [stopped] = [event for event in chat.events if event["kind"] == "stopped"]
    if name == "stream":
        said = "".join(event["text"] for event in chat.events if event["kind"] == "text_delta")
        assert said in log[-1].view.text
        assert len(log) == stopped["seq"] == 2
        assert "interrupted" in log[-1].view.text
    else:
        assert tuple(message.kind for message in log) == place.kinds
    events = reopen(shop, "go on")
    expected = "cut off after" if name == "stream" else place.told
    assert expected in events[0]["text"]
    assert (anyio.run(read, shop))[-1].view.text == "All is well."


@pytest.mark.parametrize("name", PLACES)
def test_interrupted_it_is_at_the_prompt_again(shop: Path, running: Running, name: str) -> None:
    """Ctrl-C ends the answer and not the chat: the next message is answered by the same process, over a sound log."""
    place = PLACES[name]
    with running(*place.steps) as chat:
        place.reach(chat, shop)
        chat.process.send_signal(signal.SIGINT)
        chat.wait_for("stopped")
        (shop / "quick").touch()
        chat.say("go on")
        chat.wait_for("said", 2)
        assert chat.end() == 0
    log = anyio.run(read, shop)
    require_told(chat, log)
    assert [message.view.text for message in log if message.kind == "assistant"][-1] == "All is well."
    assert [message.view.text for message in log if message.kind == "user"][-1] == "go on"
    assert reopen(shop) == []


def test_terminated_while_nobody_speaks_it_leaves(shop: Path, running: Running) -> None:
    """At the prompt SIGTERM ends a chat at once, with nothing cut."""
    with running(WHOLE) as chat:
        chat.say("hello")
        chat.wait_for("said", 2)
        time.sleep(0.2)
        chat.process.send_signal(signal.SIGTERM)
        assert chat.process.wait(SECS) == 128 + signal.SIGTERM
    assert [message.kind for message in anyio.run(read, shop)] == ["user", "assistant"]
    assert reopen(shop) == []
