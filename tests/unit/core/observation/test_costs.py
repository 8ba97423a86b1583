"""What the requests of a talk cost, three ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.observation.costs import InputTokens, Prices, Unfolded

PRICES = Prices(input=2.0, cached=0.5)


def send_all(sizes: list[int], *, fixed_tokens: int, budget_tokens: int) -> Unfolded:
    """A request after every message."""
    unfolded = Unfolded(fixed_tokens=fixed_tokens)
    for tokens in sizes:
        unfolded.append(tokens)
        unfolded.send(budget_tokens)
    return unfolded


def test_cached_tokens_have_their_own_price() -> None:
    """A million tokens cost what their cached and their uncached part cost."""
    read = InputTokens().plus(1_000_000, cached_tokens=600_000)
    assert read.cost(PRICES) == pytest.approx(0.4 * 2.0 + 0.6 * 0.5)


def test_no_more_is_cached_than_a_request_has() -> None:
    """What a request shares with the one before is at most all of it."""
    assert InputTokens().plus(10, cached_tokens=40) == InputTokens(tokens=10, cached_tokens=10)


def test_a_whole_request_has_all_before_it_cached() -> None:
    """Sent whole, only the messages since the last request are read anew, and the fixed part once."""
    unfolded = send_all([10, 20, 30], fixed_tokens=5, budget_tokens=1_000)
    assert unfolded.whole == InputTokens(tokens=15 + 35 + 65, cached_tokens=15 + 35)


def test_a_tail_that_fits_is_the_whole() -> None:
    """While everything fits the budget, the tail is the whole talk, and as much of it is cached."""
    unfolded = send_all([10, 20, 30], fixed_tokens=5, budget_tokens=65)
    assert unfolded.tail == unfolded.whole


def test_a_tail_that_slides_has_only_its_fixed_part_cached() -> None:
    """In a request in which a message leaves the tail, only the system prompt and the tools are cached."""
    unfolded = send_all([10, 20, 30], fixed_tokens=5, budget_tokens=55)
    assert unfolded.tail == InputTokens(tokens=15 + 35 + 55, cached_tokens=15 + 5)


@given(sizes=st.lists(st.integers(1, 500), min_size=1, max_size=40), budget_tokens=st.integers(20, 600))
def test_no_tail_is_larger_than_its_budget(sizes: list[int], budget_tokens: int) -> None:
    """No request of the tail is larger than the budget or than the whole talk, whatever its messages are."""
    unfolded = send_all(sizes, fixed_tokens=7, budget_tokens=budget_tokens)
    assert unfolded.tail.tokens <= min(budget_tokens * len(sizes), unfolded.whole.tokens)
    assert unfolded.tail.cached_tokens <= unfolded.tail.tokens
