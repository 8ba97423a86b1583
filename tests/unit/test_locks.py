"""The locks say exactly what is installed, and nothing about the machine that wrote them."""

import re
import tomllib
from pathlib import Path

import pytest

LOCKS = ["core", "dev", "bench", "uv", "peers", "door-langchain", "door-openai-agents", "door-pydantic-ai"]


def _read_pins(project: Path, lock: str) -> dict[str, str]:
    text = (project / "requirements" / f"{lock}.txt").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9][\w.-]*)==([^\s;]+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed(project: Path, lock: str) -> None:
    """Each distribution has one version and at least one hash."""
    text = (project / "requirements" / f"{lock}.txt").read_text("utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_place(project: Path, lock: str) -> None:
    """No address, no index and no path of any machine is in a lock."""
    text = (project / "requirements" / f"{lock}.txt").read_text("utf-8")
    assert re.findall(r"\S*://\S*|file:\S*|--(?:extra-)?index\S*|--find-links\S*|(?<![\w.-])/\w+\S*", text) == []


def test_core_install_is_small(project: Path) -> None:
    """The core install has fewer than 20 distributions, Everfold itself included."""
    assert len(_read_pins(project, "core")) + 1 < 20


def test_locks_agree(project: Path) -> None:
    """A distribution has the same version in each lock that holds it, and each lock holds the smaller one."""
    core, dev, bench = (_read_pins(project, lock) for lock in ("core", "dev", "bench"))
    assert core.items() <= dev.items() <= bench.items()


def test_locks_hold_what_the_project_asks_for(project: Path) -> None:
    """Nothing was added to pyproject.toml without locking it; `make lock` does."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    groups = settings["dependency-groups"]
    extras = settings["project"]["optional-dependencies"]
    asked = [
        *settings["project"]["dependencies"],
        *extras["agents"],
        *extras["cli"],
        *extras["embed"],
        *extras["models"],
        *extras["postgres"],
        *extras["sources"],
        *extras["workers"],
    ]
    names = {re.split(r"[^\w.-]", it)[0] for it in [*asked, *groups["dev"], *groups["bench"]]}
    assert names - {"everfold"} <= set(_read_pins(project, "bench"))
