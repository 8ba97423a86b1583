"""The verbs that say when something ends."""

from datetime import UTC, date, datetime

import pytest

from everfold.core.text.end_verbs import END_VERBS, EndVerb
from everfold.core.text.ends import find_end

MONDAY = datetime(2031, 3, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize("row", END_VERBS, ids=[one.wording for one in END_VERBS])
def test_each_verb_ends_a_statement(row: EndVerb) -> None:
    """The example of each row holds through the day that it names."""
    found = find_end(row.example, MONDAY)
    assert found is not None
    assert found.date() == date(2031, 3, 6)


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("My contract will end on 6 March 2031.", (2031, 3, 6)),
        ("The insurance expires in March.", (2031, 3, 31)),
        ("My lease runs out in two weeks.", (2031, 3, 17)),
        ("My lease ends at the end of the month.", (2031, 3, 31)),
        ("The course finishes next Friday.", (2031, 3, 14)),
        ("My sister leaves on Thursday, back on Sunday.", (2031, 3, 9)),
        ("Mein Pass läuft am 6. März ab.", (2031, 3, 6)),
    ],
)
def test_the_day_may_be_written_in_each_way(said: str, last: tuple[int, int, int]) -> None:
    """A date, a month, a distance and a day of the week are read behind a verb; of several days the last counts."""
    found = find_end(said, MONDAY)
    assert found is not None
    assert found.date() == date(*last)


@pytest.mark.parametrize(
    "said",
    [
        "The class ends at 6.",
        "My shift finishes at noon.",
        "The course ends with an exam.",
        "I go back on Monday to my old job.",
        "The street ends at the river.",
        "The road ends in 3 kilometers.",
        "The course ended on 6 March.",
        "My working week ends on Thursday.",
        "The school year ends in June.",
        "Our fiscal year ends on 31 March.",
        "Access tokens expire in 3 days.",
        "The token expires in 30 days.",
        "The bus leaves on Thursdays.",
        "The ferry leaves on Thursday.",
        "My train leaves at 6.",
        "The leaves on the tree are red.",
        "My boss leaves the company on Thursday.",
        "My contract ends on 6 March and I am allergic to nuts.",
        "My name is Ada, my sister leaves on Thursday.",
        "My sister leaves on Thursday each week.",
        "Meine Schwester fährt am Donnerstag Rad.",
        "Mi madre termina la tesis.",
    ],
)
def test_what_recurs_or_lasts_has_no_end(said: str) -> None:
    """A time of day, a habit, the past, a lifetime of many things, and what is said beside what lasts name no last day."""
    assert find_end(said, MONDAY) is None
