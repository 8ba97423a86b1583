"""Stopping: tell the cancellation of a caller from what code that is not ours raises of its own.

A model, an embedder, a source or a plug-in may raise anything: a cancellation of a task of its own, the group of
exceptions that a task group raises, or an error in answer to a cancellation of the caller.
"""

import asyncio
from typing import Final

import anyio

FAULTS: Final = (Exception, asyncio.CancelledError, BaseExceptionGroup)
"""What may be the fault of the code that was called; see `Stopping`."""


class Stopping:
    """Made before code that is not ours is called, outside of the limit on its time."""

    def __init__(self) -> None:
        self._before_count = _count_cancellations()

    async def pass_on(self, error: BaseException) -> None:
        """Return where one of `FAULTS` is the fault of the code that was called.

        Raises:
            CancelledError: the caller was cancelled meanwhile, whatever the code made of it.
            BaseExceptionGroup: the error itself, which holds an order to end the program.
        """
        await anyio.lowlevel.checkpoint_if_cancelled()
        if _count_cancellations() > self._before_count:
            raise asyncio.CancelledError from error
        if isinstance(error, BaseExceptionGroup) and error.split((Exception, asyncio.CancelledError))[1] is not None:
            raise error


def _count_cancellations() -> int:
    """How many requests to cancel the running task are not withdrawn."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
