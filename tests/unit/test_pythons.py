"""`make` takes the newest Python that fits and is there, and says so when there is none."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def _plant(folder: Path, name: str, version: tuple[int, int], *, works: bool = True) -> None:
    """An interpreter of a version, as far as the script can tell, or one that does not start."""
    condition = f"*'{version}'*) exit 0;;"
    body = f'case "$2" in {condition} esac\nexit 1\n' if works else "exit 127\n"
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)


def _list(project: Path, folder: Path, *arguments: str, more: Mapping[str, str] | None = None) -> list[str]:
    script = str(project / "requirements" / "pythons.sh")
    environment = {"PATH": str(folder), "HOME": str(folder), **(more or {})}
    ran = subprocess.run(
        ["/bin/sh", script, *arguments], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return ran.stdout.split()


def test_takes_the_newest_that_starts(project: Path, tmp_path: Path) -> None:
    """One of each version, newest first; one that does not start and one that is too old are left out."""
    _plant(tmp_path, "python3.14", (3, 14), works=False)
    _plant(tmp_path, "python3.12", (3, 12))
    _plant(tmp_path, "python3.11", (3, 11))
    _plant(tmp_path, "python3", (3, 10))
    assert _list(project, tmp_path) == ["python3.12", "python3.11"]


def test_a_plain_python3_is_taken(project: Path, tmp_path: Path) -> None:
    """A `python3` of a version that fits is enough."""
    _plant(tmp_path, "python3", (3, 13))
    assert _list(project, tmp_path) == ["python3"]


def test_all_looks_at_pyenv_too(project: Path, tmp_path: Path) -> None:
    """With `--all` the interpreters that pyenv has installed are listed beside those on the PATH."""
    _plant(tmp_path, "python3.11", (3, 11))
    (tmp_path / "pyenv" / "versions" / "3.13.0" / "bin").mkdir(parents=True)
    _plant(tmp_path / "pyenv" / "versions" / "3.13.0" / "bin", "python", (3, 13))
    (tmp_path / "ls").symlink_to("/bin/ls")
    (tmp_path / "sort").symlink_to("/usr/bin/sort")
    found = _list(project, tmp_path, "--all", more={"PYENV_ROOT": str(tmp_path / "pyenv")})
    assert found == [str(tmp_path / "pyenv" / "versions" / "3.13.0" / "bin" / "python"), "python3.11"]


def test_the_running_python_is_found(project: Path, tmp_path: Path) -> None:
    """A real interpreter is told by its version."""
    (tmp_path / "python3").symlink_to(sys.executable)
    assert _list(project, tmp_path) == ["python3"]


def test_make_says_that_there_is_none(project: Path, tmp_path: Path) -> None:
    """Without a Python that fits, make ends with one sentence that says what to do."""
    venv = tmp_path / "venv"
    ran = subprocess.run(
        ["make", "--no-print-directory", f"VENV={venv}", "PYTHON=", f"{venv}/.uv"],
        cwd=project, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode
    assert "no Python from 3.11 to 3.14" in ran.stderr
    assert "PYTHON=/path/to/python" in ran.stderr


def test_all_pythons_are_not_none(project: Path, tmp_path: Path) -> None:
    """Without a Python that fits, the tests of all of them fail and say what to do, instead of passing by trying none."""
    (tmp_path / "sh").symlink_to("/bin/sh")
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    make = [str(shutil.which("make")), "--no-print-directory", "PYTHON=", "test-all"]
    ran = subprocess.run(make, env=environment, cwd=project, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode
    assert "make: no Python from 3.11 to 3.14 with its venv module was found; install one\n" in ran.stderr
