"""Tries: how long a change is decided anew because other writers were first, and how that ends."""

import asyncio
from typing import Final

from everfold.errors import ConflictError

PATIENCE_SECS: Final = 10.0
"""How long is tried. Source: own choice; twice what a writer waits for the lock of the database."""
_FIRST_SECS: Final = 0.001
_MOST_SECS: Final = 0.1


class Tries:
    """The tries of one change: `begin` each; the second follows the first at once, later ones after growing waits.

    Args:
        what: What is to be changed, for the error.
        ids: Its ids, for the error.
    """

    def __init__(self, what: str, **ids: str) -> None:
        self._what = what
        self._ids = ids
        self._until: float | None = None
        self._count = 0
        self._wait_secs = 0.0

    async def begin(self) -> None:
        """Begin a try, or end them.

        Raises:
            ConflictError: others were first at every try for `PATIENCE_SECS`; nothing was written.
        """
        now = asyncio.get_running_loop().time()
        if self._until is None:
            self._until = now + PATIENCE_SECS
        elif now >= self._until:
            raise ConflictError(
                f"{self._what} was changed by others at each of {self._count} tries in {PATIENCE_SECS:g} s; nothing was "
                "written, try again",
                **self._ids,
            )
        else:
            await asyncio.sleep(self._wait_secs)
            self._wait_secs = min(max(2 * self._wait_secs, _FIRST_SECS), _MOST_SECS)
        self._count += 1
