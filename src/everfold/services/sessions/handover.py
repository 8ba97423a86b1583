"""Handover: what works beside the turns leaves what it wrote of a session to the turns of the same process.

A turn that adopts it neither plans its append in vain nor reads what this process has just written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from everfold.core.compaction.folding import Digest
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.record import Compaction
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import SessionId
from everfold.services.sessions.live import LiveSession

MOST_LEFT = 256
"""Of how many sessions without a turn since then it is kept what was left of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A session at one revision, as who wrote it knew it; true of that revision for ever."""

    record: SessionRecord
    state: SessionState
    layout: Layout
    appended: tuple[Message, ...]
    digests: Mapping[str, Digest]
    held: Mapping[str, Compaction]


@dataclass(slots=True)
class Handover:
    """What was left of sessions, each for the next turn of its session."""

    _left: dict[SessionId, Left] = field(default_factory=dict, init=False)
    _states: dict[SessionId, SessionState] = field(default_factory=dict, init=False)
    _unreported: dict[SessionId, SessionState] = field(default_factory=dict, init=False)

    def leave(self, live: LiveSession, appended: Sequence[Message] = ()) -> None:
        """Leave what a writer knows of its session, once it has written and before it knows more.

        Args:
            live: The session as the writer knows it.
            appended: The messages that it has written.
        """
        before, left = self._left.get(live.record.id), _leave(live, appended)
        if before is not None:
            older, newer = sorted((before, left), key=lambda one: one.state.revision)
            left = _join(older, newer) if older.state.epoch == newer.state.epoch else newer
        elif len(self._left) >= MOST_LEFT:
            self._left.clear()
        self._left[live.record.id] = left

    def leave_state(self, session_id: SessionId, state: SessionState) -> None:
        """Leave a state in which cache breaks were settled, and nothing else differs from the one before it."""
        if len(self._states) >= MOST_LEFT:
            self._states.clear()
        self._states[session_id] = state

    def pick_up(self, live: LiveSession) -> None:
        """Let a handle adopt what was left of its session, which is then given to no other one."""
        if (left := self._left.pop(live.record.id, None)) is not None:
            _adopt(live, left)
        state = self._states.pop(live.record.id, None)
        if state is not None and state.revision == live.state.revision + 1:
            live.state = state

    def leave_unreported(self, session_id: SessionId, state: SessionState) -> None:
        """Leave a state whose cache breaks were stored as reported by a window that was not given."""
        if len(self._unreported) >= MOST_LEFT:
            self._unreported.clear()
        self._unreported[session_id] = SessionState(  # without the words that a state holds
            reported_count=state.reported_count, cache_breaks=state.cache_breaks
        )

    def add_unreported(self, live: LiveSession) -> None:
        """Let a window report what was left of others that were not given; it stays left until one is."""
        if (state := self._unreported.get(live.record.id)) is not None:
            live.state = live.state.with_unreported(state)

    def drop_unreported(self, session_id: SessionId) -> None:
        """Leave nothing to report: a window that reports it is given."""
        self._unreported.pop(session_id, None)


def _leave(live: LiveSession, appended: Sequence[Message]) -> Left:
    return Left(
        record=live.record,
        state=live.state,
        layout=live.layout,
        appended=tuple(appended),
        digests=_list_shown(live.digests, live.layout),
        held={id_: live.held[id_] for id_ in live.state.pending_compactions if id_ in live.held},
    )


def _join(older: Left, newer: Left) -> Left:
    """What was left twice, as it is now: two writers may leave it in another order than they have written."""
    return replace(
        newer,
        appended=newer.appended or older.appended,  # of refreshes only the newest is shown
        # A refresh beside a fold has not read what the fold wrote.
        digests=_list_shown({**older.digests, **newer.digests}, newer.layout),
    )


def _list_shown(digests: Mapping[str, Digest], layout: Layout) -> dict[str, Digest]:
    shown = {one.digest_id for one in layout.ranges}
    return {id_: digest for id_, digest in digests.items() if id_ in shown}


def _adopt(live: LiveSession, left: Left) -> None:
    """Take what was left where it is newer than what is known; reads nothing.

    What was left was so at its revision. Who has written since then is found out as always: an append fails on the
    revision that it expects, and a window compares it first.
    """
    if left.state.revision <= live.state.revision:
        return
    live.move_to(left.record, left.state, left.layout if live.is_folded_anew(left.state) else live.layout)
    live.messages.update((message.seq, message) for message in left.appended)
    live.digests.update(left.digests)
    live.held.update(left.held)
