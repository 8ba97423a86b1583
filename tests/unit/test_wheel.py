"""The wheel that an installation has: the same on every machine, and usable without a compiler."""

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

COMPILED = (".so", ".pyd", ".dylib", ".c", ".pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sources here."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=Path(__file__).parents[2], check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


def test_the_wheel_is_pure_python(wheel: Path) -> None:
    """One wheel is for every Python 3 on every machine, and holds no compiled file."""
    assert wheel.match("everfold-*-py3-none-any.whl")
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith(COMPILED)] == []
    assert "everfold/py.typed" in names


def test_the_wheel_installs_without_a_compiler_and_imports(wheel: Path, tmp_path: Path) -> None:
    """In a fresh environment without a compiler or a network the wheel installs, and the package imports from there."""
    venv.create(tmp_path)
    python = tmp_path / "bin" / "python"
    environment = {"PATH": str(python.parent), "CC": "/no/compiler"}
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(install, env=environment, check=True, capture_output=True)
    asked = [python, "-c", "import everfold; print(everfold.__file__)"]
    found = subprocess.run(asked, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert Path(found.stdout.strip()).is_relative_to(tmp_path)
