"""Which mail is a person's: told by headers that everybody uses, and by what its reader marked."""

import pytest

from everfold.core.sources.mail_rules import find_bulk_reason, is_notable, read_first_lines


@pytest.mark.parametrize(
    ("headers", "flags", "reason"),
    [
        ({}, (), None),
        ({"auto-submitted": ["no"], "precedence": ["first-class"]}, (), None),
        ({"list-unsubscribe": ["<https://x>"]}, (), "newsletter"),
        ({"list-unsubscribe-post": ["List-Unsubscribe=One-Click"]}, (), "newsletter"),
        ({"list-id": ["<l.example>"]}, (), "mailing list"),
        ({"precedence": [" Bulk"]}, (), "bulk"),
        ({"precedence": ["list"]}, (), "bulk"),
        ({"x-microsoft-antispam": ["BCL:8;"]}, (), "bulk"),
        ({"x-microsoft-antispam": ["BCL:2;"]}, (), None),
        ({"auto-submitted": ["auto-generated; x=1"]}, (), "automatic"),
        ({"x-spam-flag": ["YES"]}, (), "junk"),
        ({}, ("$junk",), "junk"),
        ({"x-gmail-labels": ['Inbox,"Category promotions"']}, (), "promotion"),
        ({"x-gmail-labels": ["Inbox,CATEGORY_PROMOTIONS"]}, (), "promotion"),
        ({"x-gmail-labels": ["Inbox,Category\r\n promotions"]}, (), "promotion"),
        ({"list-unsubscribe": ["<x>"]}, ("\\flagged",), None),
        ({"list-unsubscribe": ["<x>"], "importance": ["high"]}, (), "newsletter"),
        (
            {
                "auto-submitted": ["auto-replied"],
                "content-type": ["multipart/report; report-type=delivery-status; b=x"],
            },
            (),
            None,
        ),
    ],
)
def test_why_a_message_is_left_out(headers: dict[str, list[str]], flags: tuple[str, ...], reason: str | None) -> None:
    """Each header rule has its reason; what its reader starred and what failed to arrive are shown all the same."""
    assert find_bulk_reason(headers, flags) == reason


def test_an_invitation_is_a_person_s() -> None:
    """A machine sends it, and a person waits for an answer."""
    assert find_bulk_reason({"auto-submitted": ["auto-generated"]}, is_invitation=True) is None
    assert find_bulk_reason({"list-id": ["<l>"]}, is_invitation=True) == "mailing list"


@pytest.mark.parametrize(("flags", "notable"), [(["\\flagged"], True), (["$important"], True), (["\\seen"], False)])
def test_only_the_reader_s_own_marks_count(flags: list[str], notable: bool) -> None:  # noqa: FBT001
    """What a sender says of importance is no mark."""
    assert is_notable({"x-priority": ["1"], "importance": ["high"]}, flags) is notable


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("Yes.\n\n-- \nKim", "Yes."),
        ("Yes.\n\nAm 21.11.2026 um 10:00 schrieb Ada <ada@example.org>:\n> No?\n> Well?", "Yes."),
        ("At 10:00:\nAda <ada@example.org> wrote:\n> No?\n> Well?\nYes.", "At 10:00: Yes."),
        ("> Shall we?\nYes, at ten.", "Yes, at ten."),
        ("Look at this\n-----Original Message-----\nFrom: x", "Look at this"),
        ("---------- Forwarded message ---------\nFrom: x", "---------- Forwarded message --------- From: x"),
        ("", ""),
        ("> only quoted", ""),
    ],
)
def test_the_first_words_are_the_sender_s_own(body: str, first: str) -> None:
    """Quotes, the line that introduces them, and signatures go, in any language; a forward keeps what it brings."""
    assert read_first_lines(body, most_chars=100) == first


def test_a_long_body_costs_little_and_is_cut() -> None:
    """Only the beginning of a body is looked at."""
    assert read_first_lines("x" * 10_000_000, most_chars=50) == "x" * 47 + "..."


@pytest.mark.timeout(60)
def test_a_line_before_many_quotes_is_looked_at_once() -> None:
    """What may be the line that introduces a quote costs the same however many lines are quoted."""
    assert read_first_lines("On <" + "a@" * 3_900 + "\n" + ">\n" * 6_000, most_chars=50).startswith("On <a@a@")
