"""The pages of what others test name only tests that are there, and every requirement that they are about."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
MEMORY = (PROJECT / "docs" / "memory-tests.md").read_text("utf-8")
REFRESH = (PROJECT / "docs" / "refresh-tests.md").read_text("utf-8")
OF_MEMORY = {
    "OF-26",
    "OF-46",
    "OF-48",
    "OF-70",
    "DA-14",
    *(f"DA-{number}" for number in range(30, 39)),
    "CB-33",
    "CB-43",
}
OF_REFRESH = {"OF-61", "OF-65", "OF-66", "OF-70", "OF-71", "U-110", "U-111", "U-112"}
PAGES = pytest.mark.parametrize(
    ("page", "requirements"), [(MEMORY, OF_MEMORY), (REFRESH, OF_REFRESH)], ids=["memory", "refresh"]
)


@PAGES
def test_every_named_test_exists(page: str, requirements: set[str]) -> None:
    """Each test of a page is a function with a docstring in the file that it names."""
    named = re.findall(r"`(tests/[\w/.]+)::(\w+)`", page)
    assert len(named) > len(requirements)
    for path, test in named:
        text = (PROJECT / path).read_text("utf-8")
        assert re.search(rf'^(?:async )?def {test}\((?:[^"]|\n)*?\) -> None:\n    """', text, re.MULTILINE), test


@PAGES
def test_every_requirement_has_a_row(page: str, requirements: set[str]) -> None:
    """Each requirement that names tests has at least one row with a test, or with what measures it."""
    rows = re.findall(r"^\| ((?:OF|DA|CB|U)-\d+) \| \S.* \| (.*) \|$", page, re.MULTILINE)
    assert {name for name, proof in rows if "`" in proof} == requirements
