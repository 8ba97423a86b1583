"""The index finds few items for each, however many share a word."""

from dataclasses import replace

from everfold.core.merging.item_index import ItemIndex
from everfold.core.replacement.supersession import NEAR_COUNT
from everfold.testing.kit.builders import minute
from everfold.testing.kit.memory_builders import item


def test_an_item_meets_a_bounded_number_of_rivals_for_each_of_its_words() -> None:
    """Of a thousand items that share their words, the nearest in time are found, those before it and those after it."""
    index = ItemIndex()
    said = [
        replace(item(f"itm_{number}", f"Berth {number} costs {number} euros."), last_seen_at=minute(number))
        for number in range(1, 1_001)
    ]
    for one in said:
        index.put(one)
    middle = said[499]
    assert index.list_older(middle, lambda _: True) == said[499 - NEAR_COUNT : 499]
    assert index.list_later(middle, lambda _: True) == said[500 : 500 + NEAR_COUNT]
