"""What the wheel holds compiled reads every text as the sources do."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

READ = """
import json, sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from everfold.core.extracts import find_extract_lines
from everfold.core.tokens import estimate_text_tokens, truncate_to_tokens
from everfold.core.words import find_words, read_words
from everfold.testing import endless_log

project, *names = sys.argv[1:]
texts = [json.dumps(entry.wire, ensure_ascii=False) for entry in endless_log(3, messages_count=250)]
texts += [str(entry.wire.get("content")) for entry in endless_log(4, messages_count=250)]
for path in sorted(Path(project, "tests", "data").rglob("*.jsonl")):
    texts += path.read_text("utf-8", "replace").splitlines()
texts += ["", " ", "\\ud800", "a\\udc00b" * 40, "\\U0001f468\\u200d\\U0001f469" * 90, "\\u05d0\\u202e" * 99, "x" * 50_000]
at = datetime(2026, 1, 5, tzinfo=UTC)
for text in texts:
    lines = [
        find_extract_lines(text, seq=1, origin=origin, is_result=origin == "tool", said_at=at)
        for origin in ("user", "assistant", "tool", "external")
    ]
    reading = read_words(text), list(find_words(text)), estimate_text_tokens(text), truncate_to_tokens(text, 40)
    print(ascii((lines, reading)))
print(*[import_module(name).__file__ for name in names])
"""


def _read(project: Path, root: Path, modules: list[str]) -> tuple[list[str], list[str]]:
    """What the code below a folder makes of many texts, a line each, and the files that its modules came from."""
    command = [sys.executable, "-X", "utf8", "-c", READ, str(project), *modules]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=root)
    *lines, files = ended.stdout.splitlines()
    return lines, files.split()


@pytest.fixture(scope="module")
def modules(project: Path) -> list[str]:
    """The names of the modules that are compiled."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    paths = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["compiled"]
    return [path.removesuffix(".py").replace("/", ".") for path in paths]


def _build(project: Path, folder: Path, *, wanted: str) -> Path:
    """Build the wheel and unpack it."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(
        command, cwd=project, env={**os.environ, "EVERFOLD_COMPILE": wanted}, check=True, capture_output=True
    )
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_compiled_modules_read_as_the_sources_do(project: Path, tmp_path: Path, modules: list[str]) -> None:
    """Extract lines, index words and estimates are equal, text for text, and came from extension modules."""
    unpacked = _build(project, tmp_path, wanted="1")
    compiled, files = _read(project, unpacked, modules)
    plain, sources = _read(project, project / "src", modules)
    assert [Path(file).suffix for file in files] == [".so"] * len(modules)
    assert [Path(file).suffix for file in sources] == [".py"] * len(modules)
    assert len(plain) > 1_000
    assert [(a, b) for a, b in zip(compiled, plain, strict=True) if a != b] == []


def test_a_wheel_without_a_compiler_is_for_every_machine(project: Path, tmp_path: Path) -> None:
    """With compiling refused, the wheel is of pure Python and holds no extension module."""
    unpacked = _build(project, tmp_path, wanted="0")
    assert [wheel.name.endswith("-py3-none-any.whl") for wheel in tmp_path.glob("*.whl")] == [True]
    assert (unpacked / "everfold" / "core" / "extracts.py").is_file()
    assert [*unpacked.rglob("*.so")] == []
