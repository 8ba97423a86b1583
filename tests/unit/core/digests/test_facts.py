"""What counts as a fact of a text, and when a record holds it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.digests.facts import HeldFacts, list_facts
from everfold.core.digests.requests import Spoken

SAID_AT = datetime(2026, 2, 3, 14, 5, tzinfo=UTC)


def missing(reply: str, record: str, *, first_seq: int = 41, last_seq: int = 48) -> list[str]:
    """The facts of a reply that a record, said on a Tuesday, lacks."""
    held = HeldFacts((Spoken(41, "user", SAID_AT, record),), first_seq=first_seq, last_seq=last_seq)
    return [fact.text for fact in held.list_missing(reply)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("see https://x.example/a?b=1 now", ["url"]),
        ("mail ana.silva@example.com", ["email"]),
        ("in src/app.py and ~/.ssh, ./run.sh", ["path", "path", "path"]),
        ("call get_user, UserService, KX-441, foo.bar", ["identifier"] * 4),
        ("41.5 $1,250 45% 16GB 2x 12", ["number"] * 6),
        ("yes/no, follow-up, GitHub, etc. and I'm done (e.g. now) - a b", []),
        ("東京のKX-441です", ["identifier"]),
    ],
)
def test_facts_are_told_by_their_letters(text: str, kinds: list[str]) -> None:
    """Links, addresses, paths, identifiers and numbers are facts; words, with whatever between them, are none."""
    assert [fact.kind for fact in list_facts(text)] == kinds


@pytest.mark.parametrize(
    ("reply", "record"),
    [
        ("KX-441 and kx441", "KX 441"),
        ("src/core/app.py", "cd src/core; open app.py"),
        ("UserService.find_user", "class UserService:\n  def find_user"),
        ("1250, 1,250, 1.250 and 1'250", "it costs 1,250"),
        ("1.5k, $2 million, 2M", "1,500 and 2000000"),
        ("25 and 340", "twenty five, three hundred and forty"),
        ("41.50", "41.5"),
        ("[12, 34] and 34", "[12,34]"),
        ("7:00 and 19:00, at 2:05 pm", "at 7, and 14:05"),
        ("2:05 PM", "when it was said"),
        ("(#41), (42-44), messages 45 and 46, msg 47, [48]", "x"),
        ("1. one\n2) two\n13. thirteen", "x"),
        ("the 3rd of 12", "x"),
        ("030 1234567 and 0301234567", "+49? no, 030 1234567"),
    ],
)
def test_other_notations_are_held(reply: str, record: str) -> None:
    """The same value in another notation is no invention."""
    assert missing(reply, record) == []


@pytest.mark.parametrize(
    ("reply", "record"),
    [
        ("KX-44", "KX-441"),
        ("X-441", "KX-441"),
        ("src/core/app.py", "src/main.py and core"),
        ("core/app.py:90", "core/app.py:88"),
        ("1251", "1,250"),
        ("13", "12"),
        ("#49", "x"),
        ("(49)", "x"),
        ("15:06", "when it was said"),
        ("v2.1.4", "v2.1.3"),
    ],
)
def test_what_differs_is_not_held(reply: str, record: str) -> None:
    """A part of an identifier, a neighbour of a number, and a message out of range are inventions."""
    assert [text.strip("#()") for text in missing(reply, record)] == [reply.strip("#()")]


@pytest.mark.parametrize(
    ("reply", "record"),
    [
        ("2026-02-03, 3 February 2026, Feb 3rd, 03.02.2026, 2/3/26", "hello"),
        ("2026-02-02", "it was yesterday"),
        ("2026-02-04", "tomorrow then"),
        ("6 February 2026", "on Friday"),
        ("January 2026", "last month"),
        ("2025", "last year"),
        ("2016", "for ten years"),
        ("January 20, 2026", "two weeks ago"),
        ("2026-04-17", "the 17th of April"),
        ("2026-04-17", "April 17"),
        ("2026年4月17日", "2026-04-17"),
        ("May 2026", "2026-05-17"),
    ],
)
def test_dates_that_follow_are_held(reply: str, record: str) -> None:
    """Other notations of a date, and dates that relative words of that day mean, are held."""
    assert missing(reply, record) == []


@pytest.mark.parametrize(
    ("reply", "record"),
    [
        ("2026-02-04", "hello"),
        ("2026-02-04", "it was yesterday"),
        ("7 February 2026", "on Friday"),
        ("May 2026", "last month"),
        ("2016", "last year"),
        ("2027-04-17", "2026-04-17"),
    ],
)
def test_dates_that_do_not_follow_are_not(reply: str, record: str) -> None:
    """A day beside the one that was meant is an invention."""
    assert missing(reply, record) == [reply]


def test_may_is_a_word_too() -> None:
    """A number before the verb is no date."""
    assert missing("step 3 may fail", "x") == []


@given(st.text(max_size=300))
def test_a_text_holds_itself(text: str) -> None:
    """Whatever a record says may be said of it word for word."""
    assert missing(text, text, first_seq=0, last_seq=10**9) == [] or any(
        mark in text for mark in "\x1c\x1d\x1e\x1f\x85"
    )


@given(
    st.lists(
        st.sampled_from("KX-441 src/app.py 1,250 3pm 2026-02-30 $4.50 a_b 12:61 #7 5% 東京 x@y.zz 10/12/2031".split())
    )
)
def test_facts_hold_themselves(pieces: list[str]) -> None:
    """Any row of facts is held by the same row."""
    text = " ".join(pieces)
    assert missing(text, text) == []
