"""Which statements replace which: a changed value does, another thing of the same sort does not."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from tests.support.sizes import some

from everfold.core.primitives.stepwise import finish
from everfold.core.replacement.supersession import NEAR_COUNT, find_superseded_stepwise, list_current
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.quotes import list_words
from everfold.core.statements.reading import find_extract_lines

_SAID_AT = datetime(2026, 1, 5, tzinfo=UTC)


def _list_held(*texts: str) -> list[str]:
    """The quotes that still hold when a user has said the texts in turn."""
    lines = [
        line
        for seq, text in enumerate(texts, start=1)
        for line in find_extract_lines(text, seq=seq, origin="user", is_result=False, said_at=_SAID_AT)
    ]
    assert len(lines) == len(texts)
    return [line.quote for line in list_current(lines)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never deliver parcel P-001 before noon.", "Never deliver parcel P-002 before noon."),
        ("Never deliver parcel P-001 before 11:00.", "Never deliver parcel P-002 before 12:00."),
        ("Order FC-1043 must be sent within 3 days.", "Order FC-1044 must be sent within 5 days."),
        ("From now on keep tank T7 below 40 degrees.", "From now on keep tank T9 below 45 degrees."),
        ("Never write to disk 3 on 2026-01-05.", "Never write to disk 4 on 2026-02-05."),
        ("Never call Anna after 20:00.", "Never call after 21:00."),
        ("Always send Bruno at most 3 samples.", "Always send at most 5 samples."),
        ("My court number is 5.", "My locker number is 7."),
        ("My court number is 5.", "My number is 7."),
        ("My court number is FC-1043.", "My locker number is FC-1044."),
    ],
)
def test_another_thing_of_the_same_sort_leaves_a_statement_standing(older: str, newer: str) -> None:
    """Statements that differ in an identifier, a proper name or a noun of their subject both hold."""
    assert _list_held(older, newer) == [older, newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We decided to launch on 3 May.", "We decided to launch on 17 May."),
        ("The shipping fee must be 4.90.", "The shipping fee must be 5.90."),
        ("Always use port 8080.", "Always use port 9090."),
        ("Always use API version v2.", "Always use API version v3."),
        ("Never deliver parcel P-001 before 9am.", "Never deliver parcel P-001 before 11am."),
        ("Never call Anna after 20:00.", "Never call Anna after 21:00."),
        ("My locker number is K-17.", "My locker number is K-29."),
    ],
)
def test_a_changed_value_of_the_same_subject_replaces_a_statement(older: str, newer: str) -> None:
    """Of two statements that differ only in a number, an amount, a date, a time or what is assigned, the newer holds."""
    assert _list_held(older, newer) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Max retries 5.", "Hmm, 5 retries is too much, the gateway gives up."),
        ("Anna's operation is on the 9th of June in Ulm.", "The operation has been moved to the 16th."),
        ("The review meeting is on Monday at 9:30.", "The review meeting was postponed to Wednesday."),
    ],
)
def test_what_is_too_much_or_was_moved_no_longer_holds(older: str, newer: str) -> None:
    """A value that the user calls too much, and the day of what was moved to another, are not shown as current."""
    assert _list_held(older, newer) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The operation costs 9,000 euros.", "The operation has been moved to the 16th."),
        ("The kickoff meeting is on Monday at 9:30.", "The review meeting was postponed to Wednesday."),
        ("The flat in Ulm costs 800 euros a month.", "Hmm, 800 euros is too much for us."),
        ("Max retries 3.", "Hmm, 5 workers are too many for this machine."),
    ],
)
def test_what_a_move_or_an_excess_does_not_speak_of_still_holds(older: str, newer: str) -> None:
    """A price does not go with a day, another thing's day stays, and a fact is none the less true for being too much."""
    assert _list_held(older, newer) == [older, newer]


def test_a_slip_of_the_tongue_takes_back_the_sentence_before_it() -> None:
    """In one message, what is said right before "Oh wait, sorry" is not shown as current."""
    text = "It's order LD-8817. Oh wait, sorry, that's the fridge. The washing machine is LD-7731."
    lines = find_extract_lines(text, seq=1, origin="user", is_result=False, said_at=_SAID_AT)
    held = [line.quote for line in list_current(lines)]
    assert held == ["Oh wait, sorry, that's the fridge.", "The washing machine is LD-7731."]


