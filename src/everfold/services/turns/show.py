"""Show: the window of a session, compacted first when that is due."""

import asyncio

from everfold.core.log.state import SessionState
from everfold.core.windows.window import Window, build_window
from everfold.errors import InvalidInputError, NotFoundError, OpenStepError
from everfold.ports.jobs import SettleBreaks
from everfold.ports.stores import Store
from everfold.services.compaction.work import Worker
from everfold.services.memory.recollect import NOTHING_RECALLED, Recollection, Recollector
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.shown import load_digest_texts, load_shown, note_turn
from everfold.services.turns.attend import Attendant
from everfold.services.turns.background import Background
from everfold.services.turns.fold_due import choose_showing, fold_due


async def show_window(
    store: Store,
    live: LiveSession,
    background: Background,
    *,
    limit_tokens: int | None,
    suffix: str | None,
    is_preview: bool = False,
    is_complete: bool = False,
    attendant: Attendant | None = None,
    recollector: Recollector | None = None,
) -> Window:
    """The window for the session's limit, or for a lower one. What is due and can wait is left to the background.

    Its cache breaks are those of the next window too, until `report_breaks`.

    Raises:
        InvalidInputError: the limit is above the session's own.
        BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        OpenStepError: it must be complete, and a step waits for results.
    """
    await live.reload(store)
    _require_lower(live, limit_tokens)
    if is_complete:
        _require_complete(live)
    worker = background.worker
    if live.opening is not None:
        worker.compactor(live, is_preview=is_preview).require_budget(limit_tokens)
        return await build_shown(store, live, limit_tokens=limit_tokens, suffix=suffix)
    if not is_preview:
        await _catch_up(live, worker, attendant)
    showing = choose_showing(limit_tokens=limit_tokens, is_preview=is_preview, is_inline=background.is_synchronous)
    folded = await fold_due(live, worker, showing)
    if attendant is not None and not is_preview:
        await attendant.take_folds(live, folded.overflow)
    recollection = None
    if recollector is not None:
        recollection = await recollector.recollect(live, limit_tokens=limit_tokens, own=suffix, is_preview=is_preview)
    worker.handover.add_unreported(live)
    window = await build_shown(store, live, limit_tokens=limit_tokens, suffix=suffix, recollection=recollection)
    if folded.has_more:
        background.wake(live.record.id)  # last of all, so that this turn does not wait for it
    return window


def _require_lower(live: LiveSession, limit_tokens: int | None) -> None:
    live.budget(limit_tokens)  # refuses what is no limit at all
    if limit_tokens is not None and limit_tokens > live.settings.limit_tokens:
        raise InvalidInputError(
            f"session {live.record.id}: window(limit={limit_tokens}) is above the session's limit of "
            f"{live.settings.limit_tokens}; a call may only lower it. Open the session with a higher limit",
            session=live.record.id,
        )


def _require_complete(live: LiveSession) -> None:
    step = live.state.open_step
    if step is not None:
        raise OpenStepError(
            f"session {live.record.id}: the step that begins at message {step.first_seq} waits for the results of "
            f"{', '.join(step.pending)}; append them, then ask for the window",
            session=live.record.id,
            seq=step.first_seq,
            calls=step.pending,
        )


async def _catch_up(live: LiveSession, worker: Worker, attendant: Attendant | None) -> None:
    """Take up what others have left: nothing is folded before memory has looked at it."""
    if attendant is not None:
        await attendant.catch_up(live)
    if worker.refresher is not None:
        await worker.refresher.show_late(live)


async def report_breaks(live: LiveSession, background: Background, shown: SessionState) -> None:
    """Note that a window has reported the cache breaks of the state it shows; stored by the next append, or beside the turns.

    The last thing before a window is given: it never fails, and what could not be stored is reported again, as is what a
    window reports whose caller is cancelled meanwhile.
    """
    if not shown.cache_breaks:
        return
    live.state = live.state.with_reported(shown.breaks_count)
    job = SettleBreaks(session_id=live.record.id, reported_count=shown.breaks_count)
    background.dispatcher.submit(job)
    if background.is_synchronous:
        await _wait_for_note(live, background, job, shown)


async def _wait_for_note(live: LiveSession, background: Background, job: SettleBreaks, shown: SessionState) -> None:
    handover = background.worker.handover
    try:
        await background.dispatcher.join(job.name)
    except asyncio.CancelledError:
        handover.leave_unreported(live.record.id, shown)
        raise
    handover.drop_unreported(live.record.id)
    handover.pick_up(live)


async def build_shown(
    store: Store,
    live: LiveSession,
    *,
    limit_tokens: int | None,
    suffix: str | None,
    recollection: Recollection | None = None,
) -> Window:
    """The window as the layout stands, without compacting. What memory shows comes before the caller's own suffix."""
    messages, digests = await load_shown(store, live), await load_digest_texts(store, live)
    shown = NOTHING_RECALLED if recollection is None else recollection
    note = note_turn(live)
    try:
        built = build_window(
            live.state.with_cache_break("suffix", 0) if shown.has_dropped else live.state,
            live.layout,
            messages,
            digests,
            session=live.record.id,
            prompt=live.settings.prompt,
            policy=live.settings.policy,
            budget=live.budget(limit_tokens),
            snapshot=shown.snapshot,
            suffix=shown.suffix(suffix),
            note=note,
            why=shown.why,
            body=live.body,
            tail=live.shown_tail,
        )
    except KeyError as error:
        raise NotFoundError(
            f"session {live.record.id}: the window needs {error.args[0]!r}, which the store no longer has; "
            "run `everfold verify`",
            session=live.record.id,
        ) from error
    live.remember_shown(built.body, built.tail)
    return built.window
