"""The folders of the tests mirror the rooms of the package, so that a test is found where its subject is."""

from pathlib import Path

import pytest

MIRRORS = [
    ("core", "unit/core"),
    ("services", "services"),
    ("adapters", "unit/adapters"),
    ("cli", "cli"),
    ("testing", "unit/testing"),
]
ELSEWHERE = {("testing", "contract"): "contract", ("testing", "doors"): "integrations"}


def list_rooms(folder: Path, pattern: str) -> set[str]:
    """The folders directly below this one in which a file of that pattern is."""
    return {path.relative_to(folder).parts[0] for path in folder.glob(f"*/**/{pattern}")}


@pytest.mark.parametrize(("part", "tests"), MIRRORS)
def test_every_room_has_the_folder_of_its_tests(project: Path, part: str, tests: str) -> None:
    """Each room of the package has a folder of tests of its name, and no folder of tests has the name of no room."""
    rooms = list_rooms(project / "src" / "everfold" / part, "__init__.py")
    elsewhere = {room for place, room in ELSEWHERE if place == part}
    assert list_rooms(project / "tests" / tests, "test_*.py") == rooms - elsewhere


@pytest.mark.parametrize("tests", ELSEWHERE.values())
def test_a_room_without_a_folder_of_its_own_is_tested_elsewhere(project: Path, tests: str) -> None:
    """What is exempt from the mirror has tests in the place that is named for it."""
    assert any((project / "tests" / tests).rglob("test_*.py"))


@pytest.mark.parametrize(("part", "tests"), MIRRORS)
def test_no_test_of_one_room_lies_outside_its_folder(project: Path, part: str, tests: str) -> None:
    """A file of tests has the name of a module of a room only inside the folder of that room."""
    rooms = {
        path.stem: path.parent.name
        for path in (project / "src" / "everfold" / part).glob("*/*.py")
        if path.stem != "__init__"
    }
    outside = [path.stem.removeprefix("test_") for path in (project / "tests" / tests).glob("test_*.py")]
    assert sorted(set(outside) & set(rooms)) == []
