"""Open: find, start, branch and rewind sessions."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from everfold.core.compaction.layout import EMPTY_LAYOUT
from everfold.core.compaction.occasions import count_exchanges
from everfold.core.log.appending import said_text
from everfold.core.log.messages import Note
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings, StartedBy, branch_lineage
from everfold.core.log.state import REMEMBERED_CALLS, WHOLE_WINDOW, KnownRefresh, SessionState, know_refreshes
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.text.searching import BEFORE_COUNT
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.sessions.configure import require_room
from everfold.services.sessions.go_back import go_back
from everfold.services.sessions.list_compactions import iterate_compactions
from everfold.services.sessions.live import LiveSession, Opening, load_session
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_session
from everfold.services.telling.tries import Tries

ChangeSettings = Callable[[SessionSettings], SessionSettings]
"""What a session is to hold, by what it holds; called once more each time that another writer was first."""

BranchedBy = Literal["branch", "rewind"]

_LOOK_BACK = 40
"""How many messages before a branch point are read, at first, for its last block and for what was said last."""

_PAGE = 200

_CALLS_REACH = 2000
"""How far before a branch point calls are looked for whose results may still come late."""


@dataclass(slots=True)
class Defaults:
    """What new sessions of each agent hold; `Admin.take_policies` replaces it."""

    settings_of: Callable[[AgentId], SessionSettings]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens sessions of one store, and changes what they hold."""

    store: Store
    clock: Clock
    ids: Ids
    stream: Stream

    def new_id(self) -> SessionId:
        """An id for a session."""
        return SessionId(self.ids.new_id("ses_"))

    def prepare(
        self, user_id: UserId, agent_id: AgentId, session_key: str, settings: SessionSettings, opening: Opening
    ) -> LiveSession:
        """A new, empty session that is stored, and becomes the current one, with its first append."""
        record = self._new_record(user_id, agent_id, session_key, settings, started_by="open")
        return LiveSession(record=record, state=SessionState(), opening=opening)

    async def find_current(self, user_id: UserId, agent_id: AgentId, session_key: str) -> LiveSession | None:
        """The current session of a user and an agent under a session key, or None."""
        record = await self.store.find_current_session(user_id, agent_id, session_key)
        return None if record is None else await load_session(self.store, record)

    async def follow(self, live: LiveSession, started_by: StartedBy) -> LiveSession:
        """A new, empty session of the same user, agent and session key that becomes the current one; a reset forgets the calibration."""
        await live.reload(self.store)
        record = live.record
        state = replace(SessionState().with_cache_break("session", WHOLE_WINDOW), answered=live.state.answered)
        if started_by != "reset":
            state = replace(state, calibration=live.state.calibration)
        return await self._start(
            record.user_id,
            record.agent_id,
            record.session_key,
            record.settings,
            started_by=started_by,
            parent_id=record.id,
            state=state,
        )

    async def add(
        self,
        user_id: UserId,
        agent_id: AgentId,
        session_key: str,
        settings: SessionSettings,
        *,
        is_hidden: bool = False,
        title: str = "",
    ) -> LiveSession:
        """A new, empty session beside the current one; where there is none it becomes it, unless it is to be hidden."""
        tries = Tries(f"the current session of user {user_id} and agent {agent_id!r}", user=user_id, agent=agent_id)
        while True:
            await tries.begin()
            current = await self.store.find_current_session(user_id, agent_id, session_key)
            is_current = current is None and not is_hidden
            try:
                return await self._start(
                    user_id, agent_id, session_key, settings, started_by="open", is_current=is_current, title=title
                )
            except ConflictError:
                continue

    async def _start(
        self,
        user_id: UserId,
        agent_id: AgentId,
        session_key: str,
        settings: SessionSettings,
        *,
        started_by: StartedBy,
        parent_id: SessionId | None = None,
        is_current: bool = True,
        state: SessionState | None = None,
        title: str = "",
    ) -> LiveSession:
        record = self._new_record(
            user_id,
            agent_id,
            session_key,
            settings,
            started_by=started_by,
            parent_id=parent_id,
            is_current=is_current,
            title=title,
        )
        state = state or SessionState()
        await self.store.create_session(record, state)
        return LiveSession(record=record, state=state)

    def _new_record(
        self,
        user_id: UserId,
        agent_id: AgentId,
        session_key: str,
        settings: SessionSettings,
        *,
        started_by: StartedBy,
        parent_id: SessionId | None = None,
        is_current: bool = True,
        title: str = "",
    ) -> SessionRecord:
        session_id = self.new_id()
        return SessionRecord(
            id=session_id,
            user_id=user_id,
            agent_id=agent_id,
            parent_id=parent_id,
            branch_seq=0,
            started_by=started_by,
            created_at=self.clock.now(),
            lineage=(Segment(session_id=session_id),),
            settings=settings,
            is_current=is_current,
            session_key=session_key,
            title=title,
        )

    async def branch(self, live: LiveSession, seq: int, *, started_by: BranchedBy) -> LiveSession:
        """A session that shares the past up to `seq`. It becomes the current session, unless it is a plain branch.

        Raises:
            InvalidInputError: the session has no such message, or it lies inside a step; the places to cut are named.
        """
        tries = Tries(f"session {live.record.id}", session=live.record.id)
        while True:
            await tries.begin()
            try:
                return await self._branch(live, seq, started_by=started_by)
            except ConflictError:
                # A message was erased meanwhile: what was read may still hold its words.
                continue

    async def rotate(self, live: LiveSession) -> LiveSession:
        """A session that goes on where one stands that has compacted, and becomes the current one in its place.

        The session itself where it is not the current one, since another handle was first.
        """
        seq, tries = live.state.last_seq, Tries(f"session {live.record.id}", session=live.record.id)
        while await self._is_current(live.record):
            await tries.begin()
            # A message was erased, or another session became the current one, since it was read.
            with suppress(ConflictError):
                return await self._branch(live, seq, started_by="compaction")
        live.record = replace(live.record, is_current=False)
        return live

    async def _is_current(self, record: SessionRecord) -> bool:
        found = await self.store.find_current_session(record.user_id, record.agent_id, record.session_key)
        return found is not None and found.id == record.id

    async def _branch(self, live: LiveSession, seq: int, *, started_by: StartedBy) -> LiveSession:
        await live.reload(self.store)
        await self._require_boundary(live, seq)
        compaction_id, ordinal = await self._last_compaction(live, seq)
        session_id = self.new_id()
        record = SessionRecord(
            id=session_id,
            user_id=live.record.user_id,
            agent_id=live.record.agent_id,
            parent_id=live.record.id,
            branch_seq=seq,
            started_by=started_by,
            created_at=self.clock.now(),
            lineage=branch_lineage(live.record.lineage, branch_seq=seq, last_ordinal=ordinal, session_id=session_id),
            settings=live.settings,
            is_current=started_by != "branch",
            session_key=live.record.session_key,
            title=live.record.title,
        )
        state = await self._state_at(live, seq, compaction_id=compaction_id, ordinal=ordinal)
        await self.store.create_session(record, state)
        return await load_session(self.store, record)

    async def _require_boundary(self, live: LiveSession, seq: int) -> None:
        if not 1 <= seq <= live.state.safe_seq:
            raise InvalidInputError(
                f"session {live.record.id} cannot be branched at message {seq}; expected 1 to {live.state.safe_seq}",
                session=live.record.id,
                seq=seq,
            )
        boundary = await self.store.find_boundary(live.record.id, seq)
        if boundary != seq:
            raise InvalidInputError(
                f"session {live.record.id} cannot be branched at message {seq}: it lies inside a step, which is never "
                f"split; the step ends at message {boundary}",
                session=live.record.id,
                seq=seq,
            )

    async def _last_compaction(self, live: LiveSession, seq: int) -> tuple[CompactionId, int]:
        """The last committed compaction that ends at or before a message, and its ordinal.

        Its late digest and its extraction stay with the parent.
        """
        found, ordinal = CompactionId(""), 0
        async for compaction in iterate_compactions(self.store, live.record.id):
            if compaction.is_committed and compaction.plan.last_seq <= seq:
                found, ordinal = compaction.id, compaction.ordinal
        return found, ordinal

    async def _state_at(
        self, live: LiveSession, seq: int, *, compaction_id: CompactionId, ordinal: int
    ) -> SessionState:
        """The state of the log as it was at a boundary."""
        first_seq, notes = await self._look_back(live, seq)
        last = notes[-1]
        block = _last_block(notes)
        turn = await self.store.read_notes(live.record.id, [last.turn_seq]) if last.turn_seq else []
        messages = await self.store.read_messages(live.record.id, range(first_seq, seq + 1))
        said = [text for message in reversed(messages) if (text := said_text(message))]
        fixed = await self.store.read_notes(live.record.id, range(1, min(live.state.fixed_seq, seq) + 1))
        refreshes = await self._refreshes_at(live, seq, compaction_id)
        state = SessionState(
            last_seq=seq,
            sum_tokens=last.sum_tokens,
            safe_seq=seq,
            safe_sum_tokens=last.sum_tokens,
            newest_block_seq=block[0].seq,
            newest_block_tokens=sum(note.tokens for note in block),
            turn_seq=last.turn_seq,
            turn_tokens=turn[0].tokens if turn and not turn[0].is_erased else 0,
            turns_count=last.turns_count,
            head_seq=live.state.head_seq if live.state.head_seq <= seq else 0,
            head_tokens=live.state.head_tokens if live.state.head_seq <= seq else 0,
            fixed_seq=len(fixed),
            fixed_tokens=sum(note.raw_tokens for note in fixed if note.kind == "fixed"),
            closed_calls=await self._closed_calls(live, seq),
            said_before=tuple(said[:BEFORE_COUNT]),
            compaction_id=compaction_id,
            compactions_count=ordinal,
            calibration=live.state.calibration,
            epoch=live.state.epoch,
            refreshes=refreshes,
            cache_breaks=(("session", WHOLE_WINDOW),),
        )
        gone = await self._list_refreshes_after(live, seq)
        state = await go_back(self.store, live.record.id, replace(state, answered=live.state.answered), gone)
        return _go_on(state, live.state)

    async def _list_refreshes_after(self, live: LiveSession, seq: int) -> list[int]:
        """The context refreshes of a log after a message, rising; read only where it has any there."""
        if live.state.refresh_seq <= seq:
            return []
        return [found for found in await self.store.list_refreshes(live.record.id) if found > seq]

    async def _refreshes_at(self, live: LiveSession, seq: int, compaction_id: CompactionId) -> tuple[KnownRefresh, ...]:
        """The context refreshes that a log knew of at a boundary; read only where it has any."""
        if not live.state.refreshes:
            return ()
        layout = await self.store.read_layout(compaction_id) if compaction_id else EMPTY_LAYOUT
        held = [held.seq for held in layout.held if held.hold == "refresh"]
        messages = await self.store.read_messages(live.record.id, [*held, *range(layout.watermark + 1, seq + 1)])
        found = [message.seq for message in messages if message.source == "refresh"]
        notes = await self.store.read_notes(live.record.id, found) if found else []
        return know_refreshes((), [(note.seq, note.tokens, note.sum_tokens) for note in notes])

    async def _look_back(self, live: LiveSession, seq: int) -> tuple[int, list[Note]]:
        """The notes before a boundary, as far back as its last block begins, and the first of them."""
        reach = _LOOK_BACK
        while True:
            first_seq = max(seq - reach, 1)
            notes = await self.store.read_notes(live.record.id, range(first_seq, seq + 1))
            if first_seq == 1 or any(note.is_boundary for note in notes[:-1]):
                return first_seq, notes
            reach *= 4

    async def _closed_calls(self, live: LiveSession, seq: int) -> tuple[str, ...]:
        """The call ids that a log remembered at a boundary, oldest first. Looks back `_CALLS_REACH` messages at most."""
        if seq == live.state.last_seq:
            return live.state.closed_calls
        found: list[str] = []
        for last_seq in range(seq, max(seq - _CALLS_REACH, 0), -_PAGE):
            notes = await self.store.read_notes(live.record.id, range(max(last_seq - _PAGE, 0) + 1, last_seq + 1))
            calling = await self.store.read_messages(live.record.id, [note.seq for note in notes if note.calls])
            found = [*(call.id for message in calling for call in message.view.calls), *found]
            if len(found) >= REMEMBERED_CALLS:
                break
        return tuple(found[-REMEMBERED_CALLS:])

    async def resume(self, session_id: SessionId) -> LiveSession:
        """Make an older session the current one of its user, agent and session key."""
        return await load_session(self.store, await self.store.make_current(session_id))

    async def change_settings(self, live: LiveSession, change: ChangeSettings) -> bool:
        """Change what a session holds from its opening, over what other handles change meanwhile; whether it changed.

        Settings of equal value change nothing.

        Raises:
            BudgetUnsatisfiableError: the settings leave no room; names the smallest limit that works.
        """
        tries = Tries(f"session {live.record.id}", session=live.record.id)
        while True:
            settings = change(live.settings)
            require_room(settings, live.state, live.record.id)
            if settings.is_as(live.settings):
                return False
            if live.opening is not None:
                live.record = replace(live.record, settings=settings)
                return True
            await tries.begin()
            if await self._try_to_change(live, settings):
                return True

    async def _try_to_change(self, live: LiveSession, settings: SessionSettings) -> bool:
        """Store changed settings over the known state, and read the session again; False where it was no longer that."""
        state = _with_settings(live, settings)
        try:
            await self.store.change_settings(live.record.id, settings, state, expected_revision=live.state.revision)
        except ConflictError:
            is_changed = False
        else:
            is_changed = True
            tell_session(self.stream, live.record.id, "settings")
        await live.reload(self.store)
        return is_changed

    async def set_title(self, live: LiveSession, title: str) -> LiveSession:
        """Give a session a title; the empty one takes it away. An equal one changes nothing."""
        if live.opening is not None:
            live.record = replace(live.record, title=title)
        elif title != live.record.title:
            await self.store.set_title(live.record.id, title)
            tell_session(self.stream, live.record.id, "title")
            await live.reload(self.store)
        return live

    async def add_title(self, live: LiveSession, title: str) -> None:
        """Give a session the title that its file has by now.

        Not where it has one, and not after an erase: the title may tell of what was erased.
        """
        if title and not live.record.title and not live.state.epoch:
            await self.set_title(live, title)


