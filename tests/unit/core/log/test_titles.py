"""Titles and previews: one line that a session is recognised by."""

import pytest

from everfold.core.log.appending import plan_append
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.log.titles import MOST_TITLE_CHARS, PREVIEW_CHARS, TITLE_CHARS, clean_title, make_preview, make_title
from everfold.core.primitives.json_values import JsonObject
from everfold.testing.kit.builders import assistant, budget_of, calls, incoming, user


def place(wire: JsonObject) -> Message:
    """A message as it stands first in a log."""
    state = SessionState()
    plan = plan_append(state, [incoming(wire)], budget_of(SessionSettings(), state), step={}, session="ses_1")
    return plan.appended[0].message


def say(text: str) -> Message:
    """A message of the user."""
    return place(user(text))


def test_a_title_is_the_first_sentence() -> None:
    """A title ends with a sentence that is long enough to tell sessions apart, on one line."""
    assert make_title(say("Hi!\nI sell mugs from my workshop. Can you help me?")) == "Hi! I sell mugs from my workshop."
    assert make_title(say("Help me")) == "Help me"


def test_a_title_drops_the_mark_of_its_line() -> None:
    """The marks of a heading, a list and a pin are no words of a title."""
    for mark in ("# ", "- ", "> ", "[[keep]] ", "[[KEEP]]\n"):
        assert make_title(say(f"{mark}The kiln")) == "The kiln"
    assert make_preview(say("It is **1,220 degrees** in `north`.")) == "It is 1,220 degrees in north."


def test_lines_are_short() -> None:
    """However long a message is, its lines have a length that a list can show, and end at a word."""
    text = "kiln " * 5_000
    assert TITLE_CHARS - 6 < len(make_title(say(text))) <= TITLE_CHARS
    assert make_title(say(text)).endswith("kiln…")
    assert len(make_preview(say("W" * 5_000))) == PREVIEW_CHARS


def test_a_message_without_words_is_named_by_its_calls() -> None:
    """A preview names the calls of a message that says nothing; without any there is none."""
    assert make_preview(place(calls("a"))).startswith("calls ")
    assert make_preview(place(assistant("Done."))) == "Done."
    assert make_preview(None) == make_title(None) == ""


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Berths\r\n in\tOctober ", "Berths in October"),
        ("Pay\u202epal\u202c \u200b\u2066now\u2069", "Paypal now"),
        ("\x1b[31mRed\x07 \x9b0m", "[31mRed 0m"),
        ("half \ud83d", "half \ufffd"),
        ("\U0001f469\u200d\U0001f680 notes", "\U0001f469\u200d\U0001f680 notes"),
        (" \u200b ", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_a_title_from_outside_is_one_line_that_shows_what_it_says(given: object, kept: str) -> None:
    """A title that is given keeps its words and no control, turning or unseen character; what is no text gives none."""
    assert clean_title(given) == kept
    assert clean_title(kept) == kept


def test_a_title_from_outside_is_short() -> None:
    """However long a given title is, the stored one has a bounded length."""
    assert len(clean_title("W" * 100_000)) == MOST_TITLE_CHARS
    assert clean_title("kiln " * 5_000).endswith("kiln\u2026")
