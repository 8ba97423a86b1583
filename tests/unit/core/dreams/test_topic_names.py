"""Names of topics: nouns that a person would choose, areas of life, and never a question word or a number."""

from datetime import UTC, datetime

import pytest
from tests.support.dreams import note

from everfold.core.dreams.topic_names import (
    AREA_NAMES,
    choose_free_name,
    find_area,
    list_nouns,
    list_subjects,
    to_topic_name,
)
from everfold.core.memory.items import ItemKind


@pytest.mark.parametrize(
    ("statement", "nouns"),
    [
        ("The harbour berth costs 17 euros a night.", ["harbour", "berth"]),
        ("How do I get to the station?", ["station"]),
        ("I'm gonna paint our fence on Monday.", ["fence"]),
        ("Definitely, we found it helpful.", []),
        ("We sail to Trieste.", ["Trieste"]),
        ("My 2 new bicycles are red.", ["bicycles"]),
    ],
)
def test_only_nouns_name_a_topic(statement: str, nouns: list[str]) -> None:
    """What stands behind an article, a possessive or a preposition, or is a name, may name a topic; numbers never do."""
    assert list(list_nouns(statement).values()) == nouns
    assert list_nouns(statement).keys() <= list_subjects(statement).keys()


@pytest.mark.parametrize(
    "word", "how what when where why who which gonna gotta sure definitely found help 2 17".split()
)
def test_words_without_a_matter_tell_no_subject(word: str) -> None:
    """Question words, slang, verbs of everyday and bare numbers are no subject, wherever they stand."""
    assert list_subjects(f"The {word} of it.") == {}


@pytest.mark.parametrize(
    ("statement", "kind", "area"),
    [
        ("My sister is called Mia.", "fact", "people"),
        ("The landlord raised it again.", "fact", "home"),
        ("I am allergic to nuts.", "fact", "health"),
        ("I prefer it short.", "preference", "preferences"),
        ("We will do it on Friday.", "task", "plans"),
        ("We settled on the second one.", "decision", "decisions"),
        ("It is as it is.", "fact", "general"),
    ],
)
def test_what_shares_nothing_has_an_area(statement: str, kind: ItemKind, area: str) -> None:
    """A word of an area decides, else the kind."""
    assert find_area(note("itm_1", statement, kind=kind)) == area
    assert area in AREA_NAMES


def test_a_name_is_given_once() -> None:
    """A name that is taken gets the month of its first item, then its day, and a number only when those are taken."""
    taken: dict[str, None] = {}
    for _ in range(5):
        taken[choose_free_name("boat", taken, since=datetime(2031, 3, 4, tzinfo=UTC))] = None
    assert list(taken) == ["boat", "boat_2031_03", "boat_2031_03_04", "boat_2", "boat_3"]


def test_a_name_is_words_joined() -> None:
    """Any text becomes words in small letters with underscores between them, or nothing."""
    assert to_topic_name("Kids & Home!") == "kids_home"
    assert to_topic_name("?!") == ""
