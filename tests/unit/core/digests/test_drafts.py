"""A draft as it is kept."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.digests.drafts import Draft, draft_from_bytes, draft_to_bytes

TEXTS = st.text(st.characters(), max_size=30)


@given(
    draft=st.builds(
        Draft,
        text=TEXTS,
        tokens=st.integers(0, 9999),
        elided=st.lists(st.integers(1, 99)).map(tuple),
        faults=st.lists(TEXTS).map(tuple),
        epoch=st.integers(0, 9),
        digest_secs=st.floats(0, 1e6),
    )
)
def test_a_draft_reads_back_equal(draft: Draft) -> None:
    """Every field comes back, text code point for code point, lone surrogates too."""
    assert draft_from_bytes(draft_to_bytes(draft)) == draft


def test_a_lone_surrogate_is_kept() -> None:
    """A text that UTF-8 cannot say is not lost."""
    draft = Draft(text="\ud83d half an emoji", tokens=5)
    assert draft_from_bytes(draft_to_bytes(draft)).text == "\ud83d half an emoji"
