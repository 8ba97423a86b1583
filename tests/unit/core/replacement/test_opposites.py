"""What excludes what: attitudes, how often, qualities, and one thing in another's place."""

import pytest

from everfold.core.replacement.replacement import replaces


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
