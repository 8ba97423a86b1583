"""Occasions: bring a session up to date when its user comes back, and every so many exchanges.

The first writer of an occasion meets it, and it is met once: another process, or another handle, goes on
without it. What the sources have not answered by then is asked again on the next occasion.

Source: DESIGN section 3.5, cadence and gap.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from everfold.core.compaction.occasions import (
    Occasion,
    ask_fold,
    claim_return,
    find_occasion,
    is_return,
    meet_occasion,
)
from everfold.core.compaction.planning import Demand
from everfold.errors import BudgetUnsatisfiableError, ConflictError
from everfold.services.compaction.compact import Compactor
from everfold.services.compaction.refresh import Refresher


async def meet_return(
    compactor: Compactor, refresher: Refresher | None, catch_up: Callable[[], Awaitable[None]], said_at: datetime
) -> None:
    """The user is back after a gap, and their message is not stored yet: refresh, and compact, under one deadline.

    So the model reads what happened meanwhile before the question. `catch_up` has memory look at what may be folded. What
    no window can fit is left to the window to say.
    """
    live = compactor.live
    policy = live.settings.policy
    demand = ask_fold("gap", live.state, policy)
    while is_return(live.state, policy, said_at):
        state = claim_return(live.state)
        await compactor.committer.write_state(state)
        if live.state is state:
            await catch_up()
            with suppress(BudgetUnsatisfiableError):
                await _bring_up_to_date(compactor, refresher, demand)
            return


async def meet_gap(compactor: Compactor, refresher: Refresher | None) -> None:
    """The same for a gap that no append has met, as in a log that was imported: before anything is shown.

    The provider has forgotten its cache by now, so a cache break costs nothing. Where plug-ins are to see what is folded
    first, the compaction is only begun, and is done beside the turn.
    """
    live = compactor.live
    demand = ask_fold("gap", live.state, live.settings.policy)
    if await _claim(compactor, "gap"):
        await _bring_up_to_date(compactor, refresher, demand)


async def _bring_up_to_date(compactor: Compactor, refresher: Refresher | None, demand: Demand | None) -> None:
    live = compactor.live
    if refresher is not None:
        await refresher.refresh(live, cause="gap", deadline_secs=live.settings.policy.gap_deadline_secs)
    if demand is None:
        return
    if compactor.abilities.has_hooks:
        await _begin(compactor, demand)
    else:
        await compactor.compact(demand=demand)


async def _begin(compactor: Compactor, demand: Demand) -> bool:
    """Begin what an occasion asks for. False when nothing is to be folded."""
    plan, _ = await compactor.plan(demand=demand)
    if plan is None:
        return False
    with suppress(ConflictError):  # the log has moved on: the next occasion is as good
        await compactor.begin(plan)
        return True
    return False


async def meet_cadence(compactor: Compactor, refresher: Refresher | None, *, is_inline: bool) -> bool:
    """So many exchanges have finished: refresh, and begin a compaction. False when nothing was begun.

    The sources are asked beside everything else, unless the caller waits for all work anyway.
    """
    live = compactor.live
    if find_occasion(live.state, live.settings.policy) != "cadence":
        return False
    demand = ask_fold("cadence", live.state, live.settings.policy)
    if not await _claim(compactor, "cadence"):
        return False
    if refresher is not None and is_inline:
        await refresher.refresh(live, cause="cadence")
    elif refresher is not None:
        refresher.refresh_soon(live.record.id)
    return demand is not None and await _begin(compactor, demand)


async def _claim(compactor: Compactor, occasion: Occasion) -> bool:
    """Whether this is who meets the occasion; else another was first, and the state is read again."""
    live = compactor.live
    while find_occasion(live.state, live.settings.policy) == occasion:
        state = meet_occasion(occasion, live.state)
        await compactor.committer.write_state(state)
        if live.state is state:
            return True
    return False
