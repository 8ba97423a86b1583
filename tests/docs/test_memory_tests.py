"""The page of what others test names only tests that are there, and every requirement that it is about."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "memory-tests.md").read_text("utf-8")
REQUIREMENTS = {
    "OF-26",
    "OF-46",
    "OF-48",
    "OF-70",
    "DA-14",
    *(f"DA-{number}" for number in range(30, 39)),
    "CB-33",
    "CB-43",
}


def test_every_named_test_exists() -> None:
    """Each test of the page is a function with a docstring in the file that it names."""
    named = re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)
    assert len(named) > len(REQUIREMENTS)
    for path, test in named:
        text = (PROJECT / path).read_text("utf-8")
        assert re.search(rf'^(?:async )?def {test}\((?:[^"]|\n)*?\) -> None:\n    """', text, re.MULTILINE), test


def test_every_requirement_has_a_row() -> None:
    """Each requirement that names tests has at least one row with a test, or with what measures it."""
    rows = re.findall(r"^\| ((?:OF|DA|CB)-\d+) \| \S.* \| (.*) \|$", PAGE, re.MULTILINE)
    assert {name for name, proof in rows if "`" in proof} == REQUIREMENTS
