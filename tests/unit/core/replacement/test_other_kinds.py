"""Values of other kinds hold beside each other, though the thing is the same."""

import pytest

from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The exam is on 9 May.", "The exam was moved to 10:30."),
        ("The delivery is on Friday.", "The delivery is at noon."),
        ("The course lasts 6 weeks.", "The course was raised to 400 euros."),
        ("The pool is 25 metres.", "Actually the pool is 2 metres deep."),
        ("The museum costs 12 euros.", "The museum costs 6 euros now for students."),
        ("My boss is Ada.", "My boss is Swiss."),
        ("My best friend is Tom.", "My best friend is the guy from the bakery."),
        ("Answer in German.", "Answer in short sentences."),
        ("I sleep 7 hours.", "I finally slept 10 hours."),
        ("I take the bus.", "I took a taxi instead of the bus this morning."),
        ("My flight is at 9.", "My taxi to the flight is at 7, not 9."),
        ("I have a bike.", "My bike got stolen, the insurance paid for this one."),
        ("We use Jira.", "My old team used Trello instead of Jira."),
    ],
)
def test_what_is_of_another_kind_stays(older: str, newer: str) -> None:
    """A time beside a day, a price beside a length, a kind beside a name and an event beside a habit change nothing."""
    assert not replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The exam is on 9 May.", "The exam was moved to 12 May."),
        ("The delivery is at 9:30.", "The delivery is at 14:00."),
        ("The course lasts 6 weeks.", "The course was extended to 8 weeks."),
        ("The fence is 1.5 m high.", "The fence is 1.8 m high now."),
        ("The museum costs 12 euros.", "The museum costs 14 euros now."),
        ("My boss is Ada.", "My boss is Ben now."),
        ("Answer in German.", "Answer in English."),
        ("I take the bus.", "I take the tram instead of the bus."),
    ],
)
def test_what_is_of_one_kind_changes(older: str, newer: str) -> None:
    """Another value of the same kind takes the place of the older one."""
    assert replaces(newer, older)
