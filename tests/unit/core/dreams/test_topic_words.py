"""The words of topics as data: each area of life is that of its example."""

import pytest
from tests.support.dreams import note

from everfold.core.dreams.topic_names import find_area, list_subjects
from everfold.core.dreams.topic_words import AREAS, Area
from everfold.core.text.words import read_words


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_an_example_belongs_to_its_area(area: Area) -> None:
    """The example of an area belongs to it, by one of the words of its row."""
    assert find_area(note("1", area.example)) == area.name
    assert list_subjects(area.example).keys() & set(read_words(area.words))
