"""What an extract line gives to memory."""

from datetime import UTC, datetime

import pytest

from everfold.core.extraction.remembering import ItemKind, find_memory_kind
from everfold.core.primitives.origins import Origin
from everfold.core.statements.reading import find_extract_lines

_NOW = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)


def _find_kinds(text: str, origin: Origin) -> set[ItemKind | None]:
    lines = find_extract_lines(text, seq=3, origin=origin, is_result=origin == "tool", said_at=_NOW)
    return {find_memory_kind(line) for line in lines}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never push to main.", "preference"),
        ("I prefer short answers.", "preference"),
        ("I meant the 14th.", "fact"),
        ("I'm allergic to walnuts.", "fact"),
        ("Remember that the badge is K-17.", "fact"),
        ("We decided to take the train.", "decision"),
        ("I'll send the forms on Monday.", "task"),
        ("I play the oboe in a quartet.", "fact"),
        ("I need to renew the lease before May.", "task"),
        ("todo: oil the hinges", "task"),
        ("I still don't know whether the permit was granted.", "open_item"),
        ("Could you please remember that the badge is K-17?", "fact"),
        ("Ruf mich bitte niemals vor neun an.", "preference"),
        ("Hemos decidido ir en tren.", "decision"),
        ("What is the capital of Peru?", None),
        ("Can you renew the lease?", None),
        ('He said "I never eat figs" and laughed.', None),
        ("brb, I'll grab a coffee", None),
        ("Thanks a lot!", None),
        ("No, that's it for today.", None),
        ("I took them to a snowy one.", None),
        ("That one is Max, my childhood dog.", "fact"),
    ],
)
def test_a_user_s_statement_becomes_the_kind_of_item_that_it_is(text: str, kind: ItemKind | None) -> None:
    """Each kind of a user's statement becomes one kind of item, and small talk none."""
    assert _find_kinds(text, "user") == {kind}


@pytest.mark.parametrize("text", ["Never push to main.", "I prefer short answers.", "I'm allergic to walnuts."])
def test_an_assistant_says_nothing_about_the_user(text: str) -> None:
    """What would be a user's preference or fact gives nothing when the assistant says it."""
    assert _find_kinds(text, "assistant") == {None}


def test_an_assistant_s_commitments_and_decisions_are_taken() -> None:
    """What the assistant binds itself to for later becomes a task or a decision."""
    assert _find_kinds("I'll send the forms on Monday.", "assistant") == {"task"}
    assert _find_kinds("We decided to take the train.", "assistant") == {"decision"}


@pytest.mark.parametrize("text", ["I'll check that now.", "Let me look at the file.", "I need to renew the lease."])
def test_what_an_assistant_does_at_once_is_no_task(text: str) -> None:
    """Of the assistant's own steps only those that it puts off are remembered."""
    assert _find_kinds(text, "assistant") == {None}


def test_a_short_reply_is_remembered_only_as_an_answer() -> None:
    """The same words give a fact after a question about the speaker, and nothing without it."""
    (line,) = find_extract_lines("With milk, two sugars", seq=3, origin="user", is_result=False, said_at=_NOW)
    assert find_memory_kind(line) is None
    assert find_memory_kind(line, before="How do you take your tea?") == "fact"


@pytest.mark.parametrize("origin", ["tool", "external", "system"])
@pytest.mark.parametrize("text", ["Remember that the badge is K-17.", "I'll send the forms on Monday."])
def test_what_no_one_of_the_talk_said_gives_nothing(origin: Origin, text: str) -> None:
    """Output, outside text and scheduled text never become an item, whatever they claim."""
    assert _find_kinds(text, origin) == {None}
