"""Tries: how often a change is decided again because other writers were first, and how that ends.

Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: full jitter.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

import anyio

from everfold.errors import ConflictError

DEADLINE_SECS: Final = 30.0
"""How long a change is tried. Source: own choice; half of what HTTP clients wait for an answer."""
FIRST_PAUSE_SECS: Final = 0.002
"""The longest first pause, about as long as a small change takes; each pause is up to twice as long as the one before."""
LONGEST_PAUSE_SECS: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a writer goes on, and what it waits with.

    Attributes:
        jitter: A number from 0 to 1, so that many writers do not come back at once.
        read_secs: A time in seconds that never goes back.
    """

    deadline_secs: float = DEADLINE_SECS
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random.random
    read_secs: Callable[[], float] = monotonic


PATIENCE: Final = Patience()


class Tries:
    """The tries of one change, from now until the deadline: `begin` each.

    Args:
        what: What is to be changed, for the error.
        patience: How long, and with which pauses; `PATIENCE` if left out.
        ids: Its ids, for the error.
    """

    def __init__(self, what: str, *, patience: Patience | None = None, **ids: str) -> None:
        self._what = what
        self._ids = ids
        self._patience = patience or PATIENCE
        self._until = self._patience.read_secs() + self._patience.deadline_secs
        self._count = 0
        self._pause_secs = FIRST_PAUSE_SECS

    async def begin(self) -> None:
        """Begin a try, or end them. Every try but the first comes after a pause.

        Raises:
            ConflictError: others were first at every try until the deadline; nothing was written.
        """
        if self._count:
            if self._patience.read_secs() >= self._until:
                raise self.give_up()
            await self._patience.sleep(self._pause_secs * self._patience.jitter())
            self._pause_secs = min(2 * self._pause_secs, LONGEST_PAUSE_SECS)
        self._count += 1

    def give_up(self) -> ConflictError:
        """The error of a change that others were always first with."""
        return ConflictError(
            f"{self._what} was changed by others for {self._patience.deadline_secs:g} s; nothing was written, try again",
            **self._ids,
        )
