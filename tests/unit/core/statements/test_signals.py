"""Hard facts by their shape."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.statements.signals import (
    blank_marks,
    find_hard,
    shape_pieces,
    tell_shapes,
    weigh_pieces,
)

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
    told = tell_shapes(weigh_pieces(shape_pieces(text)))
    if told is not None:
        kind, count, _ = find_hard(blank_marks(text).split())
        assert (told[0], min(told[1], _TELLING_COUNT)) == (kind, min(count, _TELLING_COUNT))


def test_a_run_of_encoded_data_is_no_fact() -> None:
    """A piece of a hundred thousand characters of encoded data is no fact; telling so takes no more than one pass."""
    assert find_hard(["5bdx4jSxKZmzNEtA2HKIjn2qw8Ut2GtqoyEAQ" * 3_000 + "+/"]) == (None, 0, "")
