"""The labelled utterances that judge what extraction takes for memory."""

import json
from collections import Counter
from pathlib import Path

_LABELS = Path(__file__).parents[1] / "data" / "memory_statements.jsonl"
_KINDS = {
    "fact",
    "preference",
    "constraint",
    "decision",
    "correction",
    "commitment",
    "task",
    "open",
    "answer",
    "remember",
}
_VALUES = {
    "role": {"user", "assistant"},
    "domain": {"chat", "support", "coding", "planning"},
    "style": {"terse", "polite", "sloppy", "non-native", "plain"},
    "split": {"dev", "held"},
}
_ROWS = [json.loads(line) for line in _LABELS.read_text("utf-8").splitlines()]


def test_every_row_has_the_fields_and_values_of_the_schema() -> None:
    """Each row has a text, known kinds without repetition, and one known value for every other field."""
    for row in _ROWS:
        assert set(row) - {"before"} == {"text", "kinds", *_VALUES}
        assert row["text"].strip() == row["text"] != ""
        assert all(row[field] in values for field, values in _VALUES.items())
        assert set(row["kinds"]) <= _KINDS
        assert len(set(row["kinds"])) == len(row["kinds"])


def test_an_answer_and_only_an_answer_has_the_question_before_it() -> None:
    """A row names the message before it exactly when it is labelled an answer."""
    assert all(("before" in row) == ("answer" in row["kinds"]) for row in _ROWS)


def test_an_assistant_gives_only_commitments_and_decisions() -> None:
    """Nothing that an assistant says is labelled as knowledge about the user."""
    assert all(set(row["kinds"]) <= {"commitment", "decision"} for row in _ROWS if row["role"] == "assistant")


def test_the_set_is_large_balanced_and_without_repetition() -> None:
    """At least 450 different utterances, 55 to 60 in 100 of them to be remembered, every kind in both splits."""
    assert len({row["text"] for row in _ROWS}) == len(_ROWS) >= 450
    assert 0.55 <= sum(bool(row["kinds"]) for row in _ROWS) / len(_ROWS) <= 0.60
    for split in _VALUES["split"]:
        assert {kind for row in _ROWS if row["split"] == split for kind in row["kinds"]} == _KINDS


def test_a_third_of_every_cell_is_held_back() -> None:
    """Of each domain, style and side of the question every third row is held back from tuning."""
    cells: dict[tuple[str, str, bool], Counter[str]] = {}
    for row in _ROWS:
        cells.setdefault((row["domain"], row["style"], bool(row["kinds"])), Counter())[row["split"]] += 1
    assert len(cells) == 40
    assert all(abs(cell["held"] - cell.total() / 3) < 1 for cell in cells.values())
