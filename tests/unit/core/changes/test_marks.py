"""The words by which a statement says that it changes something."""

import pytest

from everfold.core.changes.kinds import ChangeMark
from everfold.core.changes.marks import MARKS
from everfold.core.changes.told import read_change
from everfold.core.replacement.replacement import is_marked


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: f"{mark.language}-{mark.example}")
def test_each_row_finds_its_example(mark: ChangeMark) -> None:
    """A row's example has its mark."""
    assert mark.kind in read_change(mark.example).kinds


@pytest.mark.parametrize(
    "said",
    [
        "My name is Ann.",
        "The meeting is on Tuesday.",
        "Ich wohne in Graz.",
        "The oven is set to 180 degrees.",
        "Ticket AB-12 is assigned to Lena.",
        "我住在北京。",
    ],
)
def test_a_plain_statement_has_none(said: str) -> None:
    """What only tells something changes nothing by a mark."""
    assert not is_marked(said)
