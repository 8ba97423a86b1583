"""Rules that users phrase without a word such as "always", beside what only looks like one."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everfold.core.statements.reading import find_extract_lines
from everfold.core.statements.strengths import STRONG, measure_line

PHRASED = Path(__file__).parents[3] / "data" / "standing" / "phrased.jsonl"
"""Messages of thirteen authors, language models that had not seen the code; those of three, split `held`, were never read."""
LEAST_FOUND = {"dev": 0.77, "held": 0.695}
MOST_FALSE = {"dev": 0.1, "held": 0.105}
"""Shares of the rules that bind strongly, and of the others: what is reached, so that it is seen when it falls."""


def is_strong(text: str) -> bool:
    """Whether a user's message has a statement that binds strongly."""
    lines = find_extract_lines(text, seq=1, origin="user", is_result=False, said_at=datetime(2026, 1, 5, tzinfo=UTC))
    return any(line.standing and line.origin == "user" and measure_line(line) >= STRONG for line in lines)


@pytest.mark.parametrize("split", ["dev", "held"])
def test_most_rules_are_found_and_few_others(split: str) -> None:
    """Of the rules so many bind strongly, and of the messages that only look like one no more than so many."""
    rows = [json.loads(row) for row in PHRASED.read_text("utf-8").splitlines()]
    found = {
        kind: [is_strong(row["text"]) for row in rows if (row["split"], row["kind"]) == (split, kind)]
        for kind in ("rule", "non_rule")
    }
    assert sum(found["rule"]) / len(found["rule"]) >= LEAST_FOUND[split]
    assert sum(found["non_rule"]) / len(found["non_rule"]) <= MOST_FALSE[split]
