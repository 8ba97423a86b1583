"""Ids from the machine's time and randomness."""

import os
import time
from threading import Lock

_RANDOM_BYTES = 8


class RandomIds:
    """Makes unique ids that sort by creation; see `everfold.ports.system.Ids`.

    An id is its prefix, the microseconds since 1970 in 14 hex digits, and 64 random bits. The time part rises with
    every id of one maker, also when the machine's clock stands still or is set back; it stays within 14 digits until
    the year 4253.

    Source: the layout of RFC 9562, 5.7 (UUID version 7), with a finer time and without its fixed bits.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = 0

    def new_id(self, prefix: str) -> str:
        """An id with the prefix: `ses_...`, `evt_...`."""
        with self._lock:
            self._last = max(time.time_ns() // 1000, self._last + 1)
            stamp = self._last
        return f"{prefix}{stamp:014x}{os.urandom(_RANDOM_BYTES).hex()}"
