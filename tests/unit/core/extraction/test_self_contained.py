"""Which sentences are understood alone."""

import pytest

from everfold.core.extraction.self_contained import find_identity, is_advice, is_self_contained


@pytest.mark.parametrize(
    "sentence",
    [
        "That one is Max, my childhood dog.",
        "It's my sister's boat.",
        "It is version 4.2 of Linux Mint.",
        "I planted tomatoes behind the shed and they grew well.",
        "I joined the rowing club this week.",
        "We have decided that the workshop moves to Gdansk.",
        "I'll write the migration myself.",
        "It'll be hard as a single parent.",
        "The billing service is written in Elixir.",
        "Kundennummer 9917-A",
    ],
)
def test_what_tells_what_it_speaks_of_stands_alone(sentence: str) -> None:
    """A sentence whose pronouns stand for something in it, or that has none, is understood alone."""
    assert is_self_contained(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I took them to a snowy one.",
        "I painted it after I visited the harbour.",
        "Those are all things I enjoy doing.",
        "It made me think how much work there is.",
        "Sure, I will send it to you later.",
        "We want it to spread understanding.",
    ],
)
def test_what_points_at_something_unsaid_does_not(sentence: str) -> None:
    """A sentence with a pronoun that nothing in it explains is not understood alone."""
    assert not is_self_contained(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Good work, Sam!",
        "I totally agree, Mel.",
        "A lot happened since our last chat.",
        "I'll keep ya posted.",
        "I'm gonna make my dreams come true!",
        "What is the capital of Peru?",
        "No, that's it for today.",
    ],
)
def test_praise_small_talk_and_questions_do_not(sentence: str) -> None:
    """What keeps a talk going, praises or asks is of no use alone."""
    assert not is_self_contained(sentence)


def test_small_talk_before_a_fact_does_not_take_it_away() -> None:
    """Only what is left without the small talk of a sentence counts."""
    assert is_self_contained("So much has happened since we last spoke - I went to a glass fair two days ago.")


def test_advice_is_told_from_an_order() -> None:
    """What is wished for the one who listens is advice; what is wanted of them is none."""
    assert is_advice("And don't forget to stay positive and motivate others.")
    assert not is_advice("Don't forget to lock the gate.")


@pytest.mark.parametrize(
    ("sentence", "is_of_person"),
    [
        ("my name is frank.", True),
        ("my wife helene passed away two years ago.", True),
        ("we adopted a greyhound called pim.", True),
        ("my daughter is asleep.", False),
        ("i painted the fence.", False),
    ],
)
def test_identity_is_who_the_person_is(sentence: str, is_of_person: bool) -> None:  # noqa: FBT001 - a table
    """Name, home, work, family, health, age and pets tell who a person is; what happened does not."""
    assert find_identity(sentence) is is_of_person
