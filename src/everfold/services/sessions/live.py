"""What one handle remembers of its session between two calls, so that a turn reads only what is new.

Everything here can be read again from the store at any time, and is whenever the session's revision has moved on.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from everfold.core.compaction.folding import Digest
from everfold.core.compaction.layout import EMPTY_LAYOUT, Layout
from everfold.core.compaction.planning import project_layout
from everfold.core.compaction.record import Compaction
from everfold.core.log.appending import AppendPlan
from everfold.core.log.budget import UsableBudget, share_budget
from everfold.core.log.messages import Message, make_tombstone
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.memory.records import TurnRecall
from everfold.core.observation.activity import SentWindow
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.core.windows.window import Body, Tail
from everfold.errors import ConflictError, CorruptStoreError
from everfold.ports.stores import Store
from everfold.services.sessions.remembered import ChangedItems, KnownRoom, LoadedUpTo, ShownTail, TurnNote
from everfold.services.telling.tries import Tries

MOST_MESSAGES = 4096
"""How many messages a handle remembers at most while it only appends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a session comes to be stored that nothing was appended to yet.

    Attributes:
        ensure_user_id: Stores its user where they are unknown, and gives their id.
        new_id: Makes another id, where the first one is taken.
        switching: Held while it becomes the current one.
        tell: Tells of it once it is stored.
    """

    ensure_user_id: Callable[[], Awaitable[UserId]]
    new_id: Callable[[], SessionId]
    switching: Callable[[], AbstractAsyncContextManager[None]]
    tell: Callable[[SessionRecord], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class LiveSession:
    """What a handle knows of its session.

    Attributes:
        record: As it was read last.
        state: As it was read or written last; its revision tells whether the rest still holds.
        layout: The one that the state names.
        messages: Those that were read or appended, for the next window and for the open step.
        digests: Those that were read, for the next window.
        held: The compactions whose digests are not shown yet, for planning as if they were.
        loaded: Which messages need not be looked for again.
        body: What the last window showed of the past. It stays the same from one compaction to the next.
        tail: What the last window showed after it, which the next one goes on from.
        known_room: The shares of the limit that was used last; every decision of a turn needs them.
        changed: What memory has gained since the snapshot, so that a turn reads only what is new.
        recalled: What memory shows in this turn, so that every step of the turn shows the same.
        stored_recall: What of it is stored, for other handles.
        noted: The continuity note of this turn, for the same reason.
        opening: How it is stored with its first append; None once it is.
        sent: The last window that was given for a request.
    """

    record: SessionRecord
    state: SessionState
    layout: Layout = EMPTY_LAYOUT
    messages: dict[int, Message] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    held: dict[str, Compaction] = field(default_factory=dict)
    loaded: LoadedUpTo | None = None
    body: Body | None = None
    tail: ShownTail | None = None
    known_room: KnownRoom | None = None
    changed: ChangedItems | None = None
    recalled: TurnRecall | None = None
    stored_recall: TurnRecall | None = None
    noted: TurnNote | None = None
    opening: Opening | None = None
    sent: SentWindow | None = None

    @property
    def settings(self) -> SessionSettings:
        """What the session holds from its opening."""
        return self.record.settings

    def budget(self, limit_tokens: int | None = None) -> UsableBudget:
        """The shares of the session's limit, or of one lowered for a call."""
        settings, state = self.record.settings, self.state
        known = self.known_room
        if (
            known is not None
            and known.settings is settings
            and known.calibration is state.calibration
            and (known.limit_tokens, known.fixed_tokens) == (limit_tokens, state.fixed_tokens)
        ):
            return known.budget
        budget = share_budget(
            settings.limit_tokens if limit_tokens is None else limit_tokens,
            settings.policy,
            prompt_tokens=settings.prompt_tokens + state.fixed_tokens,
            calibration=state.calibration,
        )
        self.known_room = KnownRoom(limit_tokens, settings, state.fixed_tokens, state.calibration, budget)
        return budget

    async def reload(self, store: Store) -> None:
        """Take the state as it is now, with what another writer may have changed beside it.

        After an erase nothing that was read before is used again: layouts and digests were replaced. A session that is
        not stored yet becomes the one that another handle has stored in its place.

        State, record and layout are three reads, with the state first, so the other two are as new or newer. They need no
        common snapshot: a layout stays as its compaction committed it until an erase, and an erase, like every change of the
        settings, raises the revision with it. So a write that was planned on a mixture is refused, and the next reload reads
        record and layout again.
        """
        if self.opening is not None and not await self._find_stored(store):
            return
        known = self.state if self.state.revision else None  # nothing was read before the first revision
        state = await store.read_state(self.record.id, known=known)
        if state is known:
            return
        record, layout = await store.get_session(self.record.id), self.layout
        if self.is_folded_anew(state):
            layout = await store.read_layout(CompactionId(state.compaction_id)) if state.compaction_id else EMPTY_LAYOUT
        self.move_to(record, state, layout)

    async def _find_stored(self, store: Store) -> bool:
        record = self.record
        found = await store.find_current_session(record.user_id, record.agent_id, record.session_key)
        if found is not None:
            self.record, self.state, self.opening, self.known_room = found, SessionState(), None, None
        return found is not None

    async def is_stored(self, store: Store) -> bool:
        """Whether anything was appended to it, or it was created, by whichever handle."""
        if self.opening is not None:
            await self.reload(store)
        return self.opening is None

    async def ensure_stored(self, store: Store) -> bool:
        """Store the session where no handle has; returns whether this one did. Errors as `create`."""
        return not await self.is_stored(store) and await self.create(store)

    async def create(self, store: Store) -> bool:
        """Store a session that is not stored yet, or become the one in its place; whether this handle stored it.

        Raises:
            ConflictError: others were first at every try, and none of them has stored one in its place.
        """
        owner, agent = self.record.user_id, self.record.agent_id
        tries = Tries(f"the current session of user {owner} and agent {agent!r}", user=owner, agent=agent)
        while self.opening is not None:
            await tries.begin()
            try:
                await self.begin(store)
            except ConflictError:
                await self.reload(store)
            else:
                return True
        return False

    async def begin(self, store: Store, first: AppendPlan | None = None) -> None:
        """Store a session that is not stored yet, with its first messages.

        Raises:
            ConflictError: another handle has stored one in its place, or its id is taken; it has another one now.
        """
        opening = self.opening
        if opening is None:
            return
        async with opening.switching():
            self.record = replace(self.record, user_id=await opening.ensure_user_id())
            try:
                await store.create_session(self.record, self.state, first=first)
            except ConflictError:
                session_id = opening.new_id()
                self.record = replace(self.record, id=session_id, lineage=(Segment(session_id=session_id),))
                raise
            self.opening = None
            await opening.tell(self.record)

    @property
    def shown_tail(self) -> Tail | None:
        """The tail of the last window, where the next one goes on from it."""
        shown = self.tail
        return (
            shown.tail
            if shown is not None and (shown.layout is self.layout and shown.epoch == self.state.epoch)
            else None
        )

    def remember_shown(self, body: Body, tail: Tail) -> None:
        """Remember what a window has shown, for the next one."""
        self.body, self.tail = body, ShownTail(self.layout, self.state.epoch, tail)

    def is_folded_anew(self, state: SessionState) -> bool:
        """Whether a newer state shows another layout than the known one."""
        return (state.compaction_id, state.epoch) != (self.state.compaction_id, self.state.epoch)

    def move_to(self, record: SessionRecord, state: SessionState, layout: Layout) -> None:
        """Go on from a newer state, with what still holds of what is known."""
        # what was an open step may have been settled since
        self.messages = {seq: message for seq, message in self.messages.items() if seq <= self.state.safe_seq}
        if state.epoch != self.state.epoch:
            self.messages, self.digests, self.body = {}, {}, None
        self.record, self.layout, self.state = record, layout, state

    async def load_messages(self, store: Store, seqs: Sequence[int]) -> dict[int, Message]:
        """The messages with these numbers (rising), tombstones for erased ones; only what is not remembered is read.

        Raises:
            CorruptStoreError: one is missing.
        """
        missing = [seq for seq in seqs if seq not in self.messages]
        if missing:
            for message in await store.read_messages(self.record.id, missing):
                self.messages[message.seq] = message
        erased = [seq for seq in missing if seq not in self.messages]
        if erased:
            for note in await store.read_notes(self.record.id, erased):
                self.messages[note.seq] = make_tombstone(note)
            if absent := [seq for seq in erased if seq not in self.messages]:
                raise CorruptStoreError(
                    f"session {self.record.id}: message {absent[0]}, which is shown, is missing; the store is damaged: "
                    "restore it from a backup",
                    session=self.record.id,
                    seq=absent[0],
                )
        return self.messages

    async def load_held(self, store: Store) -> list[Compaction]:
        """The pending compactions, in the order in which they will be committed; only those not remembered are read."""
        ids = self.state.pending_compactions
        for id_ in ids:
            if id_ not in self.held:
                self.held[id_] = await store.get_compaction(CompactionId(id_))
        if len(self.held) > len(ids):
            self.held = {id_: self.held[id_] for id_ in ids}
        return [self.held[id_] for id_ in ids]

    async def project(self, store: Store) -> Layout:
        """The layout as it will be at most once every pending compaction is committed; the one in force where none is held."""
        layout = self.layout
        for compaction in await self.load_held(store) if self.state.pending_compactions else ():
            layout = project_layout(compaction.plan, layout)
        return layout

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
        return {digest_id: self.digests[digest_id] for digest_id in digest_ids}

    def take(self, plan: AppendPlan) -> None:
        """Remember what an append has written."""
        self.state = plan.state
        self.stored_recall = plan.recall or self.stored_recall
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
        self.loaded = None


async def load_session(store: Store, record: SessionRecord) -> LiveSession:
    """A session as it is now."""
    live = LiveSession(record=record, state=SessionState())
    await live.reload(store)
    return live


async def copy_session(store: Store, live: LiveSession) -> LiveSession:
    """A copy of a session as it is now, which a preview may change; it shares what was read."""
    await live.reload(store)
    if live.opening is not None:
        return LiveSession(record=live.record, state=live.state, opening=live.opening)
    copy = await load_session(store, live.record)
    copy.messages, copy.digests = dict(live.messages), dict(live.digests)
    copy.noted, copy.recalled, copy.stored_recall = live.noted, live.recalled, live.stored_recall
    return copy
