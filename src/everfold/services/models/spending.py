"""Spending: the cap of a day, and a record of every attempt to call a model or an embedder."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import anyio

from everfold.core.observation.usage import start_of_day
from everfold.errors import EverfoldError, OverBudgetError
from everfold.ports.system import Clock
from everfold.ports.usage import UsageStore

CANCELLED: Final = "cancelled"
"""The outcome of an attempt whose caller was cancelled."""

Reply = TypeVar("Reply")


async def require_day_budget(
    store: UsageStore, clock: Clock, per_day_usd: float | None, *, spent_usd: float = 0.0
) -> None:
    """Compare the cost of all calls since midnight UTC with the cap of a day; None is no cap.

    Args:
        store: Where calls are recorded.
        clock: Tells which day it is.
        per_day_usd: The cap.
        spent_usd: The cost of calls that are not recorded yet.

    Raises:
        OverBudgetError: the cap is reached.
    """
    if per_day_usd is not None:
        midnight = start_of_day(clock.now())
        spent = spent_usd + await store.sum_cost_usd(since=midnight)
        refuse_above("spend.per_day_usd", per_day_usd, spent, f"{midnight:%Y-%m-%d} (UTC)")


def refuse_above(key: str, cap_usd: float, spent_usd: float, what: str) -> None:
    """Refuse a call whose cap is reached.

    Raises:
        OverBudgetError: it is.
    """
    if spent_usd >= cap_usd:
        raise OverBudgetError(
            f"{what} has cost {spent_usd:.4f} USD, and {key} is {cap_usd:.4f}: no model is called; raise the cap, or wait",
            cap=key,
        )


async def record_attempt(
    ask: Callable[[], Awaitable[Reply]],
    record: Callable[[str, Reply | None], Awaitable[None]],
    name_outcome: Callable[[Reply], str],
) -> Reply:
    """The reply of one attempt, which is recorded however it ends: a cancelled call has its cost too."""

    async def write(outcome: str, reply: Reply | None = None) -> None:
        with anyio.CancelScope(shield=True):
            await record(outcome, reply)

    try:
        reply = await ask()
    except EverfoldError as error:
        await write(error.code)
        raise
    except anyio.get_cancelled_exc_class():
        with suppress(EverfoldError):  # a record that cannot be written must not replace the cancellation
            await write(CANCELLED)
        raise
    await write(name_outcome(reply), reply)
    return reply
