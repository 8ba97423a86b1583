"""The log as strips: what became of every message at every compaction.

One strip is the log as one compaction left it: a fate for each message that there was. Strips are derived from layouts
and certificates, which are what the window and `verify` go by, so a picture of them cannot say anything else.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from everfold.core.layout import Layout
from everfold.core.messages import Note
from everfold.core.planning import measure_body

Fate: TypeAlias = Literal[
    "fixed", "head", "kept", "running", "refresh", "fine", "coarse", "quote", "left", "replaced", "tail", "open"
]
"""What became of a message.

fixed: part of the system prompt. head, kept, running, tail: shown. fine, coarse: not shown, read by a digest of this kind that
is shown. quote: the same, and the standing block quotes it. left: it was kept before this compaction and is now in the
coarse digest. refresh: the newest context refresh, shown. replaced: a refresh whose place a newer one took; it needs no
words. open: belongs to an open step, which waits for its results.
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
    left: Collection[int],
    fixed_seq: int,
    safe_seq: int,
    last_seq: int,
    refreshes: Sequence[int] = (),
) -> Strip:
    """The strip of a log under a layout. O(messages).

    Args:
        layout: What is shown of the past.
        left: Messages that left the window by the compaction that made the layout.
        fixed_seq: The last of the leading system messages.
        safe_seq: The newest message that is shown.
        last_seq: The newest message.
        refreshes: Every context refresh of the log, rising.
    """
    held: dict[int, Fate] = {message.seq: _hold_fate(message.hold) for message in layout.held}
    quoted = {line.seq for line in layout.standing}
    leaving = set(left)
    coarse_last_seq = layout.coarse.last_seq if layout.coarse else 0
    known = [seq for seq in refreshes if seq <= last_seq]
    replaced, newest = set(known[:-1]), known[-1:]

    def fate_of(seq: int) -> Fate:
        if seq <= fixed_seq:
            return "fixed"
        if seq in newest:
            return "refresh"
        if seq in replaced:
            return "replaced"
        if seq > layout.watermark:
            return "tail" if seq <= safe_seq else "open"
        if seq in held:
            return held[seq]
        if seq in quoted:
            return "quote"
        if seq in leaving:
            return "left"
        return "coarse" if seq <= coarse_last_seq else "fine"

    return Strip(runs=_join_runs([fate_of(seq) for seq in range(1, last_seq + 1)]))


def _hold_fate(hold: str) -> Fate:
    return "head" if hold == "head" else "running" if hold == "running" else "kept"


def _join_runs(fates: Sequence[Fate]) -> tuple[tuple[Fate, int], ...]:
    runs: list[tuple[Fate, int]] = []
    for fate in fates:
        if runs and runs[-1][0] == fate:
            runs[-1] = (fate, runs[-1][1] + 1)
        else:
            runs.append((fate, 1))
    return tuple(runs)


def find_reach(notes: Sequence[Note], layout_before: Layout, *, tokens_before: int) -> int:
    """The newest message that was shown when a compaction was planned, by the tokens that the window had then.

    Args:
        notes: All messages of the log, from 1 on.
        layout_before: The layout that was in force.
        tokens_before: What the report of the compaction says that the window had.
    """
    sum_tokens = tokens_before - measure_body(layout_before) + layout_before.sum_tokens
    return bisect_right(notes, sum_tokens, key=lambda note: note.sum_tokens)
