"""Each framework has an extra, a lock, a test and a page, and `all` installs none of them."""

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
DOORS = re.findall(
    r"[\w-]+", re.findall(r"^DOORS := (.*)$", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE)[0]
)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_complete(door: str) -> None:
    """The extra sets lower bounds only, so that a resolver is free, and the door is locked, tested and told."""
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+", requirement) for requirement in EXTRAS[door])
    module = door.replace("-", "_")
    for place in (
        f"src/everfold/integrations/{module}.py",
        f"requirements/door-{door}.txt",
        f"tests/doors/test_{module}.py",
        f"docs/how-to/{door}.md",
    ):
        assert (PROJECT / place).is_file(), place


def test_all_installs_no_framework() -> None:
    """With everything else asked for, no framework is chosen, in whatever old version fits."""
    (everything,) = EXTRAS["all"]
    named = set(re.findall(r"[\w-]+", everything.removeprefix("everfold")))
    assert named <= set(EXTRAS)
    assert not named & {*DOORS, "anthropic", "mcp"}
