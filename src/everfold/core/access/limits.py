"""Limits: how many requests in how much time, as a token bucket.

A bucket holds a number of passes and refills at a steady rate. It is stored as one moment instead of a count and a
time: the moment at which it is full again. Each pass moves that moment on by the time of one refill. A pass is refused
if the moment would lie further ahead than an empty bucket takes to fill. Moments are whole microseconds, so nothing is
lost to rounding, and the bound holds exactly: in any stretch of time no more passes than the bucket holds, plus those
gained in the stretch.

Source: ITU-T I.371, annex A (the generic cell rate algorithm as virtual scheduling), which is a token bucket.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from everfold.errors import InvalidInputError, RateLimitedError

_SECOND = timedelta(seconds=1)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How many passes a full bucket holds, and how many it gains a second.

    Raises:
        InvalidInputError: it holds less than one, or gains none, or more than one a microsecond.
    """

    capacity_count: int
    refill_per_sec: float

    def __post_init__(self) -> None:
        if self.capacity_count < 1 or not 0 < self.refill_per_sec <= _SECOND / _TICK:
            raise InvalidInputError(
                f"a rate limit must hold at least 1 pass and gain more than 0 and at most {_SECOND // _TICK:,} a second, "
                f"got {self.capacity_count} and {self.refill_per_sec}"
            )

    @property
    def gain(self) -> timedelta:
        """In how much time one pass is gained, rounded up to a microsecond: never more than the rate says."""
        return timedelta(microseconds=math.ceil(_SECOND / _TICK / self.refill_per_sec))

    @property
    def filling(self) -> timedelta:
        """In how much time an empty bucket is full."""
        return self.capacity_count * self.gain


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What one key may still do; a key that was never seen has a full one."""

    full_at: datetime


def settle(bucket: Bucket | None, limit: RateLimit, now: datetime) -> Bucket:
    """The bucket as it is now: full not before now, and no later than an empty one is.

    A keeper of buckets has to keep what this gives also where nothing passes: after a clock was set back a bucket is empty
    at worst, and fills from then on.
    """
    return Bucket(full_at=now if bucket is None else min(max(bucket.full_at, now), now + limit.filling))


def take(bucket: Bucket | None, limit: RateLimit, now: datetime) -> Bucket:
    """The bucket with one pass less; None stands for a full one.

    Raises:
        RateLimitedError: it holds none; says after how many seconds it does.
    """
    full_at = settle(bucket, limit, now).full_at + limit.gain
    wait = full_at - now - limit.filling
    if wait > timedelta(0):
        raise RateLimitedError(
            f"too many requests: the limit is {limit.capacity_count} at once and {limit.refill_per_sec:g} per "
            f"second; send it again after {_round_up(wait)} s",
            retry_after_secs=_round_up(wait),
        )
    return Bucket(full_at=full_at)


def _round_up(wait: timedelta) -> int:
    return -(-wait // _SECOND)
