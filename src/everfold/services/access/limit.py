"""Holding every key to its rate, in the memory of one process.

Several processes over one store tell each other how much of its rate a key has had at each, some times a second: until
then each lets pass what the key has left there.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from everfold.core.access.api_keys import ApiKeyId
from everfold.core.access.limits import Bucket, RateLimit, settle, take
from everfold.errors import RateLimitedError
from everfold.ports.system import Clock

MOST_BUCKETS: Final = 10_000
"""How many keys are held to their rate at once. Source: own choice; some two megabytes."""


@dataclass(slots=True, kw_only=True)
class Limiter:
    """A bucket for each key that was seen lately. Costs no query; a restart fills all buckets.

    When there are too many, the one that was asked for longest ago is forgotten, and full when its key comes again. Ask only
    for keys that were checked: made-up ones would push the others out.
    """

    clock: Clock
    limit: RateLimit
    most_buckets: int = MOST_BUCKETS
    _buckets: dict[ApiKeyId, Bucket] = field(default_factory=dict, init=False)
    _taken: Counter[ApiKeyId] = field(default_factory=Counter, init=False)

    def take(self, key_id: ApiKeyId) -> None:
        """Let one request of a key pass.

        Raises:
            RateLimitedError: it had too many; says after how many seconds one passes.
        """
        now = self.clock.now()
        # Taken out and put in again: a dict is in the order of putting in, so the first one was asked for longest ago.
        bucket = settle(self._buckets.pop(key_id, None), self.limit, now)
        try:
            bucket = take(bucket, self.limit, now)
            self._taken[key_id] += 1
        except RateLimitedError as error:
            error.ids["api_key"] = key_id
            raise
        finally:
            self._keep(key_id, bucket)

    def collect(self) -> dict[ApiKeyId, int]:
        """How many requests of each key have passed here since the last call."""
        taken, self._taken = dict(self._taken), Counter()
        return taken

    def spend(self, key_id: ApiKeyId, count: int) -> None:
        """Take so many passes from a key that it has had elsewhere, down to none."""
        now = self.clock.now()
        bucket = settle(self._buckets.pop(key_id, None), self.limit, now)
        self._keep(key_id, settle(Bucket(full_at=bucket.full_at + count * self.limit.gain), self.limit, now))

    def _keep(self, key_id: ApiKeyId, bucket: Bucket) -> None:
        self._buckets[key_id] = bucket
        if len(self._buckets) > self.most_buckets:
            del self._buckets[next(iter(self._buckets))]
