"""Full collections of garbage, when no request waits for them.

Theory of operation: a full collection looks at every object and stops the event loop meanwhile. What is there when the
server begins is frozen, so that none looks at it again. Python would begin a full collection in the middle of a busy
minute, when what is under way has made the most objects; here they wait for a moment without requests, and come without
one only seldom. Collections of young objects go on as ever.

Source: the documentation of Python's `gc.freeze` and `gc.set_threshold`; tests/server/test_load.py: 230 ms with the half
million objects of our libraries, 150 ms with the hundred thousand of 200 chats under way, of which 500 were garbage.
"""

import gc
from collections.abc import Callable
from time import monotonic
from typing import Final

IDLE_SECS: Final = 60.0
"""How long after one the next may come at a moment without requests."""
MOST_SECS: Final = 900.0
"""How long after one the next comes anyway."""
_NEVER: Final = 2**31 - 1


class FullCollections:
    """Takes the full collections over from Python, from `begin` to `end`.

    Args:
        read_secs: A clock that never goes back.
    """

    def __init__(self, read_secs: Callable[[], float] = monotonic) -> None:
        self._read_secs = read_secs
        self._before = gc.get_threshold()
        self._last_secs = read_secs()

    def begin(self) -> None:
        """Freeze what is there: modules and routes, which stay."""
        gc.collect()
        self.keep()
        gc.set_threshold(*self._before[:2], _NEVER)
        self._last_secs = self._read_secs()

    def keep(self) -> None:
        """Freeze what was loaded since: no later collection looks at it."""
        gc.freeze()

    def look(self, *, is_idle: bool) -> bool:
        """Collect if it is time. Gives whether it was."""
        since_secs = self._read_secs() - self._last_secs
        if since_secs < (IDLE_SECS if is_idle else MOST_SECS):
            return False
        gc.collect()
        self._last_secs = self._read_secs()
        return True

    def end(self) -> None:
        """Leave them to Python again."""
        gc.set_threshold(*self._before)
        gc.unfreeze()