def _with_settings(live: LiveSession, settings: SessionSettings) -> SessionState:
    """A session's next state once it holds other settings: nothing of the window survives another prompt."""
    is_cache_break = not settings.prompt.is_as(live.settings.prompt) and live.state.last_seq > 0
    state = live.state.with_cache_break("prompt", WHOLE_WINDOW) if is_cache_break else live.state
    return replace(state, revision=live.state.revision + 1)


def _go_on(state: SessionState, before: SessionState) -> SessionState:
    """A branch's state with what its parent knew beside the log, so that no occasion is met twice and no breaker closes.

    Only where a branch begins at the end of its parent's log is the last absence its own.
    """
    if state.last_seq < before.last_seq:
        return replace(state, cadence_turns=min(before.cadence_turns, count_exchanges(state)))
    return replace(
        state,
        active_at=before.active_at,
        away_since=before.away_since,
        growth=before.growth,
        gap_seq=before.gap_seq,
        cadence_turns=before.cadence_turns,
        answered_count=before.answered_count,
        succeeded_at=before.succeeded_at,
        stuck_count=before.stuck_count,
    )


def _last_block(notes: list[Note]) -> list[Note]:
    """The messages of the last block among notes that end at a boundary."""
    start = len(notes) - 1
    while start > 0 and not notes[start - 1].is_boundary:
        start -= 1
    return notes[start:]
