"""The hook and the daemon as processes: what a client's model is told, and what happens when either is killed."""

import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.support.waiting import SECS

import everfold
from everfold.core.text.frames import HANDED_BEGIN
from everfold.integrations.coding_agents.answering import Answering
from everfold.integrations.coding_agents.clients import HOOK
from everfold.integrations.coding_agents.connecting import connect
from everfold.integrations.coding_agents.connection import find_path, read_connection, write_connection
from everfold.integrations.coding_agents.daemon import serve
from everfold.integrations.coding_agents.hook import RUNNING, hold
from everfold.session import iterate_log

TALK = "11111111-2222-4333-8444-555555555555"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A coding agent with its transcript, and its hooks as processes."""

    transcript: Path
    url: str

    def write(self, *texts: str, **fields: object) -> None:
        """Add turns to the transcript."""
        with self.transcript.open("a") as file:
            for text in texts:
                number = self.transcript.stat().st_size
                said = {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text}, **fields}
                reply = {"role": "assistant", "id": f"m{number}", "content": [{"type": "text", "text": "Understood."}]}
                lines = [said, {"type": "assistant", "uuid": f"a{number}", "message": reply}]
                file.writelines(json.dumps(line) + "\n" for line in lines)
                file.flush()

    def compact(self) -> None:
        """Write what the client writes when it has compacted."""
        with self.transcript.open("a") as file:
            summary = {"type": "user", "uuid": f"s{time.time_ns()}", "isCompactSummary": True}
            file.write(json.dumps({**summary, "message": {"role": "user", "content": "We talked."}}) + "\n")

    def hook(self, event: str, **fields: object) -> str:
        """What a hook prints; it always ends with 0, and without an error."""
        given = {"hook_event_name": event, "session_id": TALK, "transcript_path": str(self.transcript), **fields}
        command = [sys.executable, "-I", "-S", str(HOOK), str(find_path("claude-code"))]
        done = subprocess.run(command, input=json.dumps(given).encode(), capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def told(self, event: str, **fields: object) -> str:
        """The context that a hook has for the model; empty for none."""
        printed = self.hook(event, **fields)
        if not printed:
            return ""
        output = json.loads(printed)["hookSpecificOutput"]
        assert output["hookEventName"] == event
        return str(output["additionalContext"])

    def answered(self, event: str, **fields: object) -> str:
        """The same, asked for until the daemon is up."""
        end = time.monotonic() + SECS
        while time.monotonic() < end:
            if told := self.told(event, **fields):
                return told
        pytest.fail(f"no answer to {event}")


def find_daemons() -> list[int]:
    """The daemons of this test's connection."""
    wanted = str(find_path("claude-code")).encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"everfold.integrations.coding_agents.daemon" in words and wanted in words:
            found.append(int(path.parent.name))
    return found


def kill_daemons(sign: int = signal.SIGKILL) -> None:
    """End them, and wait until they are gone, with all that they held open."""
    daemons = find_daemons()
    for process in daemons:
        os.kill(process, sign)
    end = time.monotonic() + SECS
    while any(map(is_alive, daemons)) and time.monotonic() < end:
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    """Whether a thread of a process has not ended yet: the last one lets go of what they held open.

    One that has only not been waited for has ended. The first thread is seen as such before the others have ended.
    """
    states = []
    for thread in Path(f"/proc/{process}/task").glob("*/stat"):
        with suppress(OSError):
            states.append(thread.read_text().rpartition(") ")[2][0])
    return any(state not in "ZX" for state in states)