def test_a_correction_may_replace_an_identifier() -> None:
    """A correction that names what it rejects replaces it, identifier or not."""
    newer = "Actually use gate G-12, not G-11."
    assert _list_held("Always use gate G-11.", newer) == [newer]


def test_a_finished_thing_leaves_another_of_its_sort_pending() -> None:
    """A report on one identifier is no later state of another."""
    lines = [
        line
        for seq, text in enumerate(
            ("The pickup of parcel P-001 is still pending.", "The pickup of parcel P-002 is done."), start=1
        )
        for line in find_extract_lines(text, seq=seq, origin="assistant", is_result=False, said_at=_SAID_AT)
    ]
    assert list_current(lines) == tuple(lines)


_SAYINGS: Sequence[Callable[[int], str]] = (
    lambda at: f"Never deliver parcel P-{at:05d} to warehouse {at % 7} before {at % 12 + 1}:00.",
    lambda at: f"Actually use port {8000 + at % 50}, not {8000 + (at + 1) % 50}.",
    lambda at: f"The pickup of parcel P-{at:05d} from warehouse {at % 7} is done.",
    lambda at: f"Job {at % 40} has status: done, the north warehouse waits.",
    lambda at: " ".join(f"Always keep word{at * 7 % 50 + step} and" for step in range(9)) + f" {at}.",
)


def _make_lines(count: int) -> list[ExtractLine]:
    """Lines that all can replace one another, over few subjects."""
    kinds: Sequence[LineKind] = ("constraint", "correction", "task", "state", "preference")
    return [
        ExtractLine(
            seq=at + 1,
            origin="user",
            kind=kinds[at % len(kinds)],
            score=80,
            quote=_SAYINGS[at % len(_SAYINGS)](at),
            start=0,
            standing=kinds[at % len(kinds)] in ("constraint", "preference"),
            said_at=_SAID_AT,
        )
        for at in range(count)
    ]


@pytest.mark.slow  # the next test bounds them by day
def test_comparisons_grow_with_the_lines_and_not_with_their_square() -> None:
    """Twice the lines on the same subjects take at most some more than twice the comparisons."""
    few, many = (finish(find_superseded_stepwise(_make_lines(count))).pairs_count for count in (2_000, 4_000))
    assert 2_000 < few < many <= 2.4 * few


def test_a_line_meets_at_most_so_many_older_ones_for_each_of_its_words() -> None:
    """However many lines share a subject, each is compared with a bounded number of the newest."""
    lines = _make_lines(some(2_000, 600))
    most = sum(NEAR_COUNT * len(list_words(line.quote)) for line in lines)
    assert finish(find_superseded_stepwise(lines)).pairs_count <= most


def test_lines_that_can_replace_nothing_are_compared_with_nothing() -> None:
    """Facts, leads and unfinished tasks cost no comparison, however alike they are."""
    lines = [line._replace(kind="number", standing=False) for line in _make_lines(500)]
    lines += [
        line._replace(quote="Please check the parcel in the north warehouse.", kind="task", standing=False)
        for line in _make_lines(500)
    ]
    superseded = finish(find_superseded_stepwise(lines))
    assert superseded.pairs_count == 0
    assert not superseded.gone


def test_lines_that_a_walk_left_are_compared_with_new_ones_alone() -> None:
    """What is superseded is the same as when all are compared, for a part of the comparisons."""
    texts = [f"Never deliver parcel P-{number} before 9am." for number in range(100, 140)]
    changes = ["Never deliver parcel P-103 before 11am.", "Never deliver parcel P-139 before 10am."]
    lines = [
        line
        for seq, text in enumerate([*texts, *changes], start=1)
        for line in find_extract_lines(text, seq=seq, origin="user", is_result=False, said_at=_SAID_AT)
    ]
    left = list_current(lines[:40])
    every = finish(find_superseded_stepwise(lines))
    fewer = finish(find_superseded_stepwise(lines, settled={(line.seq, line.start) for line in left}))
    assert len(left) == 40
    assert fewer.gone == every.gone == {(4, 0), (40, 0)}
    assert 0 < fewer.pairs_count < every.pairs_count / 2
