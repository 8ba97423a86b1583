"""Holding every key to its rate."""

from datetime import timedelta

import pytest

from everfold.core.access.api_keys import ApiKeyId
from everfold.core.access.limits import RateLimit
from everfold.errors import RateLimitedError
from everfold.services.access.limit import Limiter
from everfold.testing.kit.fakes import FakeClock

DESK, PHONE, BOT = ApiKeyId("key_desk"), ApiKeyId("key_phone"), ApiKeyId("key_bot")
LIMIT = RateLimit(capacity_count=2, refill_per_sec=0.25)


@pytest.fixture
def limiter(clock: FakeClock) -> Limiter:
    """A limiter that remembers two keys."""
    return Limiter(clock=clock, limit=LIMIT, most_buckets=2)


def count_passes(limiter: Limiter, key_id: ApiKeyId, asked_count: int = 5) -> int:
    """How many of so many requests of a key pass."""
    passed_count = 0
    for _ in range(asked_count):
        try:
            limiter.take(key_id)
        except RateLimitedError:
            continue
        passed_count += 1
    return passed_count


def test_each_key_has_its_own_rate(limiter: Limiter, clock: FakeClock) -> None:
    """What one key used up is not taken from another, and comes back in time."""
    assert [count_passes(limiter, key) for key in (DESK, PHONE)] == [2, 2]
    clock.advance(timedelta(seconds=4))
    assert [count_passes(limiter, key) for key in (DESK, PHONE)] == [1, 1]


def test_a_refusal_names_the_key_and_the_wait(limiter: Limiter) -> None:
    """Who is refused is told which key it was and after how many seconds to come again."""
    count_passes(limiter, DESK)
    with pytest.raises(RateLimitedError, match="after 4 s") as caught:
        limiter.take(DESK)
    assert (caught.value.retry_after_secs, caught.value.ids) == (4, {"api_key": DESK})
    assert (caught.value.http_status, caught.value.retryable) == (429, True)


def test_refusals_do_not_lengthen_the_wait(limiter: Limiter, clock: FakeClock) -> None:
    """Who asks again and again while refused passes as early as who waits."""
    for _ in range(4):
        count_passes(limiter, DESK, 100)
        clock.advance(timedelta(seconds=1))
    assert count_passes(limiter, DESK) == 1


def test_no_more_keys_are_remembered_than_may(limiter: Limiter) -> None:
    """Of too many keys the one that asked longest ago is forgotten, and those that asked since are not."""
    count_passes(limiter, DESK)
    limiter.take(PHONE)
    limiter.take(BOT)
    assert [count_passes(limiter, key) for key in (PHONE, BOT)] == [1, 1]
    assert count_passes(limiter, DESK) == 2


def test_a_key_in_use_is_not_forgotten(limiter: Limiter, clock: FakeClock) -> None:
    """A key that goes on asking stays held to its rate, whichever came first."""
    limiter.take(DESK)
    limiter.take(PHONE)
    clock.advance(timedelta(seconds=1))
    limiter.take(DESK)
    limiter.take(BOT)
    assert count_passes(limiter, DESK) == 0


def test_a_clock_that_is_set_back_shuts_nobody_out(limiter: Limiter, clock: FakeClock) -> None:
    """A key that used up its passes before the clock was set back a year passes again after the time of one."""
    count_passes(limiter, DESK)
    clock.advance(timedelta(days=-365))
    assert count_passes(limiter, DESK) == 0
    clock.advance(timedelta(seconds=4))
    assert count_passes(limiter, DESK) == 1


def test_what_a_key_had_elsewhere_is_missing_here(limiter: Limiter, clock: FakeClock) -> None:
    """Passes that another process tells of are taken, down to none; they come back in time, and no other key lacks any."""
    limiter.spend(DESK, 1)
    limiter.spend(PHONE, 1_000_000)
    assert [count_passes(limiter, key) for key in (DESK, PHONE)] == [1, 0]
    clock.advance(timedelta(seconds=8))
    assert count_passes(limiter, PHONE) == 2


def test_what_passed_here_is_told_once(limiter: Limiter) -> None:
    """The passes of each key since the last time are counted; what was refused, and what another process told of, is not."""
    count_passes(limiter, DESK)
    limiter.spend(PHONE, 1)
    assert limiter.collect() == {DESK: 2}
    assert limiter.collect() == {}
