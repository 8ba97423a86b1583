"""A sentence that orders how to work binds as strongly as it says; what people say to one another in passing does not."""

from datetime import UTC, datetime

import pytest

from everfold.core.statements.reading import find_extract_lines
from everfold.core.statements.strengths import measure_line


def measure(text: str) -> int:
    """How strongly what a user says binds; 0 where it does not stand."""
    lines = find_extract_lines(
        text, seq=1, origin="user", is_result=False, said_at=datetime(2031, 3, 3, tzinfo=UTC), attached=()
    )
    return max([measure_line(line) for line in lines if line.standing], default=0)


@pytest.mark.parametrize(
    "text",
    [
        "When you get a new order, print the slip.",
        "When you get a new recipe, convert it to metric.",
        "When you see a name, use initials.",
        "When you get a new lead, add it to the CRM.",
        "When you have a new idea, write it in ideas.md.",
        "When you've finished a feature, update the changelog.",
        "When you see an error, stop and tell me.",
        "When you have finished a chapter, send me the word count.",
        "When you've written a test, run it.",
        "When you have a question, ask me first.",
        "When you get an email from Carla, forward it to me.",
        "When you get a new ticket, label it.",
        "When you hit a merge conflict, ask me.",
    ],
)
def test_what_to_do_each_time_is_an_explicit_rule(text: str) -> None:
    """An order for each thing that comes up in the work is an explicit rule."""
    assert measure(text) == 3


@pytest.mark.parametrize(
    "text",
    [
        "When you have time, we could repaint the shed.",
        "When you get home, put the kettle on.",
        "When you see her, say hi from me.",
        "When you see her, give her my love.",
        "When you get a minute, send me the list.",
        "When you get the chance, read the book.",
        "When you find a new job, call me.",
        "When you see a shooting star, make a wish.",
        "When you have a baby, buy a good pram.",
        "When you have a headache, take an aspirin.",
        "When you get a puppy, send me pictures.",
        "When you see a puppy, send me pictures.",
        "When you get a promotion, send me a note.",
        "When you have finished the chapter, send me the word count.",
    ],
)
def test_what_to_do_once_or_between_friends_is_no_rule(text: str) -> None:
    """An order for one occasion, and what people tell one another, does not bind."""
    assert measure(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "The user wants all dates in ISO form.",
        "The client wants a blue header.",
        "The client wants to keep the blue header.",
        "Deadline: 3 May",
        "Deadline for the report: Friday.",
        "You can't use the red logo.",
    ],
)
def test_a_wish_of_the_client_a_deadline_and_a_ban_are_limits(text: str) -> None:
    """What the client wants, a deadline in note form and what is not to be used bind as limits do."""
    assert measure(text) == 2


@pytest.mark.parametrize("text", ["The client wants to meet us.", "Deadline: none", "You can't be serious."])
def test_what_only_looks_like_a_limit_binds_weakly(text: str) -> None:
    """The same words without a demand, a day or a thing are no limit."""
    assert measure(text) < 2


@pytest.mark.parametrize("text", ["The user wants to pay.", "My landlord can't use his car."])
def test_a_single_act_and_what_another_cannot_do_bind_nobody(text: str) -> None:
    """What a person wants to do once, and what another person is not able to do, are no limits."""
    assert measure(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "Metric, always metric.",
        "English, always English.",
        "Vegan, always vegan.",
        "Euros, always euros.",
        "Glass, always glass.",
    ],
)
def test_an_echoed_form_stands(text: str) -> None:
    """How something is to be, said twice over, is an instruction: only an echoed plural of things is none."""
    assert measure(text) >= 1


@pytest.mark.parametrize("text", ["Mugs, always mugs.", "My neighbour likes none."])
def test_an_echo_and_a_taste_for_nothing_do_not_stand(text: str) -> None:
    """A word that is only said again, and a taste that names nothing, are no instructions."""
    assert measure(text) == 0
