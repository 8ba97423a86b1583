"""Show: the window of a session, compacted first when that is due."""

from dataclasses import replace
from functools import partial

from everfold.core.folding import Fold
from everfold.core.occasions import find_occasion
from everfold.core.state import Breaks
from everfold.core.window import Window, build_window
from everfold.errors import ConflictError, InvalidInputError, NotFoundError
from everfold.ports.stores import Store
from everfold.services.attend import Attendant
from everfold.services.background import Background
from everfold.services.live import LiveSession
from everfold.services.occasions import meet_gap
from everfold.services.recollect import NOTHING_RECALLED, Recollection


async def show_window(
    store: Store,
    live: LiveSession,
    background: Background,
    *,
    limit_tokens: int | None,
    volatile: str | None,
    is_preview: bool = False,
    attendant: Attendant | None = None,
) -> Window:
    """The window for the session's limit, or for a lower one. What is due and can wait is left to the background.

    Raises:
        InvalidInputError: the limit is above the session's own.
        BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
    """
    live.room(limit_tokens)  # refuses what is no limit at all
    if limit_tokens is not None and limit_tokens > live.settings.limit_tokens:
        raise InvalidInputError(
            f"session {live.record.id}: window(limit={limit_tokens}) is above the session's limit of "
            f"{live.settings.limit_tokens}; a call may only lower it. Open the session with the higher limit",
            session=live.record.id,
        )
    await live.reload(store)
    if attendant is not None and not is_preview:
        await attendant.catch_up(live)  # nothing is folded before it was looked at
    refresher = background.worker.refresher
    if refresher is not None and not is_preview:
        await refresher.show_late(live)
    has_work, folds = await _compact(live, background, limit_tokens=limit_tokens, is_preview=is_preview)
    recollection = None
    if attendant is not None:
        if not is_preview:
            await attendant.take_folds(live, folds)
        recollection = await attendant.recollect(live, limit_tokens=limit_tokens, own=volatile, is_preview=is_preview)
    window = await build_shown(store, live, limit_tokens=limit_tokens, volatile=volatile, recollection=recollection)
    if (reported := live.state.breaks) and not is_preview:
        live.state = replace(live.state, breaks=())  # what the next append stores
        settling = partial(_settle_breaks, store, live, reported)
        if background.is_synchronous:
            await settling()
        else:
            background.dispatcher.submit(f"breaks of {live.record.id}", settling)
    if has_work:
        background.wake(live.record.id)  # last of all, so that this turn does not wait for it
    return window


async def _compact(
    live: LiveSession, background: Background, *, limit_tokens: int | None, is_preview: bool
) -> tuple[bool, list[Fold]]:
    """Fold what cannot wait, and tell whether there is work for the background, and what an overflow has folded."""
    compactor = background.worker.compactor(live, is_preview=is_preview)
    compactor.require_room(limit_tokens)
    before = (live.state.event_id, live.state.held_events)
    if not is_preview and find_occasion(live.state, live.settings.policy) == "gap":
        await meet_gap(compactor, background.worker.refresher)
    has_overflown = compactor.is_over(limit_tokens)
    folds: list[Fold] = []
    if is_preview and background.is_synchronous:
        await compactor.compact(limit_tokens=limit_tokens)
    elif limit_tokens is not None:
        if not compactor.abilities.has_hooks:  # else what does not have to go waits for them
            folds = await compactor.compact(limit_tokens=limit_tokens)
    elif background.is_synchronous and (live.state.has_work or await compactor.find_due()):
        folds = await background.worker.work(live)
    folds = [*(folds if has_overflown else ()), *await compactor.make_fit(limit_tokens=limit_tokens)]
    if is_preview:
        return False, folds
    if live.state.stuck_count:
        await compactor.release_latch()
    if live.state.breaks and any(one.is_patient for one in live.state.awaited):
        await background.worker.upgrade(live)
    has_more = live.state.has_work and (live.state.event_id, live.state.held_events) != before
    return not background.is_synchronous and (has_more or await compactor.find_due()), folds


async def _settle_breaks(store: Store, live: LiveSession, reported: Breaks) -> None:
    """Store that a window has reported breaks, unless an append has done it meanwhile."""
    while (state := await store.read_state(live.record.id)).breaks[: len(reported)] == reported:
        settled = replace(state, revision=state.revision + 1, breaks=state.breaks[len(reported) :])
        try:
            await store.write_state(live.record.id, settled, expected_revision=state.revision)
        except ConflictError:
            continue
        if live.state.revision == state.revision:
            live.state = settled
        break


async def build_shown(
    store: Store,
    live: LiveSession,
    *,
    limit_tokens: int | None,
    volatile: str | None,
    recollection: Recollection | None = None,
) -> Window:
    """The window as the layout stands, without compacting. What memory shows comes before the caller's own suffix."""
    messages = await live.load_shown(store)
    shown = NOTHING_RECALLED if recollection is None else recollection
    try:
        window = build_window(
            live.state,
            await live.load_body(store, snapshot=shown.snapshot),
            messages,
            session=live.record.id,
            prompt=live.settings.prompt,
            policy=live.settings.policy,
            room=live.room(limit_tokens),
            volatile=shown.volatile(volatile),
            tail=live.show_tail(),
            why=shown.why,
        )
    except KeyError as error:
        raise NotFoundError(
            f"session {live.record.id}: the window needs {error.args[0]!r}, which the store no longer has; "
            "run `everfold verify`",
            session=live.record.id,
        ) from error
    live.let_go()
    return window
