"""What recall found is in one order that vectors can only add to."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.primitives.origins import Origin
from everfold.core.recall.recalling import (
    VECTOR_GAP,
    Recalled,
    RecallKey,
    fuse,
    rank_topics,
    recall_item,
    recall_topic,
)
from everfold.core.text.searching import plan_query
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import evidence, item, topic

NOW = minute(600)


def said(seq: int, text: str = "It is said.", *, origin: Origin = "user", days: int = 1) -> Recalled:
    """A message that was found."""
    return Recalled(
        key=RecallKey("message", "ses_1", seq),
        text=text,
        label=origin,
        origin=origin,
        said_at=NOW - timedelta(days=days),
    )


def list_keys(entries: tuple[Recalled, ...]) -> list[RecallKey]:
    """What the entries are."""
    return [entry.key for entry in entries]


def fused(*lists: list[Recalled], vectors: list[Recalled] | None = None, limit: int = 99) -> tuple[Recalled, ...]:
    """The lists as one."""
    return fuse(lists, vectors or [], now=NOW, limit_count=limit)


seqs = st.lists(st.integers(1, 12), max_size=12, unique=True)
entry_lists = st.lists(seqs.map(lambda found: [said(seq) for seq in found]), max_size=3)
near_lists = st.lists(st.integers(1, 24), max_size=16).map(lambda found: [said(seq) for seq in found])


@given(entry_lists, near_lists, st.integers(1, 30))
def test_vectors_can_only_help(lists: list[list[Recalled]], near: list[Recalled], limit: int) -> None:
    """What words found keeps its order, and stands lower only by what vectors alone put in: one behind every second entry."""
    alone = list_keys(fused(*lists))
    together = fused(*lists, vectors=near)
    added = [entry.key for entry in together if entry.by == "vector"]
    assert [key for key in list_keys(together) if key not in added] == alone
    for place, key in enumerate(alone, 1):
        before = sum(one in added for one in list_keys(together)[: list_keys(together).index(key)])
        assert list_keys(together).index(key) + 1 == place + before
        assert before <= (place - 1) // VECTOR_GAP
    assert set(list_keys(together)) == set(alone) | {entry.key for entry in near}
    assert fused(*lists, vectors=near, limit=limit) == together[:limit]


def test_without_words_vectors_stand_alone() -> None:
    """Where words find nothing the vectors' order is the order."""
    near = [said(3), said(1), said(3), said(2)]
    assert [key.seq for key in list_keys(fused([], vectors=near))] == [3, 1, 2]
    assert {entry.by for entry in fused([said(1)], vectors=[said(1)])} == {"both"}


def test_several_lists_agree() -> None:
    """What two lists found stands above what one of them found in the same place."""
    assert fused([said(1), said(2)], [said(3), said(2)])[0].key.seq == 2


def test_authority_and_age_decide_between_equals() -> None:
    """Of two entries in the same place what a person said comes first, then what was said later."""
    order = fused([said(1, origin="external")], [said(2, days=900)], [said(3, origin="tool")], [said(4)])
    assert [key.seq for key in list_keys(order)] == [4, 2, 3, 1]


def test_memory_stands_before_messages_only_where_it_answers() -> None:
    """An item with all of a question's words comes before the best message, one with few of them behind some."""
    query = plan_query("Where is Ada's boat in winter?")
    good = recall_item(item("itm_1", "Ada's boat lies in Whitby in winter."), query)
    weak = recall_item(item("itm_2", "Ada has a garden."), query)
    messages = [said(number) for number in range(1, 13)]
    assert (good.coverage, weak.coverage) == (1.0, pytest.approx(1 / 3))
    assert fused(messages, [good])[0].key == good.key
    assert 3 < list_keys(fused(messages, [weak])).index(weak.key) < 12


def test_an_item_joins_its_message() -> None:
    """An item noted of a recalled message is one entry with it, at the better place; of another origin it stands alone."""
    noted = recall_item(item("itm_1", "Ada has a boat.", evidence("my boat", seq=7)))
    other = recall_item(replace(item("itm_2", "A boat was sold.", evidence("sold", seq=8)), origin="external"))
    (first, second, third) = fused([said(8), said(7)], [noted, other])
    assert {first.key.seq, second.key.seq} == {7, 8}
    whole = next(entry for entry in (first, second) if entry.key.seq == 7)
    assert whole.notes == ("Ada has a boat.",)
    assert third.key == other.key
    vector_only = fused([said(7)], vectors=[noted])
    assert list_keys(vector_only) == [said(7).key]


def test_topics_are_found_by_their_words() -> None:
    """Name, summary and content are searched, what is past its end is not given."""
    topics = [
        topic("top_1", "harbour_fees"),
        topic("top_2", "gardening", content="Tomatoes need light."),
        replace(topic("top_3", "tomatoes", content="Tomatoes are red."), expires_at=NOW - timedelta(days=1)),
    ]
    found = rank_topics(plan_query("When do my tomatoes need light?"), topics, now=NOW)
    assert [one.id for one in found] == ["top_2"]
    assert [one.id for one in rank_topics(plan_query("harbour"), topics, now=NOW)] == ["top_1"]
    assert recall_topic(topics[0]).text == "What berths cost.\nBerths are let by the day."
