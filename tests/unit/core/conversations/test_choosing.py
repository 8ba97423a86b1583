"""Which session a request goes on with: the gateway's table of cases, as lists of letters.

A lower-case letter is what a user says, an upper-case one a reply, `(` a call and `)` its result, `~` before a reply one that
broke off, `_` an erased message of the user.
"""

from dataclasses import replace

import pytest

from everfold.core.conversations.alignment import align
from everfold.core.conversations.choosing import Choice, choose, choose_named, find_pass_reason
from everfold.core.conversations.hashes import GivenMessage
from everfold.core.log.client_lists import ClientMessage


def given(text: str) -> list[GivenMessage]:
    """The messages of a request."""
    messages: list[GivenMessage] = []
    for at, letter in enumerate(text.replace("~", "")):
        name = text.replace("~", "")[:at].count("(")
        calls = (f"c{name + 1}",) if letter == "(" else ()
        answers = (f"c{name}",) if letter == ")" else ()
        content = f"{letter}{name if letter in '()' else ''}".encode()
        messages.append(
            GivenMessage(
                content=content,
                is_reply=letter.isupper() or letter in "(#",
                is_anchor=letter == "#",
                calls=calls,
                answers=answers,
            )
        )
    return messages


def known(text: str) -> list[ClientMessage]:
    """What a client is known to hold."""
    plain = text.replace("~", "")
    loose = {at - text[:at].count("~") for at in range(1, len(text)) if text[at - 1] == "~"}
    return [
        ClientMessage(
            content=None if plain[at] == "_" else one.content,
            kind=one.kind,
            seq=at + 1,
            is_reply=one.is_reply,
            is_optional=at in loose,
        )
        for at, one in enumerate(given(plain))
    ]


def _show(text: str, choice: Choice) -> tuple[str, str, str]:
    """What a choice is: its kind, what is new, and what stands for what was left out."""
    alignment = choice.alignment
    injected = "".join(text[at] for at in alignment.injected)
    return choice.kind, "".join(text[at] for at in alignment.new), injected


CASES = [
    ("aA", "aAb", ("continue", "b", "")),
    ("a", "a", ("retry", "", "")),
    ("a", "aAb", ("continue", "Ab", "")),
    ("aAbB", "aAb", ("branch", "", "")),
    ("aAbB", "aAx", ("branch", "x", "")),
    ("aAbBcC", "aAxBcC", ("branch", "xBcC", "")),
    ("a()B", "a()Bc", ("continue", "c", "")),
    ("a()B", "a(x", ("branch", "(x", "")),
    ("aAb()()B", "aAb()(", ("pass", "aAb()(", "")),
    ("aAbBcCdD", "cCdDe", ("continue", "e", "")),
    ("aAbBcCdD", "CdDe", ("continue", "e", "")),
    ("aAbBcCdD", "dDe", ("new", "dDe", "")),
    ("aAbBcCdD", "cCdD", ("retry", "", "")),
    ("aAbBcCdD", "xcCdDe", ("continue", "e", "x")),
    ("aAbBcCdD", "aAxcCdDe", ("continue", "e", "x")),
    ("aAbBcCdD", "xAbBcCdDe", ("new", "xAbBcCdDe", "")),
    ("aAb~B", "aAb", ("retry", "", "")),
    ("aAb~B", "aAbBc", ("continue", "c", "")),
    ("aAb~B", "aAbc", ("continue", "c", "")),
    ("_AbB", "xAbBc", ("continue", "c", "")),
    ("aA_BcC", "aAxBcCd", ("continue", "d", "")),
    ("aA#bB", "#bBc", ("continue", "c", "")),
    ("aA#bB", "#b", ("branch", "", "")),
    ("aA", "xXy", ("new", "xXy", "")),
    ("aA", ")", ("pass", ")", "")),
]


@pytest.mark.parametrize(("held", "asked", "expected"), CASES)
def test_every_case_of_the_table(held: str, asked: str, expected: tuple[str, str, str]) -> None:
    """What a request is follows from its list and the list that is known."""
    assert _show(asked, choose(given(asked), [known(held)])) == expected


@pytest.mark.parametrize(
    ("held", "asked", "branch_at"), [("aA()B", "aA(x", 2), ("aA()()B", "aA()(y", 4), ("a()B", "a(x", 1)]
)
def test_a_branch_never_splits_a_step(held: str, asked: str, branch_at: int) -> None:
    """What differs within a step branches before its call."""
    alignment = align(given(asked), known(held))
    assert alignment is not None
    assert (alignment.kind, alignment.branch_at) == ("branch", branch_at)


