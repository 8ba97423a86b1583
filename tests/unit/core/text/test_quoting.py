"""A quote is found where a text says it, loose marks apart, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.text.quoting import Quotable

TEXT = "She said:  \u201cI don\u2019t eat\nmeat\u201d \u2014 and left\u200b early."


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("I don\u2019t eat\nmeat", "I don\u2019t eat\nmeat"),
        ("I don't eat meat", "I don\u2019t eat\nmeat"),
        ('"I don\'t eat meat"', "I don\u2019t eat\nmeat"),
        ("She said: \"I don't", "She said:  \u201cI don\u2019t"),
        ('meat" - and left early.', "meat\u201d \u2014 and left\u200b early."),
        ("and left early...", "and left\u200b early"),
        ("  left\u200b early ", "left\u200b early"),
    ],
)
def test_loose_marks_do_not_hide_a_quote(quote: str, expected: str) -> None:
    """White space, quotation marks, dashes and unseen characters may differ; what comes back is the text's own slice."""
    found = Quotable(TEXT).find(quote)
    assert found is not None
    assert TEXT[slice(*found)] == expected


@pytest.mark.parametrize("quote", ["i don't eat meat", "I do eat meat", "I don't eat much meat", "", " \n", '"\'"'])
def test_other_words_are_no_quote(quote: str) -> None:
    """Another case, another word or no word at all is not found."""
    assert Quotable(TEXT).find(quote) is None


@given(st.text(max_size=60), st.data())
def test_every_slice_is_found(text: str, data: st.DataObject) -> None:
    """Any slice of a text with something in it is found in it, and what is found reads the same without white space."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end]
    found = Quotable(text).find(quote)
    if any(map(str.isalnum, quote)):
        assert found is not None
    if found is not None:
        assert 0 <= found[0] < found[1] <= len(text)
