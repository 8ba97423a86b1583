"""A thing that was named in full shortly before and is named in short now."""

import pytest

from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Dad's birthday party is on Saturday.", "The party got postponed to Sunday."),
        ("The piano lesson is on Tuesday at four.", "My lesson got moved to Wednesday at four."),
        ("The truck's cargo weight is 38,000 pounds.", "I got the cargo weight wrong, it's 36,500 pounds."),
    ],
)
def test_a_short_name_means_what_was_said_shortly_before(older: str, newer: str) -> None:
    """A change of "the party" is one of the party that was told of shortly before, and of no older one."""
    assert replaces(newer, older, is_near=True)
    assert not replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Dad's birthday party is on Saturday.", "My party got postponed to Sunday."),
        ("The price of rice is 2 euros.", "The price of oil went up to 9 euros."),
        ("My knee surgery is on 4 March.", "They rescheduled my hip surgery for 18 March."),
        ("My first appointment is at nine.", "The appointment at the bank was moved to ten."),
    ],
)
def test_a_name_that_may_be_another_things_changes_nothing(older: str, newer: str) -> None:
    """Another owner, another word beside the noun, an ordinal or what stands behind it tell two things apart."""
    assert not replaces(newer, older, is_near=True)
