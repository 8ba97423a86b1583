"""Comments, docstrings and pages speak of persons only where a person is meant."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

PERSONIFIED = re.compile(r"\b(?:somebody|nobody|whoever)\b", re.IGNORECASE)
"""Words that hide who or what acts. The words of people in rules, examples and tests are strings, which are not read."""
FOLDERS = ("src", "bench", "tests")
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "changelog.d/*.md")


def list_remarks(source: str) -> Iterator[tuple[int, str]]:
    """Every comment and every docstring of a module, attributes' ones too, with its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.splitlines(), node.lineno)


def list_prose(page: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of its code."""
    is_code = False
    for number, line in enumerate(page.splitlines(), 1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code:
            yield number, line


def find_personified(project: Path) -> Iterator[str]:
    """Where such a word stands, as `path:line: text`."""
    files = [path for folder in FOLDERS for path in sorted((project / folder).rglob("*.py"))]
    read = [(path, list_remarks) for path in files if path != Path(__file__)]
    read += [(path, list_prose) for pattern in PAGES for path in sorted(project.glob(pattern))]
    for path, listing in read:
        source = path.read_text("utf-8")
        for number, text in listing(source) if PERSONIFIED.search(source) else ():
            if PERSONIFIED.search(re.sub(r"`[^`]*`|\"[^\"]*\"", "", text)):
                yield f"{path.relative_to(project)}:{number}: {text.strip()}"


def test_remarks_and_pages_name_who_acts(project: Path) -> None:
    """No comment, docstring or page says that somebody, nobody or whoever does something."""
    assert list(find_personified(project)) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1  # nobody reads it\n", [1]),
        ('def f():\n    """What\n    whoever asks gets."""\n', [3]),
        ('X = 1\n"""Somebody\'s."""\n', [2]),
        ("x = 'nobody'\n", []),
    ],
)
def test_finds_a_planted_word(source: str, lines: list[int]) -> None:
    """The word is found in each kind of remark, and not in a text of the program."""
    assert [number for number, text in list_remarks(source) if PERSONIFIED.search(text)] == lines
