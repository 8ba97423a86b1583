"""Activity: figures of requests that add up."""

from everfold.core.observation.activity import FIGURES, Activity, SentWindow, measure_request

FIRST = SentWindow(last_seq=4, stable_tokens=100, whole_tokens=140)
NEXT = SentWindow(last_seq=6, stable_tokens=120, whole_tokens=200)


def test_every_figure_adds_up() -> None:
    """Two activities together have the sum of each figure."""
    one = Activity(**{name: place for place, name in enumerate(FIGURES)})
    both = one.plus(one)
    assert all(getattr(both, name) == 2 * place for place, name in enumerate(FIGURES))


def test_a_first_request_repeats_nothing() -> None:
    """What is not known to have been sent before counts as new, on both sides of the comparison."""
    counted = measure_request(None, FIRST, window_tokens=110, resent_tokens=0)
    assert counted == Activity(requests_count=1, sent_tokens=110, whole_tokens=140)


def test_a_request_repeats_the_one_before() -> None:
    """The stable part of the request before is repeated, and the whole conversation before in the other way."""
    counted = measure_request(FIRST, NEXT, window_tokens=130, resent_tokens=0)
    assert (counted.sent_cached_tokens, counted.whole_cached_tokens) == (100, 140)


def test_a_cache_break_repeats_less() -> None:
    """What a cache break has a provider read again is not repeated, down to nothing."""
    assert measure_request(FIRST, NEXT, window_tokens=130, resent_tokens=70).sent_cached_tokens == 30
    assert measure_request(FIRST, NEXT, window_tokens=130, resent_tokens=900).sent_cached_tokens == 0
    assert measure_request(NEXT, FIRST, window_tokens=130, resent_tokens=0).sent_cached_tokens == 100
