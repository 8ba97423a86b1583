"""Token buckets: how many requests pass in how much time."""

from datetime import datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.access.limits import Bucket, RateLimit, settle, take
from everfold.errors import InvalidInputError, RateLimitedError
from everfold.testing.kit.fakes import STARTED_AT

SECOND = timedelta(seconds=1)
st_limit = st.builds(
    RateLimit,
    capacity_count=st.integers(1, 12),
    refill_per_sec=st.one_of(st.sampled_from([0.01, 1 / 3, 1.0, 7.0, 10.0, 1e6]), st.floats(0.001, 1e6)),
)
st_steps = st.lists(
    st.one_of(st.just(0), st.integers(0, 50), st.integers(0, 3_000_000), st.integers(0, 10**9)), max_size=80
)


def count_left(bucket: Bucket | None, limit: RateLimit, now: datetime) -> int:
    """How many passes a bucket holds."""
    return (limit.filling - (settle(bucket, limit, now).full_at - now)) // limit.gain


def play(limit: RateLimit, steps: list[int]) -> tuple[list[datetime], Bucket | None]:
    """When requests passed that came so many microseconds after one another, and the bucket at the end."""
    now, bucket, passed = STARTED_AT, None, []
    for step in steps:
        now += timedelta(microseconds=step)
        try:
            bucket = take(bucket, limit, now)
        except RateLimitedError:
            continue
        passed.append(now)
    return passed, bucket


@given(st_limit, st_steps)
def test_no_stretch_has_more_than_it_may(limit: RateLimit, steps: list[int]) -> None:
    """From any pass to any later one no more pass than the bucket holds and gains in between, to the microsecond."""
    passed, _ = play(limit, steps)
    for first, begun_at in enumerate(passed):
        for last in range(first, len(passed)):
            secs = Fraction((passed[last] - begun_at) // timedelta(microseconds=1), 10**6)
            assert last - first + 1 <= limit.capacity_count + secs * Fraction(limit.refill_per_sec)


@given(st_limit, st_steps)
def test_a_request_passes_when_it_may(limit: RateLimit, steps: list[int]) -> None:
    """A request is refused only when the passes before it used all that the bucket held and gained since some moment."""
    now, bucket, passed = STARTED_AT, None, list[datetime]()
    for step in steps:
        now += timedelta(microseconds=step)
        may = all(
            len(passed) - first + 1 <= limit.capacity_count + (now - begun_at) / limit.gain
            for first, begun_at in enumerate(passed)
        )
        assert (count_left(bucket, limit, now) > 0) == may
        if may:
            bucket = take(bucket, limit, now)
            passed.append(now)
        else:
            with pytest.raises(RateLimitedError):
                take(bucket, limit, now)


@given(st_limit, st_steps, st.lists(st.integers(0, 10**7), max_size=20))
def test_a_bucket_only_fills_while_nobody_takes(limit: RateLimit, steps: list[int], pauses: list[int]) -> None:
    """What is left never sinks as time goes on, never passes the capacity, and reaches it in the time of filling."""
    _, bucket = play(limit, steps)
    now = STARTED_AT + timedelta(microseconds=sum(steps))
    left = [count_left(bucket, limit, now)]
    for pause in pauses:
        now += timedelta(microseconds=pause)
        left.append(count_left(bucket, limit, now))
    assert left == sorted(left)
    assert 0 <= left[0] <= left[-1] <= limit.capacity_count
    assert count_left(bucket, limit, now + limit.filling) == limit.capacity_count


@given(st_limit, st_steps)
def test_a_refusal_says_when_to_come_again(limit: RateLimit, steps: list[int]) -> None:
    """After the seconds that a refusal names the request passes, and a second before it does not; nothing is lost by asking."""
    passed, bucket = play(limit, [*steps, *([0] * limit.capacity_count)])
    now = passed[-1] if passed else STARTED_AT
    while count_left(bucket, limit, now):
        bucket = take(bucket, limit, now)
    with pytest.raises(RateLimitedError) as caught:
        take(bucket, limit, now)
    secs = caught.value.retry_after_secs
    assert secs is not None
    assert secs >= 1
    assert count_left(bucket, limit, now + secs * SECOND) >= 1
    assert secs == 1 or count_left(bucket, limit, now + (secs - 1) * SECOND) == 0
    assert str(secs) in str(caught.value)


@given(st_limit, st.integers(1, 10**12))
def test_a_clock_that_is_set_back_shuts_nobody_out(limit: RateLimit, micros: int) -> None:
    """However far a clock is set back, a bucket is at worst empty, and gains from then on."""
    _, bucket = play(limit, [0] * limit.capacity_count)
    now = STARTED_AT - timedelta(microseconds=micros)
    settled = settle(bucket, limit, now)
    assert count_left(settled, limit, now) >= 0
    assert count_left(settled, limit, now + limit.gain) >= 1
    assert count_left(settled, limit, now + limit.filling) == limit.capacity_count


def test_a_bucket_by_example() -> None:
    """Three at once pass, then one every half a second."""
    limit = RateLimit(capacity_count=3, refill_per_sec=2.0)
    passed, _ = play(limit, [0, 0, 0, 0, 400_000, 100_000, 0, 500_000, 1_000_000, 0, 0])
    halves = [(it - STARTED_AT) / (SECOND / 2) for it in passed]
    assert halves == [0, 0, 0, 1, 2, 4, 4]


@pytest.mark.parametrize(
    ("capacity", "rate"), [(0, 1.0), (-1, 1.0), (1, 0.0), (1, -1.0), (1, 1.1e6), (1, float("nan")), (1, float("inf"))]
)
def test_a_limit_that_lets_nothing_pass_is_refused(capacity: int, rate: float) -> None:
    """A bucket that holds or gains nothing, or that gains without bound, cannot be."""
    with pytest.raises(InvalidInputError, match="rate limit"):
        RateLimit(capacity_count=capacity, refill_per_sec=rate)
