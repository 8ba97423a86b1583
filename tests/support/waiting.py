"""Waiting for what happens, however long a busy machine takes for it."""

import asyncio
from collections.abc import Callable
from typing import Final

SECS: Final = 120.0
"""How long a test waits at most: the time only ends one that hangs."""


async def until(is_so: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(SECS):
        while not is_so():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.001)
