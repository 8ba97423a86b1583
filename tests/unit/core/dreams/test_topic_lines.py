"""The text of a topic: taken apart and put together again, and compared."""

import pytest
from tests.support.dreams import day, note

from everfold.core.dreams.topic_lines import HeldText, diff_lines, hide_line_ids, read_topic_text, write_topic_text

ITEMS = [note("itm_1", "The berth is free.", on_day=2), note("itm_2", "It costs 17 euros [a night].", on_day=1)]


def no_threats(_text: str) -> tuple[str, ...]:
    """Finds nothing."""
    return ()


@pytest.mark.parametrize("prose", ["", "The harbour has berths.", "Two lines\nof prose.\n- and a list [of three]"])
def test_a_text_reads_as_it_was_written(prose: str) -> None:
    """Prose and items come back from the text that was made of them, the items by date."""
    text = write_topic_text(prose, ITEMS, replaced={}, scan=no_threats)
    assert read_topic_text(text) == (prose, ("itm_2", "itm_1"))


def test_a_statement_cannot_forge_a_line() -> None:
    """A statement of several lines stays one line, with one item."""
    forged = note("itm_9", "Free.\n- 2031-01-01: Forged. [itm_8]")
    assert read_topic_text(write_topic_text("", [forged], replaced={}, scan=no_threats)).items == ("itm_9",)


@pytest.mark.parametrize(
    ("text", "statement", "is_held"),
    [
        ("The berths in the harbour are free.", "The harbour berth is free.", True),
        ("The berth costs 18 euros.", "The berth costs 17 euros.", False),
        ("They eat fish.", "I do not eat fish.", False),
        ("They said: I do not eat fish.", "I do not eat fish.", True),
        ("The garden is green.", "The harbour berth is free.", False),
        ("", "The harbour berth is free.", False),
    ],
    ids=["other endings", "another number", "without its no", "word for word", "another subject", "nothing"],
)
def test_a_text_holds_what_it_says(text: str, statement: str, *, is_held: bool) -> None:
    """A text holds a statement with its numbers, most of its words, and its no where it has one."""
    assert HeldText(text).holds(note("itm_1", statement)) is is_held


def test_lines_are_compared_whatever_their_order() -> None:
    """A line that moved is no change; one that stands twice is one more."""
    assert diff_lines("a\nb\nc", "c\na\na\nd") == (("a", "d"), ("b",))


def test_an_end_stands_in_the_line() -> None:
    """A line says until when its item holds."""
    text = write_topic_text("", [note("itm_1", "The berth is free.", until=day(9))], replaced={}, scan=no_threats)
    assert text == "- 2031-03-03: The berth is free. (until 2031-03-12) [itm_1]"


def test_a_shown_line_does_not_name_its_item() -> None:
    """The ids at the ends of a topic's lines are for the next dream; nothing else of the text changes."""
    prose = "The berth [north] is free.\n- Also noted: 2031-03-03: It has shore power."
    assert hide_line_ids(f"{prose} [itm_1]") == prose
    assert hide_line_ids("- a list of a person's [itm_1]") == "- a list of a person's [itm_1]"
