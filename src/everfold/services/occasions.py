"""Occasions: bring a session up to date when its user comes back, and every so many exchanges.

Source: DESIGN section 3.5, cadence and gap.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from everfold.core.occasions import Occasion, RefreshRequest, ask_fold, ask_sources, find_occasion, meet_occasion
from everfold.core.planning import Demand
from everfold.errors import ConflictError, EverfoldError
from everfold.services.compact import Compactor

Refresh = Callable[[RefreshRequest], Awaitable[None]]
"""Asks the context sources and appends what they say. What it raises leaves the stretch of time to be asked again."""


async def meet_gap(compactor: Compactor, refresh: Refresh | None, now: datetime) -> None:
    """The user is back after a gap: refresh, and compact, before anything is shown, under one deadline.

    The provider has forgotten its cache by now, so a break costs nothing. Where plug-ins are to see what is folded
    first, the compaction is only begun, and is done beside the turn.
    """
    await _meet(compactor, "gap", refresh, now)
    demand = ask_fold("gap", compactor.live.state, compactor.live.settings.policy)
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


async def meet_cadence(compactor: Compactor, refresh: Refresh | None, now: datetime) -> bool:
    """So many exchanges have finished: refresh, and begin a compaction. False when it is not the time."""
    live = compactor.live
    if find_occasion(live.state, live.settings.policy) != "cadence":
        return False
    demand = ask_fold("cadence", live.state, live.settings.policy)
    await _meet(compactor, "cadence", refresh, now)
    return demand is not None and await _begin(compactor, demand)


async def _meet(compactor: Compactor, occasion: Occasion, refresh: Refresh | None, now: datetime) -> None:
    live = compactor.live
    refreshed_at: datetime | None = None
    if refresh is not None:
        request = ask_sources(occasion, live.record, live.state, live.settings.policy, now)
        with suppress(TimeoutError, EverfoldError):
            async with asyncio.timeout(request.deadline_secs):
                await refresh(request)
            refreshed_at = request.to_at
        await live.reload(compactor.store)
    while find_occasion(live.state, live.settings.policy) == occasion:
        state = meet_occasion(occasion, live.state, refreshed_at=refreshed_at)
        await compactor.committer.write_state(state)
