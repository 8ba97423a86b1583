"""What is over with the thing that it is about, and what is not; and a change that was told before."""

import pytest

from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I sing in the church choir.", "I left the choir."),
        ("I grow tomatoes in the back garden.", "I ripped out the tomatoes."),
        ("I drive a blue Corolla.", "I sold the Corolla."),
        ("I have a season ticket for the Rovers.", "I let my season ticket lapse."),
        ("I keep two goldfish in the lounge.", "The goldfish died."),
        ("I play chess online every night.", "I deleted my chess account."),
        ("I coach the under-tens netball team.", "I stepped down as netball coach."),
        ("I am training for the half marathon in March.", "I dropped out of the half marathon."),
    ],
)
def test_what_is_left_is_over(older: str, newer: str) -> None:
    """A statement falls with the thing that it is about."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I have a friend in the church choir.", "I left the choir."),
        ("I sing in the church choir.", "I left the choir book on the bus."),
        ("I sing in the church choir.", "I left the church."),
        ("I sing in the church choir.", "I left the youth choir."),
        ("I drive a blue Corolla.", "I sold the Corolla's roof rack."),
        ("I have two dogs.", "The dog died."),
        ("I sing in the church choir.", "Ben left the choir."),
        ("I know the choir.", "I left the choir."),
    ],
)
def test_what_is_about_something_else_stays(older: str, newer: str) -> None:
    """Another thing, a part of it, one of several or another person's end leaves a statement as it is."""
    assert not replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The deadline moved to April 10.", "The deadline is now May 1."),
        ("We switched the analytics store to Redis.", "The analytics store is DuckDB now."),
        ("Dana left, so my manager is Priya now.", "My manager is Sam now."),
    ],
)
def test_a_change_that_was_told_changes_again(older: str, newer: str) -> None:
    """What was said to have changed holds until it is said to have changed again."""
    assert replaces(newer, older)
    assert not replaces("The kick-off is on May 3 now.", older)
