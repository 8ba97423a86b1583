"""What one handle remembers of its session between two calls, so that a turn reads only what is new.

Everything here can be read again from the store at any time, and is whenever the session's revision has moved on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everfold.core.appending import AppendPlan
from everfold.core.calibration import Calibration
from everfold.core.events import CompactionEvent
from everfold.core.folding import Digest
from everfold.core.items import Item, ItemId
from everfold.core.layout import EMPTY_LAYOUT, Layout
from everfold.core.memory import RecallShown
from everfold.core.messages import Message, make_tombstone
from everfold.core.planning import project_layout
from everfold.core.room import Room, share_room
from everfold.core.sessions import EventId, SessionId, SessionRecord, SessionSettings
from everfold.core.state import SessionState
from everfold.core.window import Body, Tail, build_body, build_tail, shown_seqs
from everfold.errors import CorruptStoreError
from everfold.ports.stores import Store

MOST_MESSAGES = 4096
"""How many messages a handle remembers at most while it only appends."""

SPARE_MESSAGES = 64
"""How many messages that are no longer shown may stay in memory before they are let go."""


MOST_LEFT = 256
"""Of how many sessions without a turn since then it is kept what was left of them."""


@dataclass(slots=True, kw_only=True)
class LiveSession:
    """A session's record, state and layout, with the messages and digests that its window shows."""

    record: SessionRecord
    state: SessionState
    layout: Layout = EMPTY_LAYOUT
    messages: dict[int, Message] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    held: dict[str, CompactionEvent] = field(default_factory=dict)
    changed: tuple[tuple[int, str, int], int, dict[ItemId, Item]] | None = None
    recollected: tuple[tuple[SessionId, int, int, str], str, RecallShown] | None = None
    _body: Body | None = None
    _tail: tuple[Layout, int, Tail] | None = None
    _shown: tuple[Layout, int, int, int] | None = None
    _room: tuple[tuple[int | None, SessionSettings, int, Calibration], Room] | None = None

    @property
    def settings(self) -> SessionSettings:
        """What the session holds from its opening."""
        return self.record.settings

    def room(self, limit_tokens: int | None = None) -> Room:
        """The shares of the session's limit, or of one lowered for a call."""
        settings, state = self.record.settings, self.state
        if self._room is not None:
            (limit, of_settings, fixed_tokens, calibration), room = self._room
            is_same = settings is of_settings and state.calibration is calibration
            if is_same and limit == limit_tokens and fixed_tokens == state.fixed_tokens:
                return room
        room = share_room(
            settings.limit_tokens if limit_tokens is None else limit_tokens,
            settings.policy,
            prompt_tokens=settings.prompt_tokens + state.fixed_tokens,
            calibration=state.calibration,
        )
        self._room = ((limit_tokens, settings, state.fixed_tokens, state.calibration), room)
        return room

    async def reload(self, store: Store) -> None:
        """Take the state as it is now, with what another writer may have changed beside it.

        After an erase nothing that was read before is used again: layouts and digests were replaced.
        """
        state = await store.read_state(self.record.id)
        if state.revision == self.state.revision > 0:
            return  # but for breaks that this handle has reported and that are not stored as reported yet
        record, layout = await store.get_session(self.record.id), self.layout
        if self._is_folded_anew(state):
            layout = await store.read_layout(EventId(state.event_id)) if state.event_id else EMPTY_LAYOUT
        self._move(record, state, layout)

    def adopt(self, left: "Left") -> None:
        """Take what a writer of this process has left, where it is newer than what is known here; reads nothing.

        What was left was so at its revision. Who has written since then is found out as always: an append fails on the
        revision that it expects, and a window compares it first.
        """
        if left.state.revision <= self.state.revision:
            return
        self._move(left.record, left.state, left.layout if self._is_folded_anew(left.state) else self.layout)
        self.messages.update((message.seq, message) for message in left.appended)
        self.digests.update(left.digests)
        self.held.update(left.held)

    def leave(self, appended: Sequence[Message] = (), digests: Mapping[str, Digest] | None = None) -> "Left":
        """What others of this process may adopt once this has written to the session.

        Args:
            appended: The messages that it has written.
            digests: What another writer has left of the same epoch.
        """
        shown = {one.digest_id for one in self.layout.ranges}
        known = {**(digests or {}), **self.digests}
        return Left(
            record=self.record,
            state=self.state,
            layout=self.layout,
            appended=tuple(appended),
            digests={id_: digest for id_, digest in known.items() if id_ in shown},
            held={id_: self.held[id_] for id_ in self.state.held_events if id_ in self.held},
        )

    def _is_folded_anew(self, state: SessionState) -> bool:
        """Whether a newer state shows another layout than the known one."""
        return (state.event_id, state.epoch) != (self.state.event_id, self.state.epoch)

    def _move(self, record: SessionRecord, state: SessionState, layout: Layout) -> None:
        """Go on from a newer state, with what still holds of what is known."""
        # what was an open step may have been settled since
        self.messages = {seq: message for seq, message in self.messages.items() if seq <= self.state.safe_seq}
        if state.epoch != self.state.epoch:
            self.messages, self.digests, self._body = {}, {}, None
        self.record, self.layout, self.state = record, layout, state

    async def load_messages(self, store: Store, seqs: Sequence[int]) -> dict[int, Message]:
        """The messages with these numbers (rising), tombstones for erased ones; only what is not remembered is read."""
        missing = [seq for seq in seqs if seq not in self.messages]
        if missing:
            for message in await store.read_messages(self.record.id, missing):
                self.messages[message.seq] = message
        erased = [seq for seq in missing if seq not in self.messages]
        if erased:
            for note in await store.read_notes(self.record.id, erased):
                self.messages[note.seq] = make_tombstone(note)
        return self.messages

    async def load_shown(self, store: Store) -> dict[int, Message]:
        """The messages that the window shows, and maybe others. O(what is new) since a window under the same layout."""
        state, layout = self.state, self.layout
        seqs: Sequence[int]
        if self._shown is not None and self._shown[0] is layout and self._shown[1:3] == (state.epoch, state.fixed_seq):
            seqs = range(self._shown[3] + 1, state.safe_seq + 1)
        else:
            seqs = shown_seqs(state, layout)
        messages = await self.load_messages(store, seqs)
        self._shown = (layout, state.epoch, state.fixed_seq, state.safe_seq)
        return messages

    async def load_body(self, store: Store, *, snapshot: str = "") -> Body:
        """What the layout shows of the past; built once for each layout, from messages that are loaded already."""
        body, state = self._body, self.state
        wanted = (state.awaited, snapshot, state.refresh_seq)
        if body is None or body.layout is not self.layout or wanted != (body.awaited, body.snapshot, body.refresh_seq):
            digest_ids = [shown.digest_id for shown in self.layout.ranges if shown.digest_id]
            digests = await self.load_digests(store, digest_ids)
            texts = {digest_id: digests[digest_id].text for digest_id in digest_ids}
            self._body = body = build_body(
                self.layout, self.messages, texts, state.awaited, snapshot=snapshot, refresh_seq=state.refresh_seq
            )
        return body

    async def load_held(self, store: Store) -> list[CompactionEvent]:
        """The held events, in the order in which they will be committed; only those not remembered are read."""
        ids = self.state.held_events
        for id_ in ids:
            if id_ not in self.held:
                self.held[id_] = await store.get_event(EventId(id_))
        if len(self.held) > len(ids):
            self.held = {id_: self.held[id_] for id_ in ids}
        return [self.held[id_] for id_ in ids]

    async def project(self, store: Store) -> Layout:
        """The layout as it will be at most once every held event is committed; the one in force where none is held."""
        layout = self.layout
        for event in await self.load_held(store) if self.state.held_events else ():
            layout = project_layout(event.plan, layout)
        return layout

    def show_tail(self) -> Tail:
        """What the window shows after its body, from messages that are loaded already; what was shown stays."""
        before = None
        if self._tail is not None and self._tail[0] is self.layout and self._tail[1] == self.state.epoch:
            before = self._tail[2]
        tail = build_tail(self.state, self.layout, self.messages, before=before)
        self._tail = (self.layout, self.state.epoch, tail)
        return tail

    async def load_digests(self, store: Store, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """The digests with these ids; only those that are not remembered are read.

        Raises:
            CorruptStoreError: one is missing.
        """
        missing = [digest_id for digest_id in digest_ids if digest_id not in self.digests]
        if missing:
            found = await store.read_digests(missing)
            if absent := [digest_id for digest_id in missing if digest_id not in found]:
                raise CorruptStoreError(
                    f"session {self.record.id}: the digest {absent[0]!r}, which is shown, is missing; the store is damaged: "
                    "restore it from a backup",
                    session=self.record.id,
                )
            self.digests.update(found)
        return self.digests

    def take(self, plan: AppendPlan) -> None:
        """Remember what an append has written."""
        self.state = plan.state
        for appended in plan.appended:
            self.messages[appended.message.seq] = appended.message
        for message, _ in plan.settled:
            self.messages[message.seq] = message
        if len(self.messages) > MOST_MESSAGES:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Keep the newest half: an import appends without ever showing what it appended."""
        kept_from = min(sorted(self.messages)[-MOST_MESSAGES // 2], self.state.safe_seq)
        self.messages = {seq: message for seq, message in self.messages.items() if seq >= kept_from}
        self._shown = None

    def let_go(self) -> None:
        """Forget what the window does not show, once that is much."""
        state, layout = self.state, self.layout
        shown_count = state.last_seq - max(layout.watermark, state.fixed_seq) + state.fixed_seq + len(layout.held)
        if len(self.messages) <= shown_count + SPARE_MESSAGES:
            return
        shown = set(shown_seqs(state, layout))
        self.messages = {seq: message for seq, message in self.messages.items() if seq in shown or seq > state.safe_seq}
        ids = {shown_range.digest_id for shown_range in layout.ranges}
        self.digests = {id_: digest for id_, digest in self.digests.items() if id_ in ids}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A session at one revision, as who wrote it knew it; true of that revision for ever."""

    record: SessionRecord
    state: SessionState
    layout: Layout
    appended: tuple[Message, ...]
    digests: Mapping[str, Digest]
    held: Mapping[str, CompactionEvent]


@dataclass(slots=True)
class Handover:
    """What was left of sessions by what works beside the turns, for the turns of the same process.

    A turn that adopts it neither plans its append in vain nor reads what this process has just written.
    """

    _left: dict[SessionId, Left] = field(default_factory=dict, init=False)

    def leave(self, live: LiveSession, appended: Sequence[Message] = ()) -> None:
        """Leave what a writer knows of its session, once it has written and before it knows more."""
        before, digests = self._left.get(live.record.id), None
        if before is not None and before.state.epoch == live.state.epoch:
            appended = appended or before.appended  # of refreshes only the newest is shown
            digests = before.digests  # a refresh beside a fold has not read what the fold wrote
        elif len(self._left) >= MOST_LEFT:
            self._left.clear()
        self._left[live.record.id] = live.leave(appended, digests)

    def pick_up(self, live: LiveSession) -> None:
        """Let a handle adopt what was left of its session, which is then given to nobody else."""
        if (left := self._left.pop(live.record.id, None)) is not None:
            live.adopt(left)


async def load_session(store: Store, record: SessionRecord) -> LiveSession:
    """A session as it is now."""
    live = LiveSession(record=record, state=SessionState())
    await live.reload(store)
    return live
