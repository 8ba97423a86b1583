"""The Session handle: what a library user does with one conversation."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from everfold.core.calibration import Calibration, observe, raise_for_context_error
from everfold.core.events import CompactionEvent
from everfold.core.folding import Fold
from everfold.core.frames import continuity_note
from everfold.core.listing import require_page_size
from everfold.core.messages import Message, WireFormat
from everfold.core.origins import Origin
from everfold.core.planning import Demand, list_noted
from everfold.core.rendering import Provider
from everfold.core.room import Room
from everfold.core.sessions import EventId, SessionId, SessionRecord, SessionSettings
from everfold.core.spans import WINDOW, describe_window
from everfold.core.state import SessionState
from everfold.core.transcripts import TranscriptMessage
from everfold.core.usage import ModelCall
from everfold.core.window import Window
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.agent_memory import Memories
from everfold.services.append import append_once, read_incoming
from everfold.services.attend import Attendant
from everfold.services.background import Background
from everfold.services.erase import Erased, erase_message
from everfold.services.import_transcript import read_messages
from everfold.services.inspect_session import Inspector
from everfold.services.list_events import find_own_event
from everfold.services.live import LiveSession, load_session
from everfold.services.make_tools import make_memory_tools
from everfold.services.memory_tools import MemoryTools
from everfold.services.observers import Observers
from everfold.services.open_session import Opener
from everfold.services.read import Page, read_around, read_page, read_range
from everfold.services.refresh import Refreshed
from everfold.services.replay import Replay
from everfold.services.search import SearchHit, search_messages
from everfold.services.show import show_window
from everfold.services.switch import Switcher, is_rotation_due
from everfold.services.tell_changes import tell_appended
from everfold.services.tell_turns import tell_turns
from everfold.services.trace import Trace, trace_session
from everfold.services.verify import Verification, verify_session

Wire = Mapping[str, object]


def as_batch(messages: object) -> list[Wire]:
    """One message, or several, as a list.

    Raises:
        InvalidInputError: it is neither a JSON object nor a list of them.
    """
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable):
        raise InvalidInputError(
            f"append takes a message, a JSON object (a dict), or a list of them; got {type(messages).__name__}"
        )
    return list(messages)


class Session:
    """One append-only log between a user and an agent.

    Get one from `Everfold.session`. A handle may be used by one task at a time; other handles, tasks and processes may
    use the same session.
    """

    def __init__(
        self,
        live: LiveSession,
        *,
        store: Store,
        clock: Clock,
        ids: Ids,
        observers: Observers,
        background: Background,
        memories: Memories,
        rotates: bool = False,
    ) -> None:
        self._live = live
        self._memories = memories
        self._attendant = self._attend()
        self._store = store
        self._clock = clock
        self._ids = ids
        self._observers = observers
        self._background = background
        self._rotates = rotates

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self._live.record.id

    @property
    def record(self) -> SessionRecord:
        """Who it belongs to, where it came from, and its settings."""
        return self._live.record

    @property
    def settings(self) -> SessionSettings:
        """What it holds from its opening."""
        return self._live.settings

    @property
    def calibration(self) -> Calibration:
        """What was learnt of the provider's counts, when the session was read last."""
        return self._live.state.calibration

    def room(self, limit: int | None = None) -> Room:
        """The shares of its limit, or of a lower one.

        Raises:
            InvalidInputError: the limit is not a positive whole number.
        """
        return self._live.room(limit)

    @property
    def inspector(self) -> Inspector:
        """What an operator sees of it: messages with tombstones, events with their digests and calls, strips."""
        return Inspector(store=self._store, live=self._live)

    async def state(self) -> SessionState:
        """Its state, read now."""
        await self._live.reload(self._store)
        return self._live.state

    async def append(
        self,
        messages: Wire | Sequence[Wire],
        *,
        origin: Origin | None = None,
        source: str = "said",
        said_at: datetime | None = None,
        client_id: str | None = None,
        wire_format: WireFormat | None = None,
    ) -> list[int]:
        """Append one message, or several all or none, and give their sequence numbers.

        The hooks of a turn that begins or ends with them are called once they are stored.

        Args:
            messages: In OpenAI chat or Anthropic messages form; stored exactly as given.
            origin: Who speaks, when it is not what the role says: `external` for what was fetched from outside.
            source: Why it is in the log: `said`, `tick`, `refresh` or `injection`.
            said_at: When it was said, aware; now when left out.
            client_id: Names this append; the same one again changes nothing and gives the same numbers.
            wire_format: The form, where it cannot be told from the message.

        Raises:
            InvalidInputError: a message is none, or does not fit the log; nothing was stored.
            ConflictError: the client id was used before for another message.
        """
        batch = as_batch(messages)
        moment = self._clock.now() if said_at is None else said_at
        incoming = [
            read_incoming(
                wire,
                said_at=moment,
                wire_format=wire_format,
                origin=origin,
                source=source,
                client_id=_name_in_batch(client_id, index, len(batch)),
            )
            for index, wire in enumerate(batch, 1)
        ]
        if not incoming:
            return []
        self._background.worker.handover.pick_up(self._live)
        attendant = self._attendant
        head = None if attendant is None else await attendant.begin(self._live)
        stored, plan = await append_once(self._store, self._live, incoming)
        if plan is not None:
            tell_appended(self._observers.feed, self.id, plan)
        if plan is not None and attendant is not None:
            await attendant.take(self._live, stored, head)
        if plan is not None and self._observers.coordinator.is_on:
            await tell_turns(self._observers.coordinator, self.record, plan)
        return [message.seq for message in stored]

    async def window(self, *, limit: int | None = None, volatile: str | None = None, preview: bool = False) -> Window:
        """What the model is shown next, compacted first when that is due.

        Args:
            limit: A lower context limit, in tokens, for this call.
            volatile: Text for the end of this request only; never stored.
            preview: Write nothing: show what the window would be.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        self._background.worker.handover.pick_up(self._live)
        live = await self._preview_copy() if preview else self._live
        with self._observers.tracer.span(WINDOW) as span:
            window = await show_window(
                self._store,
                live,
                self._background,
                limit_tokens=limit,
                volatile=volatile,
                is_preview=preview,
                attendant=self._attendant,
            )
            span.set_attributes(describe_window(self.id, window.report, is_preview=preview))
        if self._rotates and not preview and is_rotation_due(self._live, window):
            self._live = await self._switcher.rotate(self._live)
            self._attendant = self._attend()
        return window

    async def compact(
        self, *, keep_recent: int | None = None, focus: str | None = None, dry_run: bool = False
    ) -> list[Fold]:
        """Compact now, whatever is due, and give what each event did.

        Args:
            keep_recent: How many of the newest messages stay as they are; at least 1.
            focus: What the digest should rather hold, in words.
            dry_run: Write nothing: give what would be done.

        Raises:
            InvalidInputError: `keep_recent` is below 1.
            HookError: `hooks.strict` is on and no plug-in succeeded; nothing has left the window.
        """
        keep = self.settings.policy.keep_recent if keep_recent is None else keep_recent
        if keep < 1:
            raise InvalidInputError(f"session {self.id}: keep_recent must be at least 1, got {keep}", session=self.id)
        demand = Demand(keep_recent=keep, focus=focus)
        if dry_run:
            preview = self._background.worker.compactor(await self._preview_copy(), is_preview=True)
            return await preview.compact(demand=demand)
        if self._attendant is not None:
            await self._live.reload(self._store)
            await self._attendant.catch_up(self._live)  # nothing is folded before it was looked at
        return await self._background.worker.work_now(self._live, demand)

    async def refresh(self) -> Refreshed:
        """Ask the context sources now, and give what each said and which message carries it.

        Raises:
            InvalidInputError: there is no source that may be asked.
        """
        refresher = self._background.worker.refresher
        if refresher is None:
            raise InvalidInputError(
                f"session {self.id}: there is no context source to ask; allow some in [[compaction.context_sources]]",
                session=self.id,
            )
        return await refresher.refresh(self._live, cause="manual")

    async def observe_usage(self, window: Window, *, counted_tokens: int) -> None:
        """Tell what a provider counted for a window's request (cached tokens included), to calibrate the budget.

        A count of 0, as some providers give while they stream, teaches nothing.

        Raises:
            InvalidInputError: the count is negative.
        """
        await self._calibrate(
            lambda calibration: observe(
                calibration, counted_tokens=counted_tokens, estimated_tokens=window.report.tokens
            )
        )

    async def observe_context_error(self, window: Window, *, counted_tokens: int | None = None) -> None:
        """Tell that a provider refused a window's request as too long; the next window is smaller.

        Args:
            window: The window that was sent.
            counted_tokens: What the provider's message counted, when it says.

        Raises:
            InvalidInputError: the count is negative.
        """
        await self._calibrate(
            lambda calibration: raise_for_context_error(
                calibration,
                estimated_tokens=window.report.tokens,
                limit_tokens=window.report.limit_tokens,
                counted_tokens=counted_tokens,
            )
        )

    async def _calibrate(self, learn: Callable[[Calibration], Calibration]) -> None:
        while True:
            await self._live.reload(self._store)
            state = self._live.state
            new = replace(state, revision=state.revision + 1, calibration=learn(state.calibration))
            try:
                await self._store.write_state(self.id, new, expected_revision=state.revision)
            except ConflictError:
                continue
            self._live.state = new
            return

    def replay(self, messages: Sequence[TranscriptMessage], *, provider: Provider = "openai") -> Replay:
        """A replay of a transcript's messages into this session, message by message, which measures what it does.

        Run `turns()` of what it gives to its end, then ask it for its `report()`.

        Raises:
            InvalidInputError: one of them is no message; with `line`.
        """
        return Replay(
            self._store,
            self._live,
            self._background,
            read_messages(messages, now=self._clock.now()),
            provider=provider,
        )

    async def history(self, first_seq: int, last_seq: int) -> list[Message]:
        """The messages of a range, both ends included."""
        return await read_range(self._store, self._live, first_seq, last_seq)

    async def around(self, seq: int, *, before: int = 3, after: int = 3) -> list[Message]:
        """A message with its neighbours."""
        return await read_around(self._store, self._live, seq, before=before, after=after)

    async def page(self, seq: int, page: int = 1) -> Page:
        """One page of a message's text."""
        return await read_page(self._store, self._live, seq, page)

    async def search(self, question: str, *, limit: int = 10) -> list[SearchHit]:
        """The messages of this session's log that answer a question, best first."""
        record = self.record
        return await search_messages(
            self._store,
            question,
            user_id=record.user_id,
            agent_id=record.agent_id,
            session_id=record.id,
            limit_count=limit,
        )

    async def events(self, *, after_ordinal: int = 0, limit: int = 100) -> list[CompactionEvent]:
        """The compactions of this session, oldest first."""
        return await self._store.list_events(self.id, after_ordinal=after_ordinal, limit_count=require_page_size(limit))

    async def calls(self, *, event: str | None = None, after: str | None = None, limit: int = 100) -> list[ModelCall]:
        """What was asked of models for this session, in the order of recording: tokens, cost, and how each call ended.

        Args:
            event: Only for the compaction with this id.
            after: The last id of the page before.
            limit: How many at most.

        Raises:
            NotFoundError: no call has the id `after`.
        """
        record = self.record
        return await self._store.list_calls(
            user_id=record.user_id,
            session_id=record.id if event is None else None,
            event_id=None if event is None else EventId(event),
            after=after,
            limit_count=require_page_size(limit),
        )

    async def retry(self, event_id: str) -> CompactionEvent:
        """Have a degraded event's digest written again, now, and give what became of the event.

        Raises:
            NotFoundError: the session's log has no such event.
            ConflictError: it is not degraded, was begun by another session, or its range has joined the coarse digest
                since.
        """
        await find_own_event(self._store, self.record, event_id)
        worker = self._background.worker
        await worker.compactor(self._live).committer.reopen(event_id)
        await worker.work(self._live)
        return await self._store.get_event(EventId(event_id))

    async def cancel(self, event_id: str) -> list[EventId]:
        """Give up a held event and every later held one of this session; nothing has left the window for them.

        Raises:
            NotFoundError: the session's log has no such event.
            ConflictError: it is not held: it has ended, or its digest is shown already.
        """
        await find_own_event(self._store, self.record, event_id)
        return await self._background.worker.compactor(self._live).committer.cancel(event_id)

    async def note(self) -> str:
        """The continuity notes that the window shows now, oldest first; empty when nothing is on its way."""
        await self._live.reload(self._store)
        noted = list_noted(self._live.state.awaited, self._live.layout)
        return "\n".join(continuity_note(one.first_seq, one.last_seq) for one in noted)

    async def trace(self) -> Trace:
        """What became of every message at every compaction, for pictures and reviews. O(messages x events)."""
        return await trace_session(self._store, self._live)

    def memory_tools(self) -> MemoryTools:
        """Tools with which an agent reads and writes its memory of this user, and reads their past conversations.

        They work whether or not the agent has opted in to structured memory. Call `begin_turn` before each turn.
        """
        return make_memory_tools(self._memories.get(self.record.agent_id), self.record)

    async def verify(self) -> Verification:
        """Check everything that the certificates claim against what is stored. O(log)."""
        return await verify_session(self._store, self.record)

    async def erase(self, seq: int, *, actor: str = "user") -> Erased:
        """Remove a message and all that was derived from it, in the log and in memory; a tombstone stays.

        Gives what went with it. Items that other messages say too keep the rest.

        Raises:
            NotFoundError: the session has no such message.
        """
        feed = self._observers.feed
        return await erase_message(self._store, self._live, seq, clock=self._clock, feed=feed, actor=actor)

    async def new(self) -> "Session":
        """A new, empty session that follows this one and becomes the current one. It keeps the calibration.

        Raises:
            ConflictError: this one is not the current session; `resume` it first.
        """
        return self._with(await self._switcher.new(self._live))

    async def reset(self) -> "Session":
        """Like `new`, but what was learnt about the provider's token counts is learnt anew.

        Raises:
            ConflictError: this one is not the current session; `resume` it first.
        """
        return self._with(await self._switcher.reset(self._live))

    async def branch(self, seq: int) -> "Session":
        """A session that shares the past up to a message and goes its own way; this one stays current.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return self._with(await self._switcher.branch(self._live, seq))

    async def rewind(self, seq: int) -> "Session":
        """A branch that becomes the current session.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return self._with(await self._switcher.rewind(self._live, seq))

    async def resume(self) -> None:
        """Make this session the current one of its user and agent again."""
        self._live.record = (await self._switcher.resume(self.record)).record

    @property
    def _switcher(self) -> Switcher:
        opener = Opener(store=self._store, clock=self._clock, ids=self._ids)
        return Switcher(opener=opener, observers=self._observers)

    def _with(self, live: LiveSession) -> "Session":
        return Session(
            live,
            store=self._store,
            clock=self._clock,
            ids=self._ids,
            observers=self._observers,
            background=self._background,
            memories=self._memories,
            rotates=self._rotates,
        )

    def _attend(self) -> Attendant | None:
        """What memory does around this handle; None where its agent has not opted in."""
        memory = self._memories.find(self.record.agent_id)
        return None if memory is None else Attendant(memory=memory)

    async def _preview_copy(self) -> LiveSession:
        """A copy that a preview may change; it shares what was read."""
        await self._live.reload(self._store)
        live = await load_session(self._store, self.record)
        live.messages, live.digests = dict(self._live.messages), dict(self._live.digests)
        return live


def _name_in_batch(client_id: str | None, index: int, count: int) -> str | None:
    """The client id of one message of an append.

    The first one has the append's own, so that it is never stored twice; the others name the size of their batch, so
    that another batch is not taken for the same.
    """
    if client_id is not None and not isinstance(client_id, str):
        raise InvalidInputError(f"client_id must be a text, got {type(client_id).__name__}; give its text")
    return client_id if client_id is None or index == 1 else f"{client_id}/{index}/{count}"


async def iterate_log(session: Session, *, page: int = 200) -> AsyncIterator[Message]:
    """Every message of a session, oldest first, a page at a time."""
    last_seq = (await session.state()).last_seq
    for first_seq in range(1, last_seq + 1, page):
        for message in await session.history(first_seq, min(first_seq + page - 1, last_seq)):
            yield message
