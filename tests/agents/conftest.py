"""Hands and agents over scripts, real tools and real servers of tools."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

TOOLS = '''
"""Functions that agents of tests may call."""
import asyncio
import time

from everfold.adapters.sources.calendar import CalendarSettings, CalendarSource
from datetime import datetime, timedelta


def add(first: int, second: int = 10) -> int:
    """Add two numbers.

    Args:
        first: One.
        second: The other.
    """
    return first + second


async def wait_and_say(words: str) -> str:
    """Say it after a moment."""
    await asyncio.sleep(0)
    return f"heard: {words}"


def fail(words: str) -> str:
    """Fail, with a secret in the words of it."""
    raise ValueError(f"{words} with sk-live-4fG7hJ2kLm9pQr5tVw8xYz3bCd6eFg1h")


def odd(words: "NoSuchType") -> str:
    """Take something that nobody knows."""
    return words


def hang(secs: float = 3600.0) -> str:
    """Never answer."""
    time.sleep(secs)
    return "at last"


async def hang_softly() -> str:
    """Never answer, and let others work."""
    await asyncio.sleep(3600)
    return "at last"


async def look_up() -> str:
    """What is in the calendar on the fifth of May 2031."""
    settings = CalendarSettings(
        name="work", path="work.ics", time_zone="Europe/Berlin", before_hours=0, after_hours=0
    )
    first = datetime.fromisoformat("2031-05-05T00:00:00+02:00")
    return await CalendarSource(settings).summary("", from_at=first, to_at=first + timedelta(days=1), budget_tokens=0)


HANDS = []


async def ask_another() -> str:
    """Ask a hand from within a hand."""
    return await HANDS[0].query_hand("plain", "and you?")
'''

SERVER = Path(__file__).with_name("tool_server.py")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a test works in, with the module `desk_tools`."""
    (tmp_path / "desk_tools.py").write_text(TOOLS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "desk_tools", raising=False)
    return tmp_path


WriteScript = Callable[..., str]


@pytest.fixture
def script(here: Path) -> WriteScript:
    """Writes the steps of a script, and gives its model's name."""

    def write(*steps: dict[str, object], name: str = "script.jsonl") -> str:
        (here / name).write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
        return f"script:{name}"

    return write


@pytest.fixture
def command() -> Sequence[str]:
    """The command of a server of tools that speaks over stdio."""
    return (sys.executable, str(SERVER), "stdio")
