"""The import rules refuse what they are there to refuse: each planted violation breaks its contract."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())",
    ]
    return subprocess.run(
        [*command, "--no-cache"], cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(project: Path, tmp_path: Path) -> Path:
    """A copy of the package and of its import rules."""
    shutil.copytree(project / "src" / "everfold", tmp_path / "everfold", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(project / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("place", "text", "broken"),
    [
        ("core/planted.py", "import os\n", "The core touches nothing outside itself"),
        pytest.param(
            "core/planted.py",
            "import everfold.adapters\n",
            "Layers import to the right only",
            marks=pytest.mark.slow,
        ),
        pytest.param("errors.py", "import everfold.core\n", "Layers import to the right only", marks=pytest.mark.slow),
        ("attic/__init__.py", "", "Layers import to the right only"),
    ],
    ids=["core reaches the world", "core imports an adapter", "errors import the core", "a room that has no place"],
)
def test_refuses_a_planted_violation(tree: Path, place: str, text: str, broken: str) -> None:
    """An import against the direction, a way out of the core and a folder without a layer each break the check."""
    path = tree / "everfold" / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    result = _lint(tree)
    assert result.returncode != 0, result.stdout
    assert broken in result.stdout + result.stderr


def test_every_room_of_the_design_has_its_place(project: Path) -> None:
    """The layers name each room once, the way an import may go: surfaces first, errors last."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [budget.strip(" ()") for layer in layers for budget in layer.split("|")]
    assert (
        rooms
        == (
            "cli server agents integrations bootstrap demo testing config sections sync_classes sync engine session memory admin inspection integration adapters services ports core errors"
        ).split()
    )


def test_no_module_is_named_for_nothing(project: Path) -> None:
    """A module's name says what is in it: none is a drawer for what found no place."""
    drawers = {"base", "common", "helpers", "manager", "misc", "util", "utils"}
    paths = [*(project / "src").rglob("*"), *(project / "tests").rglob("*"), *(project / "bench").rglob("*")]
    ours = [path.relative_to(project) for path in paths if not {".venv-peers", ".venv-weak"} & set(path.parts)]
    assert [str(path) for path in ours if path.stem in drawers] == []
