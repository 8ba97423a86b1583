"""Remembered: what a handle remembers of its last window and turn, each with what it holds for."""

from dataclasses import dataclass, field
from typing import NamedTuple

from everfold.core.compaction.layout import Layout
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.memory.items import Item, ItemId
from everfold.core.windows.window import Tail


class LoadedUpTo(NamedTuple):
    """Up to which message all that a window shows is remembered, under one layout and fixed part of one epoch."""

    layout: Layout
    epoch: int
    fixed_seq: int
    last_seq: int

    def holds(self, state: SessionState, layout: Layout) -> bool:
        """Whether it is still so: what the window shows has only grown since."""
        return self.layout is layout and (self.epoch, self.fixed_seq) == (state.epoch, state.fixed_seq)


class ShownTail(NamedTuple):
    """The tail of the last window, and what it was built under."""

    layout: Layout
    epoch: int
    tail: Tail


class KnownRoom(NamedTuple):
    """The shares of a limit, and what they were reckoned from."""

    limit_tokens: int | None
    settings: SessionSettings
    fixed_tokens: int
    calibration: Calibration
    budget: UsableBudget


class SnapshotMoment(NamedTuple):
    """Which snapshot of memory a session shows, in which epoch of the memory."""

    revision: int
    compaction_id: str
    epoch: int


@dataclass(slots=True)
class ChangedItems:
    """The items that changed since a snapshot, as of the memory's revision `looked_at`.

    `former` has the revisions that the snapshot shows of those that were edited since.
    """

    since: SnapshotMoment
    looked_at: int
    items: dict[ItemId, Item] = field(default_factory=dict)
    former: dict[ItemId, Item] = field(default_factory=dict)


class NotedMoment(NamedTuple):
    """One turn of a session under one layout."""

    turn_seq: int
    compaction_id: str


class TurnNote(NamedTuple):
    """The continuity note of every window of a turn; empty for none."""

    moment: NotedMoment
    text: str
