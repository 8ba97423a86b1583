"""The log as strips: what became of every message at every compaction.

One strip is the log after one compaction: a fate for each message of that time. Strips are derived from layouts and
certificates, which the window and `verify` use too, so all three agree.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everfold.core.compaction.layout import Layout
from everfold.core.compaction.planning import measure_body
from everfold.core.log.messages import Note

Fate: TypeAlias = Literal[
    "fixed",
    "head",
    "kept",
    "running",
    "refresh",
    "note",
    "digest",
    "rollup",
    "quote",
    "folded_later",
    "replaced",
    "tail",
    "open",
    "erased",
]
"""What became of a message.

fixed: part of the system prompt. head, kept, running, tail: shown. digest, rollup: not shown, read by a digest or
rollup that is shown. note: as digest, under a continuity note while a model's digest is written. quote: as rollup,
and quoted by the standing instructions. folded_later: kept before this compaction and folded by it. refresh: the newest
context refresh, shown. replaced: an older refresh. open: part of an open step, which waits for its results. erased:
only a tombstone is left.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The fates of all messages, run by run: `(fate, count)` from message 1 on. Runs are as long as they can be."""

    runs: tuple[tuple[Fate, int], ...]

    @property
    def fates(self) -> list[Fate]:
        """The fate of each message; entry 0 is message 1."""
        return [fate for fate, count in self.runs for _ in range(count)]


def make_strip(
    layout: Layout,
    *,
    folded_later: Collection[int],
    fixed_seq: int,
    safe_seq: int,
    last_seq: int,
    refreshes: Sequence[int] = (),
    erased: Collection[int] = (),
    noted: Sequence[tuple[int, int]] = (),
) -> Strip:
    """The strip of a log under a layout. O(what is shown, quoted, refreshed and erased), however long the log is.

    Args:
        layout: What is shown of the past.
        folded_later: Kept messages that the compaction which made the layout folds.
        fixed_seq: The last of the leading system messages.
        safe_seq: The newest message that is shown.
        last_seq: The newest message.
        refreshes: Every context refresh of the log, rising.
        erased: Every erased message of the log.
        noted: First and last message of each range that stands under a continuity note, rising.
    """
    marked = _mark_apart(layout, folded_later, refreshes, erased, fixed_seq=fixed_seq, last_seq=last_seq)
    rollup_last_seq = layout.rollup.last_seq if layout.rollup else 0
    digests: list[tuple[int, Fate]] = []
    for first, last in noted:
        digests += [(first - 1, "digest"), (last, "note")]
    stretches: Sequence[tuple[int, Fate]] = (
        (fixed_seq, "fixed"),
        (rollup_last_seq, "rollup"),
        *digests,
        (layout.watermark, "digest"),
        (safe_seq, "tail"),
        (last_seq, "open"),
    )
    runs: list[tuple[Fate, int]] = []
    at = 0
    for end_seq, fate in stretches:
        end = min(end_seq, last_seq)
        while marked and marked[-1][0] <= end:
            seq, own = marked.pop()
            _add_run(runs, fate, seq - 1 - at)
            _add_run(runs, own, 1)
            at = seq
        _add_run(runs, fate, end - at)
        at = max(at, end)
    return Strip(runs=tuple(runs))


def _mark_apart(
    layout: Layout,
    folded_later: Collection[int],
    refreshes: Sequence[int],
    erased: Collection[int],
    *,
    fixed_seq: int,
    last_seq: int,
) -> list[tuple[int, Fate]]:
    """The messages whose fate is not that of their stretch, the last one first."""
    marked: dict[int, Fate] = dict.fromkeys(folded_later, "folded_later")
    marked |= {line.seq: "quote" for line in layout.standing}
    marked |= {message.seq: _hold_fate(message.hold) for message in layout.held}
    marked = {seq: fate for seq, fate in marked.items() if seq <= layout.watermark}
    known = [seq for seq in refreshes if seq <= last_seq]
    marked |= dict.fromkeys(known[:-1], "replaced")
    marked |= dict.fromkeys(known[-1:], "refresh")
    marked = {seq: fate for seq, fate in marked.items() if seq > fixed_seq} | dict.fromkeys(erased, "erased")
    return sorted(((seq, fate) for seq, fate in marked.items() if seq <= last_seq), reverse=True)


def _hold_fate(hold: str) -> Fate:
    return "head" if hold == "head" else "running" if hold == "running" else "kept"


def _add_run(runs: list[tuple[Fate, int]], fate: Fate, count: int) -> None:
    if count <= 0:
        return
    if runs and runs[-1][0] == fate:
        count += runs.pop()[1]
    runs.append((fate, count))


def find_reach(notes: Sequence[Note], layout_before: Layout, *, tokens_before: int) -> int:
    """The newest message that was shown when a compaction was planned, by the tokens that the window had then.

    Args:
        notes: All messages of the log, from 1 on.
        layout_before: The layout that was in force.
        tokens_before: What the report of the compaction says that the window had.
    """
    return bisect_right(notes, measure_reach(layout_before, tokens_before), key=lambda note: note.sum_tokens)


def measure_reach(layout_before: Layout, tokens_before: int) -> int:
    """The prefix sum of visible tokens up to which a window of so many tokens shows the log under a layout."""
    return tokens_before - measure_body(layout_before) + layout_before.sum_tokens
