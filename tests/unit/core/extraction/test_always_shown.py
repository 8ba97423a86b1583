"""Which items of the rules go into the block that is always shown."""

from datetime import UTC, datetime

import pytest

from everfold.core.extraction.always_shown import choose_shelf, shelve_answer
from everfold.core.primitives.origins import Origin
from everfold.core.statements.reading import find_extract_lines

_NOW = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)


def _shelve(text: str, origin: Origin = "user") -> list[str]:
    lines = find_extract_lines(text, seq=3, origin=origin, is_result=False, said_at=_NOW)
    return [choose_shelf(line, line.quote) for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the badge is K-17.",
        "From now on answer in French.",
        "Never push to main.",
        "tabs, not spaces",
        "Every public endpoint must be rate limited.",
        "dont ever send me spoilers pls im only on season 2",
        "Nie direkt auf main pushen.",
        "I can't eat gluten, I have coeliac disease.",
        "My name is Ilse.",
        "I live in a small town near Porto.",
        "My wife is a nurse.",
        "I prefer short answers.",
        "I like hiking, rowing and chess.",
        "Soy alérgica a los mariscos desde niña.",
        "That one is Max, my childhood dog.",
        "The staging server is fragile. Never restart it.",
        "He is my brother Tom.",
    ],
)
def test_what_was_asked_for_and_who_the_person_is_are_shown(text: str) -> None:
    """Explicit words, orders, limits, wishes and identity go into the block."""
    assert _shelve(text) == ["block"]


@pytest.mark.parametrize(
    "text",
    [
        "We decided to open the shop on 3 March.",
        "I'll send the forms on Monday.",
        "I need to renew the lease before May.",
        "I went to a glass fair last Friday.",
        "I still don't know whether the permit was granted.",
        "Make sure yours stands out.",
        "And don't forget to stay positive and motivate others.",
        "I love all the yellow leaves, it looks so cosy.",
        "You can't taste food.",
        "Make sure all these tests pass with your changes.",
        "I've never missed a rehearsal, but I can't make it tonight.",
        "I'm trying to keep at least two copies of every file, how can I do that?",
        "Please review the changes and make sure they are correct.",
        "Never delete it.",
        "Always ask her first.",
        "Remember it.",
        "He is my brother.",
    ],
)
def test_the_rest_is_left_to_search(text: str) -> None:
    """What happened, what is planned, what is open and what was said to please stay out of the block."""
    assert set(_shelve(text)) <= {"archive"}


def test_nothing_of_an_assistant_is_shown() -> None:
    """What an assistant promises is found by search."""
    assert _shelve("I'll send the forms on Monday.", "assistant") == ["archive"]


def test_an_answer_is_shown_by_its_question() -> None:
    """A bare answer goes into the block where its question asks who the user is."""
    assert shelve_answer("What is your allergy?") == "block"
    assert shelve_answer("When did the problem start?") == "archive"
