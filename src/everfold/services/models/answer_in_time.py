"""Answer in time: ask a model or an embedder once; whatever it raises or answers, its caller gets a reply or one of our errors."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from everfold.errors import EverfoldError, ModelReplyError, ModelUnavailableError
from everfold.services.telling.stopping import FAULTS, Stopping

T = TypeVar("T")


async def answer_in_time(ask: Callable[[], Awaitable[T]], *, secs: float, asked: str, name: str, expected: str) -> T:
    """What one call gives within so many seconds; our own errors pass.

    Args:
        ask: The call.
        secs: How long it may take.
        asked: What is asked, for the error: "the model", "the embedder".
        name: Its name.
        expected: What it should have given, for the error.

    Raises:
        ModelReplyError: it failed.
        ModelUnavailableError: it did not answer in time.
    """
    stopping = Stopping()
    try:
        with anyio.move_on_after(secs) as limit:
            return await ask()
    except FAULTS as error:
        await stopping.pass_on(error)
        if isinstance(error, EverfoldError):
            raise
        if not limit.cancel_called:
            raise ModelReplyError(
                f"{asked} {name} failed with {type(error).__name__}; expected {expected}. Check the cause, or configure "
                "another one",
                model=name,
            ) from error
    raise ModelUnavailableError(
        f"{asked} {name} did not answer within {secs:g} s; try again, or raise the limit", model=name
    )
