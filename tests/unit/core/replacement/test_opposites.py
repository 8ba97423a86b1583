"""What excludes what: attitudes, how often, qualities, and one thing in another's place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.clauses.assertions import Assertion, read_assertion
from everfold.core.replacement import opposites
from everfold.core.replacement.replacement import replaces

_WORDS = sorted(
    {
        word
        for row in (*opposites._ATTITUDES, *opposites._HOW_OFTEN, *opposites._QUALITIES)
        for word in " ".join(row).split()
    }
    | set(
        "i we my the not never like liked likes preferring always favourite milk trains of in mode and do does".split()
    )
)
_CLAUSES = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join).map(read_assertion)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I love sushi.", "I hate sushi."),
        ("I like Python.", "I don't like Python."),
        ("I agree with the proposal.", "I disagree with the proposal."),
        ("I support remote work.", "I oppose remote work."),
        ("I sometimes eat meat.", "I never eat meat."),
        ("I prefer dark mode.", "I prefer light mode."),
        ("I always book a window seat.", "I always book an aisle seat."),
        ("I prefer dark mode.", "I switched to light mode."),
        ("I drink oat milk.", "I switched to soy milk."),
        ("I use JavaScript for the backend.", "We switched to TypeScript for the backend."),
        ("I drink coffee with breakfast.", "I switched to tea."),
        ("My preferred language is Python.", "I prefer Rust these days."),
    ],
)
def test_the_opposite_replaces(older: str, newer: str) -> None:
    """Of two things that exclude each other the later one holds."""
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I love dark chocolate.", "I hate light bulbs."),
        ("I prefer dark mode.", "I prefer light roast."),
        ("I normally use dark mode.", "I switched to light mode during the talk."),
        ("I use JavaScript for the backend.", "We switched to TypeScript for the app."),
        ("I prefer red apples.", "I prefer green beans now."),
        ("I like cats.", "My sister hates cats."),
        ("I drink coffee.", "I switched to the tea queue."),
        ("I never eat meat.", "I usually eat at seven."),
    ],
)
def test_what_is_of_something_else_stays(older: str, newer: str) -> None:
    """Opposites of two things, two persons, two purposes or a short while leave each other alone."""
    assert not replaces(newer, older)


@given(said=_CLAUSES, clause=_CLAUSES)
def test_only_what_has_a_word_of_a_row_has_an_opposite(said: Assertion, clause: Assertion) -> None:
    """Looking for a word of a row first leaves out no clause that another can be the opposite of."""
    words = opposites._read_words(said)
    assert opposites._has_opposite(said, words) or not opposites._is_clause_opposite(clause, said, words)
