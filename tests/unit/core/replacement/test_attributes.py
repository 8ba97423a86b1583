"""What a person has one of at a time, in whatever words: the rows, and what they must not take for another value."""

import pytest

from everfold.core.clauses.assertions import list_tokens
from everfold.core.clauses.frames import list_plain
from everfold.core.replacement.attributes import RULES, AttributeRule, read_attributes
from everfold.core.replacement.replacement import replaces


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.attribute}: {rule.example}")
def test_each_rule_reads_its_example(rule: AttributeRule) -> None:
    """A row gives its attribute the value that it names, and leaves nothing of its example over."""
    told = read_attributes(rule.example)[rule.attribute]
    assert told.is_alone
    if rule.value:
        assert told.value == list_plain(list_tokens(rule.value))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I work at Kite.", "I just got a new job at Moor & Sons."),
        ("I work at Kite.", "I changed jobs to Moor."),
        ("I work at Kite.", "I am unemployed."),
        ("I work as a nurse.", "I quit my job and now work as a teacher."),
        ("I live in Graz.", "We relocated to Linz last month."),
        ("I live in Graz.", "Actually, I moved to Linz last month."),
        ("I'm vegetarian.", "I've decided to go fully vegan!"),
        ("I'm vegetarian.", "I'm no longer vegetarian."),
        ("I am single.", "I got married to Ada."),
        ("I commute by bike.", "I drive to work."),
        ("My salary is 75,000 euros.", "I'm now making 95,000 euros."),
        ("I report to Ada Moor.", "My new boss is Ben Klein."),
        ("I drive a Skoda.", "I bought a Tesla."),
    ],
)
def test_another_value_replaces_in_whatever_words(older: str, newer: str) -> None:
    """Two values of one attribute exclude each other, though the statements may share no word."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I work at Kite.", "I work at Moor on Saturdays."),
        ("I work at Kite as a tester of brakes.", "I started at Moor."),
        ("I work at Kite.", "My sister works at Moor."),
        ("I live in Graz.", "We live in Graz, Austria."),
        ("I live in Graz with my cat.", "I moved to Graz from Linz in March."),
        ("I live in Graz.", "I moved to Linz for the summer."),
        ("I live in Graz.", "I moved to Billing team last month."),
        ("I live in Graz.", "I moved to the billing team."),
        ("I live in Graz.", "I moved to the night shift."),
        ("I live in Graz.", "We moved to a four-day week."),
        ("I live in Graz.", "We moved to Slack last week."),
        ("I live in Graz.", "I moved to Python 3."),
        ("I live in Graz.", "I relocated to Sales."),
        ("I live on coffee.", "I moved to tea."),
        ("I weigh 80 kg.", "I weigh 176 pounds."),
        ("I'm vegetarian.", "I ate at a vegan place."),
        ("I work at Kite.", "I used to work at Moor."),
        ("I work at Kite.", "I might start at Moor."),
        ("I drive a Skoda.", "I drive a Volvo at weekends."),
    ],
)
def test_what_may_hold_beside_stays(older: str, newer: str) -> None:
    """A value of another person, occasion or time, a closer one, and one in another unit replace nothing."""
    assert not replaces(newer, older)


def test_a_value_given_up_leaves_other_attributes_alone() -> None:
    """What is no longer so of an attribute that the older statement does not speak of replaces nothing."""
    older = "I no longer work at Acme, I work at Bolt now."
    assert not replaces("I am no longer vegetarian.", older)
    assert not replaces("I no longer live in Rome.", older)
    assert replaces("I no longer work at Bolt.", "I work at Bolt.")


def test_what_was_saved_falls_to_a_mark_only() -> None:
    """What the person asked to keep stands beside another value, until one is said to be so now."""
    older = "I work at Kite."
    assert not replaces("I work at Moor.", older, is_saved=True)
    assert replaces("I work at Moor now.", older, is_saved=True)
