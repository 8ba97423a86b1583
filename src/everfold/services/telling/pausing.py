"""Pausing: run a long computation on the event loop and let others through between its steps."""

import asyncio
from typing import TypeVar

from everfold.core.primitives.stepwise import Steps

T = TypeVar("T")


async def finish_pausing(steps: Steps[T]) -> T:
    """The result, with a turn of the event loop after each step."""
    try:
        while True:
            next(steps)
            await asyncio.sleep(0)
    except StopIteration as done:
        result: T = done.value
        return result
