"""How long a coding agent waits for a hook, as a whole process, also while a long transcript is imported beside it."""

import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from bench.report import Row
from everfold.integrations.coding_agents.clients import HOOK
from everfold.integrations.coding_agents.connecting import connect
from everfold.integrations.coding_agents.connection import find_path

TITLE: Final = "Hooks of coding agents"
BACKLOG_COUNT: Final = 3_000
"""So many messages has the transcript that is imported beside the hooks."""
_TURNS_COUNT: Final = 150
"""So many turns has the conversation of the hooks, and its client has compacted them away."""
_SECS: Final = 120.0
_PAUSE_SECS: Final = 0.02
_CLIENT: Final = "claude-code"
_STORE: Final = "everfold.db"


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """The rows of this benchmark."""
    hooks_count = 60 if is_quick else 400
    with tempfile.TemporaryDirectory() as home, _connected(Path(home)) as folder:
        talk, backlog = _Talk(folder, "talk"), _Talk(folder, "backlog")
        _make_past(talk, folder)
        alone = [_ask_on(talk, number) for number in range(hooks_count)]
        beside, secs, stored_count = _import_beside(talk, backlog, folder)
    rows = [
        *_list_rows("a hook as a whole process", alone),
        *_list_rows(f"a hook while {BACKLOG_COUNT:,} messages are imported", beside),
        Row(figure="of that backlog, imported", value=stored_count, least=BACKLOG_COUNT, digits=0),
        Row(figure="the import takes", value=secs, unit="s"),
    ]
    return rows, [f"{len(alone)} hooks alone and {len(beside)} beside the import, each a prompt that recalls."]


class _Talk:
    """One conversation of a client: its transcript, and its hooks as processes."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._transcript = folder / f"{name}.jsonl"
        self._transcript.touch()
        self._lines_count = 0

    def write(self, said: Sequence[str]) -> None:
        """Add turns to the transcript."""
        with self._transcript.open("a") as file:
            for text in said:
                self._lines_count += 1
                reply = {
                    "role": "assistant",
                    "id": f"m{self._lines_count}",
                    "content": [{"type": "text", "text": "Yes."}],
                }
                user = {"role": "user", "content": text}
                lines = [
                    {"type": "user", "uuid": f"u{self._lines_count}", "message": user},
                    {"type": "assistant", "uuid": f"a{self._lines_count}", "message": reply},
                ]
                file.writelines(json.dumps(line) + "\n" for line in lines)

    def compact(self) -> None:
        """Add what a client writes when it has compacted."""
        message = {"role": "user", "content": "We talked."}
        with self._transcript.open("a") as file:
            file.write(json.dumps({"type": "user", "uuid": "s1", "isCompactSummary": True, "message": message}) + "\n")

    def hook(self, event: str, **fields: object) -> str:
        """What a hook prints."""
        given = {"hook_event_name": event, "session_id": self._name, "transcript_path": str(self._transcript)}
        command = [sys.executable, "-I", "-S", str(HOOK), str(find_path(_CLIENT))]
        source = json.dumps({**given, **fields})
        return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def _make_past(talk: _Talk, folder: Path) -> None:
    """A conversation whose client has compacted it away, and a daemon that has folded it."""
    talk.write([f"Question {number} about the harbour: is berth {number} free?" for number in range(_TURNS_COUNT)])
    _wait_until(lambda: talk.hook("Stop") == "" and _count(folder) == 2 * _TURNS_COUNT)
    talk.hook("PreCompact", trigger="auto")
    talk.compact()
    _wait_until(lambda: bool(talk.hook("SessionStart", source="compact")))


def _ask_on(talk: _Talk, number: int) -> float:
    """Milliseconds of the hook of a prompt, in a conversation that goes on."""
    talk.write([f"Crate {number} goes to quay {number % 40}."])
    started = time.perf_counter()
    talk.hook("UserPromptSubmit", prompt=f"Is berth {number % _TURNS_COUNT} free?")
    return (time.perf_counter() - started) * 1000


def _import_beside(talk: _Talk, backlog: _Talk, folder: Path) -> tuple[list[float], float, int]:
    """Hooks while another conversation is imported: milliseconds of each, seconds of the import, and what it stored."""
    backlog.write(
        [f"Crate {number} of the backlog goes to quay {number % 40}." for number in range(BACKLOG_COUNT // 2)]
    )
    taken: list[float] = []
    before_count, started = _count(folder), time.perf_counter()
    backlog.hook("Stop")
    while True:
        stored_count = _count(folder) - before_count - 2 * len(taken)
        if stored_count >= BACKLOG_COUNT or time.perf_counter() - started > _SECS:
            return taken, time.perf_counter() - started, stored_count
        taken.append(_ask_on(talk, 1_000 + len(taken)))


def _list_rows(figure: str, taken: Sequence[float]) -> list[Row]:
    hundredth = statistics.quantiles(taken, n=100)[-1]
    return [
        Row(figure=f"{figure}, median", value=statistics.median(taken), unit="ms", most=50, digits=1),
        Row(figure=f"{figure}, 99th percentile", value=hundredth, unit="ms", most=300, digits=1),
    ]


def _count(folder: Path) -> int:
    """How many messages are stored; none before the daemon has made the store."""
    try:
        with closing(sqlite3.connect(f"file:{folder / _STORE}?mode=ro", uri=True)) as store:
            return int(store.execute("SELECT count(*) FROM messages").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECS
    while not is_so():
        if time.monotonic() > end:
            raise RuntimeError("the daemon of the benchmark did not do its work in time")
        time.sleep(_PAUSE_SECS)


@contextmanager
def _connected(folder: Path) -> Iterator[Path]:
    """A home in which a client is connected; its daemon ends with it."""
    own = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    named = ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR")
    before = {name: os.environ.pop(name, None) for name in (*own, *named)}
    os.environ.update(own)
    try:
        connect(_CLIENT, user="ada", agent=None, url=f"sqlite:///{folder / _STORE}", config=None)
        yield folder
    finally:
        _end_daemons(str(find_path(_CLIENT)).encode())
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _end_daemons(connection: bytes) -> None:
    """End the daemons of a connection, and wait until they are gone."""
    for process in _find_daemons(connection):
        os.kill(process, signal.SIGTERM)
    _wait_until(lambda: not list(_find_daemons(connection)))


def _find_daemons(connection: bytes) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if connection in words and b"everfold.integrations.coding_agents.daemon" in words:
            yield int(path.parent.name)
