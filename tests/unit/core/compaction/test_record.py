"""The record of a compaction as it is stored."""

import json
from typing import Final

from everfold.core.compaction.record import report_from_text, report_to_text

STORED: Final = {
    "trigger": "budget",
    "first_seq": 1,
    "last_seq": 40,
    "kept_count": 3,
    "folded_count": 37,
    "left_count": 2,
    "joined_through": 0,
    "tokens_before": 5000,
    "tokens_after": 3000,
    "own_digest_tokens": 400,
    "rollup_tokens": 0,
    "standing_tokens": 60,
    "cache_break_after_tokens": 100,
    "resent_tokens": 2900,
    "calibration": 1.0,
}
"""A report as databases have it."""


def test_a_stored_report_keeps_its_names() -> None:
    """A report is read from the names that databases have, and written with them again."""
    report = report_from_text(json.dumps(STORED))
    assert report.folded_later_count == 2
    assert json.loads(report_to_text(report)) == STORED


def test_a_stored_report_may_have_no_calibration() -> None:
    """A report that was stored before there was a calibration is in tokens of the estimate."""
    old = {name: value for name, value in STORED.items() if name != "calibration"}
    assert report_from_text(json.dumps(old)).calibration == 1
