from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.calibration import LEAST_FACTOR, MOST_FACTOR, Calibration, observe, raise_for_context_error
from everfold.core.text.tokens import estimate_text_tokens, truncate_to_tokens

_ALPHABETS = (
    st.characters(),  # lone surrogates included
    st.sampled_from('ab C1\n\t .,-_"{}'),
    st.sampled_from("e\u0301\u200d\U0001f469\U0001f3fd\U0001f1e9\ud83d\udc4d\r\n 漢"),
)
texts = st.one_of([st.text(alphabet, max_size=600) for alphabet in _ALPHABETS])


@given(texts)
def test_estimate_lies_between_one_and_the_bytes(text: str) -> None:
    """Every text has an estimate of at most its UTF-8 bytes, at least one token, and none only if empty."""
    estimate = estimate_text_tokens(text)
    assert estimate <= len(text.encode("utf-8", "surrogatepass"))
    assert (estimate == 0) == (text == "")
    assert estimate_text_tokens(text) == estimate


@given(texts, texts)
def test_estimate_is_nearly_additive(first: str, second: str) -> None:
    """Joining two texts changes the sum of their estimates only by what meets at the joint."""
    both = estimate_text_tokens(first) + estimate_text_tokens(second)
    assert abs(estimate_text_tokens(first + second) - both) <= 12


@given(texts, st.integers(0, 300), st.floats(0, 1))
def test_truncation_keeps_the_text_and_the_cap(text: str, cap_tokens: int, head_share: float) -> None:
    """Head, elided middle and tail are the text, and what is kept is within the cap."""
    cut = truncate_to_tokens(text, cap_tokens, head_share=head_share)
    assert cut.head + text[cut.elided_start : cut.elided_end] + cut.tail == text
    assert estimate_text_tokens(cut.head) + estimate_text_tokens(cut.tail) <= cap_tokens


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6), st.booleans()), max_size=30))
def test_calibration_stays_within_its_bounds(samples: list[tuple[int, int, bool]]) -> None:
    """No sequence of counts and context errors takes the factor out of its bounds or breaks its JSON form."""
    calibration = Calibration()
    for counted_tokens, estimated_tokens, is_error in samples:
        if is_error:
            calibration = raise_for_context_error(
                calibration, estimated_tokens=estimated_tokens, limit_tokens=counted_tokens + 1
            )
        else:
            calibration = observe(calibration, counted_tokens=counted_tokens, estimated_tokens=estimated_tokens)
    assert LEAST_FACTOR <= calibration.factor <= MOST_FACTOR
    assert Calibration.from_json(calibration.to_json()) == calibration
