"""What the page on architecture names exists, and is what a message passes."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import everfold
from everfold.testing.kit.builders import talk

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
PACKAGE = PAGE.parents[1] / "src" / "everfold"
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"everfold(?:\.\w+)+(?::\w+(?:\.\w+)*)?")
FOLDERS = "adapters|agents|cli|core|ports|server|services|testing"
PLACE = re.compile(rf"(?:(?:{FOLDERS})(?:/\w+)*|\w+)(?:\.py)?|(?:{FOLDERS})(?:/\w+)+")

QUOTES = QUOTED.findall(PAGE.read_text("utf-8"))
NAMES = [it for it in QUOTES if NAME.fullmatch(it)]
PASSED = [
    it
    for it in QUOTED.findall(PAGE.read_text("utf-8").partition("## How a message passes")[2].partition("\n## ")[0])
    if NAME.fullmatch(it) and ":" in it and not it.startswith("everfold.ports.")  # a port is only a type
]
PLACES = [
    it for it in QUOTES if re.match(rf"(?:{FOLDERS})/", it) or (it.endswith(".py") and not it.startswith("tests/"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    """A function, class or module that the page names can be imported under that name."""
    module, _, path = name.partition(":")
    found: object = import_module(module)
    for part in filter(None, path.split(".")):
        assert hasattr(found, part)
        found = getattr(found, part)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_is_there(place: str) -> None:
    """A file or folder that the page names is there."""
    assert (PACKAGE / place).exists()


@pytest.mark.parametrize("folder", ["core", "services"])
def test_every_room_is_on_the_map(folder: str) -> None:
    """Each room has its place on the map."""
    rooms = {f"{folder}/{path.parent.name}" for path in (PACKAGE / folder).glob("*/__init__.py")}
    assert rooms <= set(QUOTES)


def test_the_page_names_functions_and_places() -> None:
    """The page holds both kinds of names, so that these tests cannot pass by finding none."""
    assert len(NAMES) > 12
    assert len(PLACES) > 12


@contextmanager
def list_called() -> Iterator[set[str]]:
    """The functions of Everfold that are called within it, in any thread that begins there."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _given: Any) -> None:
        if event == "call" and str(module := frame.f_globals.get("__name__")).startswith("everfold"):
            called.add(f"{module}:{frame.f_code.co_qualname}")

    before, before_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)
        threading.setprofile(before_threads)


@pytest.mark.anyio
async def test_a_message_passes_what_the_page_names() -> None:
    """Whatever function or class the page puts on the way of a message is called when messages are appended and folded."""
    with list_called() as called:
        async with everfold.open("memory://", settings={"compaction": {"synchronous": True}}) as engine:
            session = await engine.session(limit=4000)
            for wire in talk(40):
                await session.append(wire)
                (await session.window()).render("openai")
            assert await session.inspect.compactions()
    assert len(PASSED) > 10
    assert [name for name in PASSED if not any(it == name or it.startswith(f"{name}.") for it in called)] == []
