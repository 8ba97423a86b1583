"""Dates that follow from relative words: each word of the table means its day, in a sentence of its language."""

from datetime import date, timedelta

import pytest

from everfold.core.text.date_words import RELATIVE_DAYS, RelativeDay
from everfold.core.text.held_dates import HeldDates, find_dates

SAID_ON = date(2026, 3, 18)


@pytest.mark.parametrize("row", RELATIVE_DAYS, ids=lambda row: f"{row.language}: {row.word}")
def test_a_relative_day_is_held_by_its_example(row: RelativeDay) -> None:
    """A record that says the word holds the day that it means, and without the word it does not."""
    day = next(find_dates((SAID_ON + timedelta(days=row.days)).isoformat()))
    lowered = row.example.lower()
    held, bare = HeldDates(), HeldDates()
    held.add(lowered, SAID_ON)
    bare.add(lowered.replace(row.word, ""), SAID_ON)
    assert row.word in lowered
    assert held.holds(day)
    assert not bare.holds(day)
