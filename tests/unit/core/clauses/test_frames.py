"""Clauses taken apart into a subject, a verb and phrases."""

import pytest

from everfold.core.clauses.frames import read_frame, turn_around


@pytest.mark.parametrize(
    ("clause", "sorts"),
    [
        ("The picnic is at Riverside Park", ["name"]),
        ("The dose is 5 mg", ["number"]),
        ("The backups are kept for a month", ["number"]),
        ("The meeting is on Tuesday at 10", ["when", "when"]),
        ("The script needs Python 3.8", ["number"]),
        ("The dog sleeps in the kitchen", ["word"]),
    ],
)
def test_each_phrase_has_the_sort_of_its_value(clause: str, sorts: list[str]) -> None:
    """A phrase begins at a preposition, and is a name, a number, a time or words."""
    frame = read_frame(clause)
    assert frame is not None
    assert [phrase.sort for phrase in frame.phrases] == sorts


def test_verbs_that_only_place_a_thing_are_one_verb() -> None:
    """What is, sits, or takes place somewhere is compared as one."""
    verbs = {
        frame.verb
        for clause in ("The picnic is at the lake", "The picnic takes place at the lake", "The server sits in rack 4")
        if (frame := read_frame(clause)) is not None
    }
    assert verbs == {"be"}


def test_a_role_is_turned_around() -> None:
    """Who has a role is told as what the role's noun is; a plain noun without an article is not."""
    role, trait = read_frame("Grace is my roommate"), read_frame("Grace is tall")
    assert role is not None
    assert trait is not None
    turned = turn_around(role)
    assert turned is not None
    assert turned.subject == {"roommat"}
    assert turn_around(trait) is None


@pytest.mark.parametrize(
    ("clause", "subject"),
    [
        ("The school play is in the gym", {"school", "plai"}),
        ("My son's curfew is ten", {"son", "curfew"}),
        ("The onboarding call with Nordwind is on Thursday", {"onboard", "call", "nordwind"}),
        ("The conference in May is in Berlin", {"confer", "mai"}),
    ],
)
def test_nouns_that_look_like_verbs_belong_to_the_subject(clause: str, subject: set[str]) -> None:
    """A noun of the subject that may be a verb elsewhere ends no subject, and no word of a language is taken for another's."""
    frame = read_frame(clause)
    assert frame is not None
    assert frame.subject == subject
