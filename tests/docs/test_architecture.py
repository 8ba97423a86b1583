"""What the page on architecture names exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
PACKAGE = PAGE.parents[1] / "src" / "everfold"
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"everfold(?:\.\w+)+(?::\w+(?:\.\w+)*)?")
FOLDERS = "adapters|agents|cli|core|ports|server|services|testing"
PLACE = re.compile(rf"(?:(?:{FOLDERS})(?:/\w+)*|\w+)(?:\.py)?|(?:{FOLDERS})(?:/\w+)+")

QUOTES = QUOTED.findall(PAGE.read_text("utf-8"))
NAMES = [it for it in QUOTES if NAME.fullmatch(it)]
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
