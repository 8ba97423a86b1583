"""Whether one statement takes the place of another: labelled pairs, and the classes that they stand for.

`own.jsonl`, `fresh.jsonl`, `phrasings.jsonl`, `styles.jsonl`, `tempting.jsonl` and `hostile.jsonl` are what the rules were tuned
on, the last of them by a hand that had read the rules and looked for what they confuse, beside pairs from public tests of
other memory engines, which are not ours to keep; `held_back.jsonl` was written by another hand and was not
read while they were written; `unseen.jsonl` was written by the same hand as the rules, before them, and left alone while
they were tuned.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypedDict

import pytest
from tests.support.sizes import some

from everfold.core.memory.items import Item
from everfold.core.merging.item_subjects import list_replaced_items
from everfold.core.replacement.replacement import replaces
from everfold.core.replacement.supersession import list_current
from everfold.core.statements.reading import find_extract_lines
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import evidence, item

Kind = Literal["distinct", "marked", "unmarked"]
_PAIRS: Final = Path(__file__).parents[3] / "data" / "supersession"


class Pair(TypedDict):
    """Two statements of one person, one after the other."""

    kind: Kind
    before: str
    after: str


def _read(name: str, *kinds: Kind) -> list[Pair]:
    pairs: Iterator[Pair] = map(json.loads, (_PAIRS / name).read_text(encoding="utf-8").splitlines())
    return [pair for pair in pairs if pair["kind"] in kinds]


def _said(id_: str, statement: str, *, seq: int, is_saved: bool) -> Item:
    quoted = evidence(statement, seq=seq)
    return replace(item(id_, statement, quoted), last_seen_at=minute(seq), is_explicit=is_saved)


def _is_replaced(pair: Pair, *, is_saved: bool) -> bool:
    older = _said("itm_1", pair["before"], seq=1, is_saved=is_saved)
    return bool(list_replaced_items(_said("itm_2", pair["after"], seq=3, is_saved=is_saved), [older]))


def _is_line_gone(pair: Pair) -> bool:
    lines = [
        line
        for seq, text in ((1, pair["before"]), (3, pair["after"]))
        for line in find_extract_lines(text, seq=seq, origin="user", is_result=False, said_at=minute(seq))
    ]
    return any(line.seq == 1 for line in lines if line not in list_current(lines))


@pytest.mark.parametrize(
    "name",
    [
        "own.jsonl",
        "fresh.jsonl",
        "phrasings.jsonl",
        "styles.jsonl",
        "tempting.jsonl",
        "unseen.jsonl",
        "held_back.jsonl",
    ],
)
def test_distinct_facts_stay(name: str) -> None:
    """No fact takes the place of another of its sort: not said, not saved, and not in a digest. By day of every third pair."""
    for pair in _read(name, "distinct")[:: some(1, 3)]:
        assert not _is_replaced(pair, is_saved=False), pair
        assert not _is_replaced(pair, is_saved=True), pair
        assert not _is_line_gone(pair), pair


def test_few_of_what_was_written_against_the_rules_is_confused() -> None:
    """Of pairs that were made to be confused at most a quarter is; the rest needs a map, a unit or a guess that no rule has."""
    pairs = _read("hostile.jsonl", "distinct")
    assert sum(_is_replaced(pair, is_saved=False) for pair in pairs) <= 0.23 * len(pairs)


@pytest.mark.parametrize(
    ("name", "kind", "floor"),
    [
        ("own.jsonl", "marked", 0.95),
        ("own.jsonl", "unmarked", 0.9),
        ("fresh.jsonl", "marked", 0.85),
        ("fresh.jsonl", "unmarked", 0.65),
        ("phrasings.jsonl", "marked", 0.81),
        ("styles.jsonl", "marked", 0.84),
        ("styles.jsonl", "unmarked", 0.73),
        ("unseen.jsonl", "marked", 0.85),
        ("unseen.jsonl", "unmarked", 0.7),
        ("held_back.jsonl", "marked", 0.55),
        ("held_back.jsonl", "unmarked", 0.35),
    ],
)
def test_so_many_changes_are_found(name: str, kind: Kind, floor: float) -> None:
    """Of the true changes at least this part is found; what is not found leaves both statements standing."""
    pairs = _read(name, kind)
    assert sum(_is_replaced(pair, is_saved=False) for pair in pairs) >= floor * len(pairs)


@pytest.mark.xfail(strict=True, reason="the aim for the held-back pairs is not reached yet")
@pytest.mark.parametrize(("kind", "aim"), [("marked", 0.8), ("unmarked", 0.4)])
def test_the_aim_for_unseen_changes(kind: Kind, aim: float) -> None:
    """Of changes that the rules were not tuned on four fifths of the marked ones are found, and two fifths of the others."""
    pairs = _read("held_back.jsonl", kind)
    assert sum(_is_replaced(pair, is_saved=False) for pair in pairs) >= aim * len(pairs)


def test_what_was_saved_falls_to_a_marked_correction_only() -> None:
    """Without a mark a saved statement stays, however alike the newer one is; with one it goes."""
    for pair in _read("own.jsonl", "unmarked"):
        assert not _is_replaced(pair, is_saved=True), pair
    pairs = _read("own.jsonl", "marked")
    assert sum(_is_replaced(pair, is_saved=True) for pair in pairs) >= 0.9 * len(pairs)


@pytest.mark.parametrize(
    "newer",
    [
        "Shouldn't my locker code be 8822 instead of 4711?",
        "If my locker code has changed to 8822, I'll tell you.",
        "My locker code might be 8822, not 4711.",
        "My second locker code is also 8822.",
    ],
)
def test_questions_suppositions_and_additions_change_nothing(newer: str) -> None:
    """What asks, supposes or adds takes the place of nothing."""
    assert not replaces(newer, "My locker code is 4711.")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Anna has a dog and a cat.", "Anna no longer has a dog."),
        ("The gym is open on Mondays and Fridays.", "The gym is no longer open on Mondays."),
        ("Room 12 has 2 windows.", "Correction: room 12 has 3 beds."),
        ("The piano is in tune.", "The piano was moved to Hall B."),
        ("The blue box holds screws.", "Not the blue but the red box holds nails."),
        ("I eat oats for breakfast.", "I eat rice instead of oats for dinner."),
        ("The password is tulip22.", "The bank password was changed to orchid91."),
        ("Room 5 has a projector.", "Room 4 no longer has a projector."),
    ],
)
def test_a_correction_of_something_else_leaves_a_statement_standing(older: str, newer: str) -> None:
    """A mark alone replaces nothing: the thing, what it is and all of a list have to be meant."""
    assert not replaces(newer, older, is_near=True)


@pytest.mark.parametrize(
    ("older", "is_replaced"),
    [
        ("The shipping fee should be 4.90 euros flat, within the country.", True),
        ("The shipping fee should be 4.90 euros each, within the country.", False),
        ("The shipping fee is 4.90 euros flat, and returns cost 7 euros flat.", False),
    ],
)
def test_another_value_of_the_same_measure_replaces(*, older: str, is_replaced: bool) -> None:
    """A value that is rejected by name falls with the statement whose only value it is, if the measure is the same."""
    newer = "Actually no, make it 5.90 euros flat instead of 4.90, and free above 80 euros."
    assert replaces(newer, older) == is_replaced
