"""Whether a sentence tells a fact that outlasts its moment, and whether one answers a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.statements.extracts import LineKind
from everfold.core.statements.telling import FACT_READINGS, is_answer, tells_lasting

_WORDS = st.sampled_from(["it", "is", "it's", "a", "on", "called", "moved", "the", "at", "for", "house", "2", "born"])


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("I play the oboe in a quartet.", "lead"),
        ("btw we moved to Malmö in May", "name"),
        ("My brother is a welder", "lead"),
        ("The ledger is written in OCaml.", "name"),
        ("host: ibex-4", "identifier"),
        ("There are seven of us", "lead"),
        ("diabetic since 2003", "date"),
        ("Ich wohne in Graz", "name"),
        ("Tengo dos hermanas", "lead"),
    ],
)
def test_what_is_said_of_oneself_or_of_what_is_one_s_own_lasts(sentence: str, kind: LineKind) -> None:
    """A state of the speaker, of what is his, and a named value are told as lasting."""
    assert tells_lasting(sentence, kind)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("I wonder what owls hear", "lead"),
        ("I'm so tired", "lead"),
        ("I could buy a castle in Wales maybe", "name"),
        ("My screen is flickering right now", "lead"),
        ("Definitely, Bram!", "name"),
        ("git checkout -b fix-12", "identifier"),
        ("Do you live in Graz?", "name"),
        ('She said "I live in Graz" and left', "name"),
        ("Danke für die Hilfe", "lead"),
    ],
)
def test_what_is_felt_supposed_asked_quoted_or_passing_does_not_last(sentence: str, kind: LineKind) -> None:
    """Moods, suppositions, greetings, commands, questions, quotes and what happens right now tell nothing that lasts."""
    assert not tells_lasting(sentence, kind)


@pytest.mark.parametrize("mark", ["", ".", "!", ", "])
def test_an_opener_changes_nothing(mark: str) -> None:
    """A word that only opens a sentence hides neither its subject nor its lack of one."""
    assert tells_lasting(f"well{mark} I own a kiln", "lead")
    assert not tells_lasting(f"well{mark} I hope so", "lead")


@pytest.mark.parametrize("sentence", ["the 22nd", "Since Monday", "With milk, two sugars"])
def test_a_short_reply_to_a_question_is_an_answer(sentence: str) -> None:
    """What follows a question about the speaker answers it."""
    assert is_answer(sentence, before="Thanks. How do you take it, and since when?")


@pytest.mark.parametrize(
    ("sentence", "before"),
    [
        ("Yes, please", "When do you leave?"),
        ("Why?", "When do you leave?"),
        ("the 22nd", "Here is the plan."),
        ("the second file", "Shall I go on?"),
        ("cancel it", "Which one do you want?"),
        ("word " * 60, "Which one do you want?"),
    ],
)
def test_nods_counter_questions_orders_and_replies_to_offers_are_no_answers(sentence: str, before: str) -> None:
    """Agreement, a question back, an order, a long text, and what follows no question or an offer answer nothing."""
    assert not is_answer(sentence, before=before)


@given(st.lists(_WORDS, min_size=1, max_size=8))
def test_a_reading_that_needs_a_fact_tells_nothing_without_one(words: list[str]) -> None:
    """What begins as such a reading is skipped where nothing hard is in it, so no words may tell anything by it."""
    assert not any(reading(words, False) for reading in FACT_READINGS)
