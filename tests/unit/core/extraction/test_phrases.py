"""The phrases by which items are judged, each by its own example."""

import re

import pytest

from everfold.core.extraction.phrases import IDENTITY, NO_ITEM, ORDER, SMALL_TALK, TASTE, Phrase
from everfold.core.extraction.self_contained import lower
from everfold.core.statements.classification import break_words

ROWS = (*IDENTITY, *TASTE, *ORDER, *SMALL_TALK, *NO_ITEM)


@pytest.mark.parametrize("row", ROWS, ids=[row.example for row in ROWS])
def test_a_row_finds_its_example(row: Phrase) -> None:
    """Each pattern finds the sentence that its row names, and one of its cues stands in that sentence."""
    example = lower(row.example)
    assert re.search(row.pattern, example)
    assert not row.cues or set(row.cues.split()) & set(break_words(example))


@pytest.mark.parametrize("row", [row for row in ROWS if row.counter], ids=[row.counter for row in ROWS if row.counter])
def test_a_row_leaves_its_counter_alone(row: Phrase) -> None:
    """Each exception keeps out the sentence that its row names for it."""
    assert not re.search(row.pattern, lower(row.counter))


def test_a_row_without_cues_is_for_text_that_is_not_ascii() -> None:
    """A row that names no cues is tried on other scripts alone, so its example is written in one."""
    assert not [row.example for row in (*IDENTITY, *SMALL_TALK, *NO_ITEM) if not row.cues and row.example.isascii()]