@pytest.fixture
def client(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A connected client whose daemon is ended with the test."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("r")))
    monkeypatch.setenv("PYTHONPATH", str(Path(everfold.__file__).parents[1]))
    url = f"sqlite:///{home / 'e.db'}"
    connect("claude-code", user="ada", agent=None, url=url, config=None)
    transcript = home / f"{TALK}.jsonl"
    transcript.touch()
    yield Client(transcript=transcript, url=url)
    kill_daemons(signal.SIGTERM)


async def list_texts(client: Client) -> list[str]:
    """What is stored of the conversation, by the user."""
    async with everfold.open(client.url) as engine:
        session = await engine.session(user="ada", agent="claude-code", session_key=f"claude-code:{TALK}", create=False)
        return [message.view.text async for message in iterate_log(session) if message.kind == "user"]


FILLER = [f"Question {number} about the harbour: is berth {number} free?" for number in range(30)]


def test_a_compaction_loses_nothing(client: Client) -> None:
    """What the client's compaction throws away comes back: at once as a digest, and with the prompt that asks for it."""
    client.write("Remember: always use port 4711 for the staging server.", *FILLER)
    assert client.told("UserPromptSubmit", prompt="Is berth 3 free?") == ""
    client.hook("PreCompact", trigger="auto")
    client.compact()
    handed = client.answered("SessionStart", source="compact")
    assert handed.startswith(HANDED_BEGIN)
    assert "port 4711" in handed
    assert len(handed) <= 9_900
    recalled = client.answered("UserPromptSubmit", prompt="Which port does the staging server use?")
    assert "4711" in recalled
    assert client.told("SessionStart", source="startup") == ""
    assert client.hook("Stop") == client.hook("SessionEnd") == ""


def test_nothing_is_told_while_nothing_has_left(client: Client) -> None:
    """Before a compaction of the client's own no prompt and no resume has context."""
    client.write("Remember: always use port 4711.", *FILLER)
    for _ in range(2):
        assert client.told("UserPromptSubmit", prompt="Which port?") == ""
        assert client.told("SessionStart", source="resume") == ""


def test_the_socket_is_the_users_alone(client: Client) -> None:
    """Socket and folder let no other user in, and a connection of anywhere else is not read."""
    client.write("Remember: port 4711.")
    client.compact()
    client.answered("SessionStart", source="compact")
    path = Path(read_connection(find_path("claude-code")).socket)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.connect(str(path))
        asking.sendall(json.dumps({"connection": "/etc/passwd", "event": {}}).encode() + b"\n")
        assert json.loads(asking.recv(1000)) == {"text": ""}


@pytest.mark.parametrize("source", [b"", b"nonsense", b"[]", b'{"hook_event_name": "UserPromptSubmit"}'])
def test_an_event_that_is_none_says_nothing(client: Client, source: bytes) -> None:
    """Whatever the client sends, the hook prints nothing and ends with 0."""
    command = [sys.executable, "-I", "-S", str(HOOK), str(find_path("claude-code"))]
    done = subprocess.run(command, input=source, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert client.transcript.exists()


def test_without_a_daemon_the_client_goes_on(client: Client) -> None:
    """Where the daemon cannot start, hooks say nothing, and after the first one none waits for it again."""
    connection = read_connection(find_path("claude-code"))
    write_connection(replace(connection, python="/bin/false"))
    assert client.hook("UserPromptSubmit", prompt="Which port?") == ""
    assert Path(connection.socket + ".failed").exists()
    assert client.hook("SessionStart", source="resume") == ""
    assert find_daemons() == []


def test_a_killed_daemon_is_started_by_the_next_hook(client: Client) -> None:
    """A daemon that ends just after its start counts neither as one that starts nor as one that cannot."""
    client.hook("Stop")
    assert find_daemons()
    kill_daemons()
    client.hook("Stop")
    assert find_daemons()


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit"])
def test_a_hook_waits_for_a_daemon_that_ends(client: Client, event: str) -> None:
    """While a daemon that listens no more still holds its lock, a hook waits and then starts the next one."""
    lock = hold(read_connection(find_path("claude-code")).socket + RUNNING)
    assert lock is not None
    ending = threading.Timer(0.3, os.close, [lock])
    ending.start()
    client.hook(event, prompt="Which port?")
    ending.join()
    assert find_daemons()


@pytest.mark.slow
async def test_a_killed_daemon_loses_and_doubles_nothing(client: Client) -> None:
    """Killed at any moment of a long import, the next one has every message once, those of the time between too."""
    written: list[str] = []
    for round_ in range(4):
        texts = [f"Prompt {round_}-{number}." for number in range(100 + 60 * round_)]
        client.write(*texts)
        written += texts
        client.hook("UserPromptSubmit", prompt="Go on.")
        kill_daemons()
    client.write("The last one.")
    client.hook("SessionEnd")
    end = time.monotonic() + SECS
    while (texts := await list_texts(client))[-1:] != ["The last one."] and time.monotonic() < end:
        client.hook("UserPromptSubmit", prompt="Go on.")
    assert texts == [*written, "The last one."]


def count_stored(client: Client) -> int:
    """How many messages are stored; read beside the daemon."""
    path = Path(client.url.removeprefix("sqlite:///"))
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        try:
            return int(store.execute("SELECT count(*) FROM messages").fetchone()[0])
        except sqlite3.OperationalError:  # its tables are not made yet
            return 0


def wait_for_stored(client: Client, least_count: int) -> None:
    """Wait until so many messages are stored."""
    end = time.monotonic() + SECS
    while count_stored(client) < least_count and time.monotonic() < end:
        time.sleep(0.01)  # each look opens the store, and closing it checkpoints


@pytest.mark.slow
async def test_killed_in_the_middle_of_an_import(client: Client) -> None:
    """Killed before, within and after an import, the daemons store every line of a transcript once, in its order."""
    texts = [f"Prompt {number}." for number in range(1_500)]
    client.write(*texts)
    for least_count in (0, 1, 1_000, 2_000):
        client.hook("Stop")
        wait_for_stored(client, least_count)
        kill_daemons()
    client.hook("SessionEnd")
    wait_for_stored(client, 2 * len(texts))
    async with everfold.open(client.url) as engine:
        session = await engine.session(user="ada", agent="claude-code", session_key=f"claude-code:{TALK}", create=False)
        stored = [message.view.text async for message in iterate_log(session)]
        assert (await session.verify()).problems == ()
    assert stored == [said for text in texts for said in (text, "Understood.")]


@pytest.mark.slow
async def test_what_grew_without_a_daemon_is_fed_by_the_next(client: Client) -> None:
    """A daemon that starts for another conversation also takes what the first one's transcript has grown by."""
    client.write("Remember: port 4711.")
    client.compact()
    client.answered("SessionStart", source="compact")
    kill_daemons()
    client.write("Said while none listened.")
    other = replace(client, transcript=client.transcript.with_name("other.jsonl"))
    other.write("Hello.")
    end = time.monotonic() + SECS
    while "Said while none listened." not in await list_texts(client) and time.monotonic() < end:
        other.hook("SessionStart", source="startup", session_id="other")
    assert (await list_texts(client)).count("Said while none listened.") == 1


async def test_a_daemon_takes_what_all_clients_of_its_store_have_written(client: Client) -> None:
    """A daemon that one client starts feeds the transcripts of the others too, though a connection beside them is broken."""
    client.write("Remember: port 4711.")
    claude = read_connection(find_path("claude-code"))
    event = {"hook_event_name": "Stop", "session_id": TALK, "transcript_path": str(client.transcript)}
    async with everfold.open(client.url) as engine:
        answering = Answering(engine=engine)
        await answering.answer(claude, event)
        await answering.drain()
    client.write("Said while none listened.")
    connect("codex", user="bob", agent=None, url=client.url, config=None)
    find_path("opencode").write_text("{}")
    await serve(replace(read_connection(find_path("codex")), idle_secs=0.05))
    assert await list_texts(client) == ["Remember: port 4711.", "Said while none listened."]


@pytest.mark.slow
def test_the_daemon_ends_when_it_is_idle(client: Client) -> None:
    """Without events it ends by itself and takes its socket with it; the next event starts another one."""
    connection = read_connection(find_path("claude-code"))
    write_connection(replace(connection, idle_secs=0.2))
    client.write("Remember: port 4711.")
    client.compact()
    client.answered("SessionStart", source="compact")
    end = time.monotonic() + SECS
    while find_daemons() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(connection.socket).exists()
    assert client.answered("SessionStart", source="compact")


def test_the_hook_imports_nothing_of_everfold() -> None:
    """The hook loads the standard library alone."""
    program = f"import runpy, sys; runpy.run_path({str(HOOK)!r}); print([m for m in sys.modules if 'everfold' in m])"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"