def test_going_on_is_better_than_a_branch() -> None:
    """Of several sessions that a request may belong to, the one that it goes on from is chosen; then the newest."""
    lists = [known("aAbBcC"), known("aAbB"), known("aAbB")]
    assert choose(given("aAbBd"), lists).session == 1
    assert choose(given("aAx"), lists).session == 0


NAMED = [
    ("", "a", False, ("new", "a", "")),
    ("aA", "a", False, ("added", "a", "")),
    ("aA", "b", False, ("added", "b", "")),
    ("aA", "aAb", False, ("continue", "b", "")),
    ("aAbB", "aAb", False, ("branch", "", "")),
    ("aAbB", "aAx", False, ("branch", "x", "")),
    ("aAb", "b", True, ("again", "", "")),
    ("aAb", "b", False, ("added", "b", "")),
    ("aAbB", "b", True, ("answered", "", "")),
    ("aAbB", "aAb", True, ("answered", "", "")),
    ("aAb~B", "aAb", True, ("retry", "", "")),
    ("aAb()B", "aAb()", True, ("answered", "", "")),
    ("aAbB", "aAx", True, ("branch", "x", "")),
    ("aAbB", "c", True, ("added", "c", "")),
    ("aAb~B", "b", True, ("again", "", "")),
    ("aA_B", "aAx", True, ("branch", "", "")),
    ("a(", ")", False, ("added", ")", "")),
]


@pytest.mark.parametrize(("held", "asked", "is_retry", "expected"), NAMED)
def test_a_named_session_takes_what_is_new_alone(
    held: str, asked: str, expected: tuple[str, str, str], *, is_retry: bool
) -> None:
    """Without a known reply in it a request carries only what is new, and says it again but for a retry."""
    assert _show(asked, choose_named(given(asked), known(held), is_retry=is_retry)) == expected


@pytest.mark.parametrize(
    ("held", "asked", "kind"),
    [
        ("aAbB", "a", "answered"),
        ("aAbB", "x", "added"),
        ("abB", "a", "late"),
        ("a~Ab", "a", "late"),
        ("a~AA", "a", "answered"),
        ("a()A", "a", "answered"),
        ("aAb", "a", "answered"),
        ("_AbB", "a", "answered"),
        ("aAbBcC", "aAb", "branch"),
        ("aA", "a", "answered"),
        ("a~A", "a", "again"),
        ("aAa", "a", "answered"),
    ],
)
def test_an_idempotency_key_in_a_named_session(held: str, asked: str, kind: str) -> None:
    """A request with the key and the text of an earlier one has its reply, or is late where it has none and more was said."""
    messages = known(held)
    messages[0] = replace(messages[0], attempt=b"k")
    assert choose_named(given(asked), messages, is_retry=False, attempt=b"k").kind == kind


@pytest.mark.parametrize(
    ("held", "stored", "attempt", "kind"),
    [
        ("aA", b"k", b"other", "added"),
        ("aA", None, b"k", "added"),
        ("aA", b"k", None, "added"),
        ("aA", None, None, "answered"),
        ("a", b"k", b"other", "added"),
        ("a", None, b"k", "again"),
        ("a", b"k", None, "added"),
        ("a", None, None, "again"),
    ],
)
def test_a_retry_header_counts_without_a_key_alone(
    held: str, stored: bytes | None, attempt: bytes | None, kind: str
) -> None:
    """The same words under another key, or with one key of both alone, are another request; unanswered ones are not said twice."""
    messages = known(held)
    messages[0] = replace(messages[0], attempt=stored)
    assert choose_named(given("a"), messages, is_retry=True, attempt=attempt).kind == kind


@pytest.mark.parametrize(
    ("held", "asked", "kind"), [("aA", "a", "added"), ("a", "a", "again"), ("aAbB", "aAb", "branch")]
)
def test_what_was_refused_has_no_reply(held: str, asked: str, kind: str) -> None:
    """The retry of a request that was refused is not given the reply to the same words before it."""
    assert choose_named(given(asked), known(held), is_retry=True, was_refused=True).kind == kind


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("", "no messages"),
        ("a", ""),
        ("a()", ""),
        ("a(", "incomplete step"),
        (")", "result without its call"),
        ("a(b", ""),
    ],
)
def test_only_what_the_log_can_hold_is_stored(asked: str, reason: str) -> None:
    """The newest step must have all its results, and each result a call before it; abandoned calls the log can hold."""
    assert find_pass_reason(given(asked)) == reason
