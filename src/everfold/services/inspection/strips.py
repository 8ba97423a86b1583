"""Strips: the log as the newest compactions left it and as it is now, without reading the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from everfold.core.compaction.layout import EMPTY_LAYOUT, Layout
from everfold.core.compaction.planning import list_noted
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.strips import Strip, make_strip, measure_reach
from everfold.core.log.sessions import NO_END
from everfold.core.primitives.ids import CompactionId
from everfold.ports.stores import Store
from everfold.services.compaction.work import Worker
from everfold.services.sessions.live import LiveSession, copy_session


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedStrip:
    """A strip with the compaction that left it; the strip of now has none.

    Attributes:
        at: When the compaction ended, or began where it has not ended; None for now.
        last_seq: The newest message that there was.
    """

    compaction_id: CompactionId | None
    ordinal: int | None
    trigger: str | None
    at: datetime | None
    last_seq: int
    strip: Strip


class _Apart(NamedTuple):
    """The messages of a log whose fate does not follow from a layout."""

    refreshes: Sequence[int]
    erased: Sequence[int]


async def _read_apart(store: Store, live: LiveSession) -> _Apart:
    return _Apart(await store.list_refreshes(live.record.id), await store.list_erased(live.record.id))


async def list_strips(store: Store, live: LiveSession, *, limit_count: int) -> list[DatedStrip]:
    """The strips of the newest compactions that are in force, oldest first, and the one of now.

    O(what they show); a log's length counts by its logarithm only.
    """
    await live.reload(store)
    apart = await _read_apart(store, live)
    first_ordinal = max(live.state.compactions_count - limit_count, 0)
    compactions = await _list_committed(store, live, after_ordinal=max(first_ordinal - 1, 0))
    strips: list[DatedStrip] = []
    before = EMPTY_LAYOUT
    for compaction in compactions:
        after = await store.read_layout(compaction.id)
        if compaction.ordinal > first_ordinal:
            strips.append(await _trace_compaction(store, live, compaction, before, after, apart))
        before = after
    return [*strips, _trace_now(live, apart)]


async def get_strip(store: Store, live: LiveSession, compaction: Compaction) -> list[DatedStrip]:
    """The strip that one compaction left; none where it is not in force."""
    await live.reload(store)
    compactions = await _list_committed(
        store, live, after_ordinal=max(compaction.ordinal - 2, 0), last_ordinal=compaction.ordinal
    )
    if not compactions or compactions[-1].id != compaction.id:
        return []
    before = await store.read_layout(compactions[0].id) if len(compactions) > 1 else EMPTY_LAYOUT
    apart = await _read_apart(store, live)
    return [await _trace_compaction(store, live, compaction, before, await store.read_layout(compaction.id), apart)]


async def preview_strip(store: Store, live: LiveSession, worker: Worker, *, limit_tokens: int) -> DatedStrip:
    """The strip of now as a lower context limit would fold it. Nothing is written, no model is called, O(log).

    Raises:
        BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
    """
    copy = await copy_session(store, live)
    compactor = worker.compactor(copy, is_preview=True)
    compactor.require_budget(limit_tokens)
    await compactor.compact(limit_tokens=limit_tokens)
    await compactor.make_fit(limit_tokens=limit_tokens)
    return _trace_now(copy, await _read_apart(store, copy))


async def _list_committed(
    store: Store, live: LiveSession, *, after_ordinal: int, last_ordinal: int = NO_END
) -> list[Compaction]:
    """The committed compactions of a stretch; none of those that were cancelled, which have the ordinal of another."""
    compactions = await store.list_compactions(live.record.id, after_ordinal=after_ordinal, limit_count=NO_END)
    return [compaction for compaction in compactions if compaction.is_committed and compaction.ordinal <= last_ordinal]


async def _trace_compaction(
    store: Store,
    live: LiveSession,
    compaction: Compaction,
    before: Layout,
    after: Layout,
    apart: _Apart,
) -> DatedStrip:
    if compaction.report is None or compaction.certificate is None:
        raise ValueError(f"Compaction {compaction.id} has not been committed.")
    sum_tokens = measure_reach(before, compaction.report.tokens_before)
    last_seq = await _find_reach(store, live, sum_tokens, from_seq=after.watermark)
    folded_later = [] if compaction.revises else [covered.seq for covered in compaction.certificate.folded_later]
    return DatedStrip(
        compaction_id=compaction.id,
        ordinal=compaction.ordinal,
        trigger=compaction.report.trigger,
        at=compaction.ended_at or compaction.begun_at,
        last_seq=last_seq,
        strip=make_strip(
            after,
            folded_later=folded_later,
            fixed_seq=live.state.fixed_seq,
            safe_seq=last_seq,
            last_seq=last_seq,
            refreshes=apart.refreshes,
            erased=apart.erased,
        ),
    )


async def _find_reach(store: Store, live: LiveSession, sum_tokens: int, *, from_seq: int) -> int:
    """The newest message from one on whose prefix sum is not above a bound; that one itself where none is.

    Looks ever further ahead, then between: O(log of how far it is).
    """
    low, high, step = from_seq, live.state.last_seq, 1
    while low < high:
        seq = min(low + step, high)
        [note] = await store.read_notes(live.record.id, [seq])
        if note.sum_tokens <= sum_tokens:
            low, step = seq, step * 2
        else:
            high, step = seq - 1, max((seq - 1 - low) // 2, 1)
    return low


def _trace_now(live: LiveSession, apart: _Apart) -> DatedStrip:
    state = live.state
    return DatedStrip(
        compaction_id=None,
        ordinal=None,
        trigger=None,
        at=None,
        last_seq=state.last_seq,
        strip=make_strip(
            live.layout,
            folded_later=(),
            fixed_seq=state.fixed_seq,
            safe_seq=state.safe_seq,
            last_seq=state.last_seq,
            refreshes=apart.refreshes,
            erased=apart.erased,
            noted=[(one.first_seq, one.last_seq) for one in list_noted(state.awaited, live.layout)],
        ),
    )
