"""Fold due: what is folded before a window is shown, by the kind of its showing.

There are four kinds. A *preview* folds what the window would, and writes nothing. A *lowered* limit folds what does not
fit it. *Inline*, whatever is due is done at once; in the *background*, only what cannot wait. Every kind ends with what
its limit forces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from everfold.core.compaction.folding import Fold
from everfold.core.compaction.occasions import find_occasion
from everfold.services.compaction.compact import Compactor
from everfold.services.compaction.occasions import meet_gap
from everfold.services.compaction.work import Worker
from everfold.services.sessions.live import LiveSession

Kind = Literal["preview", "lowered", "inline", "background"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How one window is shown. `is_inline` tells whether an engine does at once what is due."""

    kind: Kind
    limit_tokens: int | None
    is_inline: bool


def choose_showing(*, limit_tokens: int | None, is_preview: bool, is_inline: bool) -> Showing:
    """How a window is shown that is asked for so."""
    kind: Kind = "inline" if is_inline else "background"
    if limit_tokens is not None:
        kind = "lowered"
    if is_preview:
        kind = "preview"
    return Showing(kind=kind, limit_tokens=limit_tokens, is_inline=is_inline)


class Folded(NamedTuple):
    """What was done before a window: the folds of an overflow, and whether more is left to the background."""

    overflow: Sequence[Fold] = ()
    has_more: bool = False


async def fold_due(live: LiveSession, worker: Worker, showing: Showing) -> Folded:
    """Fold what this window cannot show or need not wait for.

    Raises:
        BudgetUnsatisfiableError: no window can fit the limit; raised before anything is begun.
    """
    compactor = worker.compactor(live, is_preview=showing.kind == "preview")
    compactor.require_budget(showing.limit_tokens)
    begun = _name_begun(live)
    if showing.kind != "preview" and find_occasion(live.state, live.settings.policy) == "gap":
        await meet_gap(compactor, worker.refresher)
    has_overflown = compactor.is_over(showing.limit_tokens)
    folds = await _fold_ahead(live, worker, compactor, showing)
    forced = await compactor.make_fit(limit_tokens=showing.limit_tokens)
    if showing.kind == "preview":
        return Folded()
    await _settle(live, worker, compactor)
    has_more = not showing.is_inline and await _has_more(live, compactor, begun)
    return Folded(overflow=[*folds, *forced] if has_overflown else forced, has_more=has_more)


async def _fold_ahead(live: LiveSession, worker: Worker, compactor: Compactor, showing: Showing) -> list[Fold]:
    """Fold what is due though the limit does not force it."""
    match showing.kind:
        case "preview" if showing.is_inline:
            return await compactor.compact(limit_tokens=showing.limit_tokens)
        case "preview" | "lowered" if showing.limit_tokens is not None:
            return await _fold_lowered(compactor, showing.limit_tokens)
        case "inline":
            return await _fold_inline(live, worker, compactor)
        case _:
            return []


async def _fold_lowered(compactor: Compactor, limit_tokens: int) -> list[Fold]:
    """All that is due for a lowered limit; with plug-ins, what does not have to go waits for them."""
    return [] if compactor.abilities.has_hooks else await compactor.compact(limit_tokens=limit_tokens)


async def _fold_inline(live: LiveSession, worker: Worker, compactor: Compactor) -> list[Fold]:
    """All that is due, and what is left of earlier work."""
    if live.state.has_work or await compactor.find_due():
        return await worker.work(live)
    return []


async def _settle(live: LiveSession, worker: Worker, compactor: Compactor) -> None:
    """What a window does on the way: it lets a stuck session compact again, and takes late digests into its cache break."""
    if live.state.stuck_count:
        await compactor.close_breaker()
    if live.state.cache_breaks and any(one.is_patient for one in live.state.awaited):
        await worker.upgrade(live)


async def _has_more(live: LiveSession, compactor: Compactor, begun: tuple[object, ...]) -> bool:
    """Whether there is work for the background: a compaction that was begun meanwhile, or one that is due."""
    if live.state.has_work and _name_begun(live) != begun:
        return True
    return await compactor.find_due()


def _name_begun(live: LiveSession) -> tuple[object, ...]:
    return live.state.compaction_id, live.state.pending_compactions
