"""Hints are joined within their bounds, whatever plug-ins answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.extraction.hints import HINT_CHARS, HINTS_CHARS, join_hints


def test_hints_stand_in_order_under_the_names_of_their_plugins() -> None:
    """Each hint comes after the name of its plug-in, in the order of the plug-ins, and empty ones are left out."""
    assert join_hints([("Notes", " keep the berth \n"), ("Silent", ""), ("Blank", " \n"), ("Tasks", "two open")]) == (
        "[Notes] keep the berth\n[Tasks] two open"
    )
    assert join_hints([]) == ""


def test_a_long_hint_is_cut_and_leaves_room_for_others() -> None:
    """One plug-in takes no more than its share, and what is cut says so."""
    joined = join_hints([("Loud", "x" * 10_000), ("Quiet", "short")]).splitlines()
    assert len(joined[0]) == len("[Loud] ") + HINT_CHARS
    assert joined[0].endswith("…")
    assert joined[1] == "[Quiet] short"


@given(st.lists(st.tuples(st.text(max_size=200), st.text(max_size=1500)), max_size=8))
def test_all_hints_together_are_bounded(hints: list[tuple[str, str]]) -> None:
    """However many plug-ins answer, with whatever names and hints, the text stays within its bound."""
    assert len(join_hints(hints)) <= HINTS_CHARS


@pytest.mark.parametrize("name", ["two\nlines", "tab\there", "x" * 500])
def test_a_name_stays_on_one_short_line(name: str) -> None:
    """A plug-in's name cannot open a line of its own or crowd out its hint."""
    (line,) = join_hints([(name, "hint")]).splitlines()
    assert line.endswith("] hint")
    assert len(line) < 80
