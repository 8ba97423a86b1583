"""Which items a newer one replaces."""

from dataclasses import replace

import pytest

from everfold.core.memory.items import Item
from everfold.core.merging.item_subjects import list_replaced_items, says_no_more
from everfold.testing.kit.builders import CLERK, minute
from everfold.testing.kit.memory_builders import evidence, item


def _said(id_: str, statement: str, *, seq: int, session_id: str = "ses_1") -> Item:
    quoted = evidence(statement, seq=seq, session_id=session_id)
    return replace(item(id_, statement, quoted), last_seen_at=minute(seq))


def test_nearest_comes_first() -> None:
    """All that say another value of the subject are replaced, the one seen last first."""
    older = [_said("itm_1", "My rent here is 300 euros.", seq=1), _said("itm_2", "My rent here is 400 euros.", seq=2)]
    newer = _said("itm_3", "My rent here is 500 euros.", seq=9)
    assert [one.id for one in list_replaced_items(newer, older)] == ["itm_2", "itm_1"]


def test_only_what_is_of_one_place_and_no_stronger_is_replaced() -> None:
    """Another tier, another agent's note, more authority and a later moment each protect an item."""
    newer = _said("itm_9", "My rent here is 500 euros.", seq=9)
    older = _said("itm_1", "My rent here is 300 euros.", seq=1)
    assert list_replaced_items(newer, [older]) == [older]
    assert list_replaced_items(newer, [replace(older, tier="agent")]) == []
    assert list_replaced_items(replace(newer, tier="agent"), [replace(older, tier="agent", agent_id=CLERK)]) == []
    assert list_replaced_items(replace(newer, origin="assistant"), [older]) == []
    assert list_replaced_items(newer, [replace(older, last_seen_at=minute(10))]) == []


def test_bare_correction_reaches_its_own_session_only() -> None:
    """A correction that names no subject replaces what was said shortly before it, not what another session said."""
    newer = _said("itm_9", "No, actually make it 12, not 300.", seq=9)
    near = _said("itm_1", "My rent here is 300 euros.", seq=7)
    far = _said("itm_2", "The boat holds 300 crates.", seq=8, session_id="ses_2")
    assert list_replaced_items(newer, [near, far]) == [near]


def test_same_words_of_one_quote_say_no_more() -> None:
    """A statement says no more than another one when both have the quote, and it has no word that the other lacks."""
    older = _said("itm_1", "I live in Lyon with my cats.", seq=3)
    restated = replace(_said("itm_2", "I live in Lyon", seq=3), statement="The user lives in Lyon.")
    assert says_no_more(restated, older)
    assert not says_no_more(replace(restated, statement="The user lives in Ghent."), older)
    assert not says_no_more(replace(restated, evidence=(evidence("I live in Lyon", seq=4),)), older)


@pytest.mark.parametrize(
    ("older", "newer", "is_replaced"),
    [
        ("I live in Graz.", "Actually I live in Linz now.", True),
        ("My favourite colour is red.", "My favorite color is blue now.", True),
        ("My name is Ann.", "My name is Anna, by the way.", True),
        ("My sister's name is Eva.", "My name is Ann.", False),
        ("My name is Ann and I am allergic to nuts.", "My name is Anna.", False),
        ("I used to live in Graz.", "I live in Linz.", False),
        ("My son is five.", "My son is allergic to nuts.", False),
        ("My work email is a@b.example.", "My email is c@d.example.", False),
    ],
)
def test_what_a_person_has_one_of_is_replaced(older: str, newer: str, is_replaced: bool) -> None:  # noqa: FBT001
    """A later value of what there is one of replaces the earlier one, unless that says more, or is of something else."""
    said = [_said("itm_1", older, seq=1)]
    assert bool(list_replaced_items(_said("itm_2", newer, seq=90, session_id="ses_2"), said)) == is_replaced


def test_at_one_moment_the_message_decides() -> None:
    """Of one batch a correction in a later message replaces what it corrects, never the other way round; a list stays."""
    newer = _said("itm_9", "Correction: my rent here is 500 euros.", seq=9)
    older = replace(_said("itm_1", "My rent here is 300 euros.", seq=1), last_seen_at=newer.last_seen_at)
    assert list_replaced_items(newer, [older]) == [older]
    assert list_replaced_items(older, [newer]) == []
    assert list_replaced_items(replace(newer, statement="My rent here is 500 euros."), [older]) == []
