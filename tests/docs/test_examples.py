"""What the documents show works.

A Python block whose fence says ``python run`` is a whole program and is run; one that says ``python`` is a fragment
and must at least be Python, awaiting where it likes.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]


class Example(NamedTuple):
    place: str
    fence: str
    code: str


def find_examples(text: str, page: str) -> list[Example]:
    """Each Python block of a page, with the line on which it starts."""
    blocks = re.finditer(r"^```(python[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Example(f"{page}:{text.count(chr(10), 0, it.start()) + 1}", it[1], it[2]) for it in blocks]


EXAMPLES = [it for page in PAGES for it in find_examples(page.read_text("utf-8"), str(page.relative_to(PROJECT)))]
PROGRAMS = [it for it in EXAMPLES if it.fence == "python run"]


@pytest.mark.parametrize("example", EXAMPLES, ids=[it.place for it in EXAMPLES])
def test_every_example_is_python(example: Example) -> None:
    """A block that says it is Python compiles, and its fence says whether it is run."""
    assert example.fence in {"python", "python run"}
    top_level_await = 0 if example.fence == "python run" else ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compile(example.code, example.place, "exec", flags=top_level_await)


@pytest.mark.parametrize("example", PROGRAMS, ids=[it.place for it in PROGRAMS])
def test_every_program_runs(example: Example, tmp_path: Path) -> None:
    """A program in the documents ends well when it is pasted into an empty folder, with warnings as errors."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_finds_programs_and_fragments() -> None:
    """Both kinds of block are found, with the line of their fence."""
    text = "Text\n\n```python run\nx = 1\n```\n\n```text\nno\n```\n\n```python\ny\n```\n"
    assert find_examples(text, "page.md") == [("page.md:3", "python run", "x = 1\n"), ("page.md:11", "python", "y\n")]


def test_there_is_a_program_to_run() -> None:
    """The documents hold at least one program, so that this suite cannot pass by finding none."""
    assert PROGRAMS
