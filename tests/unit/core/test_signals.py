"""Hard facts by their shape."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.signals import blank_marks, count_shapes, find_hard, is_free_of_hard, may_hold_hard, shape_pieces

_TELLING_COUNT = 6
PIECES = st.lists(
    st.lists(
        st.sampled_from(["a", "ORD", "7", "12", "2031", "-", "_", ".", "/", ":", "!", "T", "pm", "py"]), max_size=7
    ),
    max_size=5,
).map(lambda pieces: " | ".join("".join(piece) for piece in pieces))


@given(PIECES)
def test_shapes_tell_what_reading_the_pieces_finds(text: str) -> None:
    """Where the shapes of a unit tell its hard facts, reading the pieces finds the same kind and the same count."""
    told = count_shapes(shape_pieces(text).split())
    if told is not None:
        kind, count, _ = find_hard(blank_marks(text).split())
        assert (told[0], min(told[1], _TELLING_COUNT)) == (kind, min(count, _TELLING_COUNT))


@given(st.text(max_size=40))
def test_a_text_is_free_of_hard_facts_exactly_when_no_part_may_hold_one(text: str) -> None:
    """The two tests for a mark of a hard fact agree on every text."""
    assert is_free_of_hard(text) is not may_hold_hard(text)


def test_a_run_of_encoded_data_is_no_fact() -> None:
    """A piece of a hundred thousand characters of encoded data is no fact; telling so takes no more than one pass."""
    assert find_hard(["5bdx4jSxKZmzNEtA2HKIjn2qw8Ut2GtqoyEAQ" * 3_000 + "+/"]) == (None, 0, "")
