"""How many event streams each API key has open."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from everfold.core.access.api_keys import ApiKeyId
from everfold.errors import RateLimitedError


@dataclass(slots=True, kw_only=True)
class StreamCounts:
    """The counts of one process."""

    most_count: int
    _counts: Counter[ApiKeyId] = field(default_factory=Counter[ApiKeyId], init=False)

    @contextmanager
    def hold(self, key_id: ApiKeyId) -> Iterator[None]:
        """Within it, a key has one stream more.

        Raises:
            RateLimitedError: it has as many as it may.
        """
        if self._counts[key_id] >= self.most_count:
            raise RateLimitedError(
                f"this API key has {self.most_count} event streams open; close one, or raise server.streams_per_api_key",
                api_key=key_id,
            )
        self._counts[key_id] += 1
        try:
            yield
        finally:
            self._counts[key_id] -= 1
            if not self._counts[key_id]:
                del self._counts[key_id]
