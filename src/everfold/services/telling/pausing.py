"""Pausing: run a long computation on the event loop and let others through between its steps."""

import asyncio
from typing import Final, TypeVar

from everfold.core.primitives.stepwise import Steps

T = TypeVar("T")

_HOLD_SECS: Final = 0.005
"""How long steps may hold the event loop together: a tenth of what nothing may pass. A turn of the loop after each of a
hundred short steps costs more than many of them. Source: DESIGN, "nothing holds the event loop over 50 ms"."""


async def finish_pausing(steps: Steps[T]) -> T:
    """The result, with a turn of the event loop after each step that ends `_HOLD_SECS` or more after the last turn."""
    now = asyncio.get_running_loop().time
    began = now()
    try:
        while True:
            next(steps)
            if now() - began >= _HOLD_SECS:
                await asyncio.sleep(0)
                began = now()
    except StopIteration as done:
        result: T = done.value
        return result
