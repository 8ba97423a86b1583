"""What says that a state has ended, and what only sounds like it."""

import pytest

from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm waiting for the biopsy results.", "The biopsy results came back."),
        ("The choir needs a new tenor.", "The choir found a tenor."),
        ("Julia is single.", "Julia got married."),
        ("Root logins over SSH are allowed.", "I've disabled root logins over SSH."),
    ],
)
def test_a_state_that_has_ended_stands_no_more(older: str, newer: str) -> None:
    """What was sought and is found, or was so and has ended, is replaced by the statement that says it."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm looking for a job.", "My sister found a job."),
        ("I'm looking for a flat in Bern.", "I found a flat tyre on my bike."),
        ("I need eight hours of sleep.", "I got eight hours of sleep last night."),
        ("My account is pending.", "My wife's account was approved."),
        ("I'm waiting for the MRI results.", "The blood results came back."),
    ],
)
def test_what_ends_for_another_thing_or_person_ends_nothing(older: str, newer: str) -> None:
    """Another person's find, another thing of the same noun and what is needed again and again leave a statement standing."""
    assert not replaces(newer, older, is_near=True)
