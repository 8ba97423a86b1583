"""The labels of how strongly turns bind."""

import json
from pathlib import Path

from bench.strengths import run

_LABELS = Path(__file__).parents[2] / "data" / "standing" / "turns.jsonl"


def test_labels_name_turns_once_and_hold_a_third_back() -> None:
    """At least 600 turns have two labels from 0 to 3 each, none is there twice, and about a third is held back."""
    labels = [json.loads(row) for row in _LABELS.read_text("utf-8").splitlines()]
    assert len({label["hash"] for label in labels}) == len(labels) >= 600
    assert all({label["first"], label["second"]} <= {0, 1, 2, 3} for label in labels)
    assert 0.28 < sum(label["split"] == "held" for label in labels) / len(labels) < 0.38


def test_labels_are_of_the_turns_that_are_there(real_data: Path) -> None:
    """Each labelled turn of the data that is there has the text that was labelled; a changed one is refused."""
    assert real_data.is_dir()
    rows, _ = run(is_quick=True)
    assert isinstance(rows[0].value, int)
    assert rows[0].value >= 500
