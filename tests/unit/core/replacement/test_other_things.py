"""Whether a newer statement speaks of another thing of the same sort."""

import pytest

from everfold.core.replacement.other_things import speaks_of_another
from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My therapist is Karen.", "My son's therapist is Joel now."),
        ("The password is tulip22.", "The bank password was changed to orchid91."),
        ("Our rent is 1,450 a month.", "Our rent for the parking space went up to 120 a month."),
        ("The conference in May is in Berlin.", "The conference in October was moved to Vienna."),
        ("The course costs 300 euros.", "The course book went up to 30 euros."),
        ("The shop opens at 9.", "The shop now closes at 19 instead of 18."),
        ("Our flight to Rome is on 3 May.", "Our flight from Rome was moved to 9 May."),
        ("The house is on the market for 480,000.", "The house next door is on the market for 455,000 now."),
    ],
)
def test_a_word_an_owner_or_a_direction_tells_things_apart(older: str, newer: str) -> None:
    """What stands beside the same noun makes it another thing, and nothing of the first one is replaced."""
    assert speaks_of_another(newer, older)
    assert not replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging database runs on Postgres 13.", "We have upgraded the staging database to Postgres 16."),
        ("The conference is in Berlin this year.", "They moved the conference from Berlin to Vienna."),
        ("Tickets cost 25 pounds.", "Ticket prices went up to 30 pounds."),
    ],
)
def test_the_same_thing_is_told_again_in_other_words(older: str, newer: str) -> None:
    """A verb, an article or the word "price" beside the noun leaves it the same thing."""
    assert not speaks_of_another(newer, older)
    assert replaces(newer, older)
