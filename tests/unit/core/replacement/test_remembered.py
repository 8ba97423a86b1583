"""What the rules remember of the texts that they have read."""

import gc

import pytest

from everfold.core.replacement.replacement import replaces
from everfold.core.replacement.supersession import list_keys

MOST_OBJECTS = 10_000


@pytest.mark.slow
def test_what_is_remembered_of_many_notes_stays_small() -> None:
    """However many notes were compared, few objects are left for Python to look at when it collects garbage."""
    gc.collect()
    before = len(gc.get_objects())
    for number in range(3_000):
        note = f"Message {number}: the kiln of site {number % 97} was loaded."
        replaces(note, f"Message {number}: the kiln of site {number % 89} was cooled.")
        list_keys(note)
    gc.collect()
    assert len(gc.get_objects()) - before < MOST_OBJECTS
