"""Trace: what became of every message of a session at every compaction, with the texts that tell it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial

from everfold.core.compaction.folding import CompactionReport, Digest
from everfold.core.compaction.layout import EMPTY_LAYOUT, Layout, ShownRange
from everfold.core.compaction.planning import list_noted
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.strips import Strip, find_reach, make_strip
from everfold.core.log.messages import Message, Note
from everfold.core.primitives.ids import CompactionId
from everfold.ports.stores import Store
from everfold.services.sessions.list_compactions import iterate_compactions
from everfold.services.sessions.live import LiveSession

_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCompaction:
    """One compaction: the strip before it and after it, and the ranges that the window showed then."""

    compaction: Compaction
    report: CompactionReport
    before: Strip
    after: Strip
    ranges: tuple[ShownRange, ...]
    standing_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A whole session, from its messages to what is shown of them now.

    Attributes:
        messages: All that are not erased, by sequence number.
        digests: Every digest that any of the compactions made, by id.
        now: The log as the window shows it now; it has as many fates as the log has messages.
        now_ranges: What the window shows of the past now.
    """

    messages: dict[int, Message]
    compactions: tuple[TracedCompaction, ...]
    digests: dict[str, Digest]
    now: Strip
    now_ranges: tuple[ShownRange, ...]


async def trace_session(store: Store, live: LiveSession) -> Trace:
    """Trace a session. O(messages x compactions)."""
    await live.reload(store)
    state = live.state
    notes: list[Note] = []
    messages: dict[int, Message] = {}
    for first_seq in range(1, state.last_seq + 1, _PAGE):
        seqs = range(first_seq, min(first_seq + _PAGE, state.last_seq + 1))
        notes += await store.read_notes(live.record.id, seqs)
        messages.update({message.seq: message for message in await store.read_messages(live.record.id, seqs)})
    refreshes = [seq for seq, message in messages.items() if message.source == "refresh"]
    erased = [note.seq for note in notes if note.seq not in messages]
    strip = partial(make_strip, fixed_seq=state.fixed_seq, refreshes=refreshes, erased=erased)
    compactions = [traced async for traced in _trace_compactions(store, live, notes, strip)]
    ids = {shown.digest_id for traced in compactions for shown in traced.ranges if shown.digest_id}
    return Trace(
        messages=messages,
        compactions=tuple(compactions),
        digests=await store.read_digests(sorted(ids)),
        now=strip(
            live.layout,
            folded_later=(),
            safe_seq=state.safe_seq,
            last_seq=state.last_seq,
            noted=[(one.first_seq, one.last_seq) for one in list_noted(state.awaited, live.layout)],
        ),
        now_ranges=live.layout.ranges,
    )


async def _trace_compactions(
    store: Store, live: LiveSession, notes: list[Note], strip: Callable[..., Strip]
) -> AsyncIterator[TracedCompaction]:
    layout = EMPTY_LAYOUT
    async for compaction in iterate_compactions(store, live.record.id):
        if compaction.report is not None and compaction.certificate is not None:
            next_layout = await store.read_layout(CompactionId(compaction.id))
            yield _trace_compaction(compaction, layout, next_layout, notes, strip)
            layout = next_layout


def _trace_compaction(
    compaction: Compaction, before: Layout, after: Layout, notes: list[Note], strip: Callable[..., Strip]
) -> TracedCompaction:
    if compaction.report is None or compaction.certificate is None:
        raise ValueError(f"Compaction {compaction.id} has not been committed.")
    reach = find_reach(notes, before, tokens_before=compaction.report.tokens_before)
    last_seq = max(notes[reach - 1].seq if reach else 0, after.watermark)
    strip = partial(strip, safe_seq=last_seq, last_seq=last_seq)
    folded_later = [] if compaction.revises else [covered.seq for covered in compaction.certificate.folded_later]
    return TracedCompaction(
        compaction=compaction,
        report=compaction.report.counted,
        before=strip(before, folded_later=()),
        after=strip(after, folded_later=folded_later),
        ranges=after.ranges,
        standing_text=after.standing_text,
    )
