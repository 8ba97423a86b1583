"""The Session handle: what a library user does with one conversation."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from everfold.core.compaction.folding import Fold
from everfold.core.compaction.planning import Demand
from everfold.core.log.appending import Incoming
from everfold.core.log.calibration import Calibration, observe, raise_for_context_error
from everfold.core.log.messages import Message, Role, WireFormat
from everfold.core.log.responses import group_items
from everfold.core.log.sdk_objects import SdkObject, require_message, to_wire
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.primitives.ids import SessionId, require_short
from everfold.core.primitives.json_values import JsonValue
from everfold.core.primitives.origins import Origin
from everfold.core.windows.window import Window
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.check_arguments import checked
from everfold.services.compaction.refresh import Refreshed
from everfold.services.forgetting.erase import Erased, erase_message
from everfold.services.forgetting.retract import Retracted, retract_messages
from everfold.services.inspection.verify import Verification, verify_session
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.sessions.append import read_incoming
from everfold.services.sessions.configure import hold_settings
from everfold.services.sessions.live import LiveSession, copy_session
from everfold.services.sessions.open_session import Opener
from everfold.services.sessions.read import MOST_READ, Page, read_page, read_range
from everfold.services.sessions.search import SearchHit, choose_filter, search_messages
from everfold.services.sessions.switch import Switcher
from everfold.services.telling.stream import Stream
from everfold.services.telling.tries import Tries
from everfold.services.turns.agent_memory import Memories
from everfold.services.turns.append_turn import append_turn
from everfold.services.turns.attend import Attendant
from everfold.services.turns.background import Background
from everfold.services.turns.make_tools import make_memory_tools
from everfold.services.turns.take_window import take_window

if TYPE_CHECKING:
    from everfold.inspection import Inspection
    from everfold.integration import Integration

Wire = Mapping[str, object]


def as_batch(messages: object) -> list[Wire]:
    """One message, or several, as a list, with SDK objects as JSON.

    Raises:
        InvalidInputError: it is neither a JSON object nor a list of them, or one of them is a part of a message.
    """
    if isinstance(messages, Mapping | SdkObject):
        messages = [messages]
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable):
        raise InvalidInputError(
            f"append takes a message, a JSON object (a dict), or a list of them; got {type(messages).__name__}"
        )
    wires = [cast("Wire", to_wire(message)) for message in messages]  # what is no JSON is refused when it is read
    for wire in wires:
        require_message(wire)
    return list(group_items(wires))


READ_COUNT: Final = 50
"""So many messages of a batch are read between two turns of the event loop: some milliseconds."""


@checked
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
        stream: Stream,
        background: Background,
        memories: Memories,
        rotates: bool = False,
        is_new: bool = False,
    ) -> None:
        self._live = live
        self._memories = memories
        self._attendant = self._attend()
        self._store = store
        self._clock = clock
        self._ids = ids
        self._stream = stream
        self._background = background
        self._rotates = rotates
        self._is_new = is_new

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self._live.record.id

    @property
    def is_new(self) -> bool:
        """Whether the session was created for this handle."""
        return self._is_new

    @property
    def record(self) -> SessionRecord:
        """Its user, agent, parent and settings."""
        return self._live.record

    @property
    def settings(self) -> SessionSettings:
        """The settings with which it was opened."""
        return self._live.settings

    async def configure(
        self, *, system: str | None = None, tools: Sequence[JsonValue] | None = None, limit: int | None = None
    ) -> bool:
        """Change the stored limit, system prompt or tools, and return whether anything changed; what is left out stays.

        A changed prompt or schema is a cache break, which the next window reports. An equal value, whatever the order
        of its members, changes nothing.

        Args:
            system: The system prompt; an empty text removes it.
            tools: Tool schemas, in either provider's form; an empty list removes them.
            limit: The model's context limit in tokens.

        Raises:
            InvalidInputError: a value is not of its type, or the limit is not a positive whole number.
            BudgetUnsatisfiableError: the limit leaves no room; names the smallest that works.
        """
        await self._live.reload(self._store)
        change = partial(hold_settings, limit=limit, system=system, tools=tools)
        return await self._switcher.opener.change_settings(self._live, change)

    @property
    def inspect(self) -> "Inspection":
        """State, compactions, model calls and traces of this session; retry, cancel and replay."""
        from everfold.inspection import Inspection

        return Inspection(
            store=self._store,
            live=self._live,
            background=self._background,
            clock=self._clock,
            recollector=self._memories.find_recollector(self.record.agent_id),
        )

    @property
    def integration(self) -> "Integration":
        """For programs between a model and this session: create, resume, title, lookup, and texts of what is past."""
        from everfold.integration import Integration

        return Integration(
            self._live,
            store=self._store,
            clock=self._clock,
            memories=self._memories,
            switcher=self._switcher,
            preview=partial(self.window, preview=True),
        )

    async def append(
        self,
        messages: Wire | SdkObject | Sequence[Wire | SdkObject],
        *,
        origin: Origin | None = None,
        source: str = "said",
        said_at: datetime | None = None,
        client_id: str | None = None,
        client_ids: Sequence[str | None] | None = None,
        wire_format: WireFormat | None = None,
    ) -> list[int]:
        """Append one message, or several all or none, and return their sequence numbers.

        Hooks are called after the messages are stored.

        Args:
            messages: In the form of OpenAI's chat, its Responses API or Anthropic's messages; stored exactly as given. Items
                of one reply of the Responses API are one message, as its response is: `{"object": "response", "output": [...]}`. Objects of the two SDKs, and
                dicts with such objects in their content, are stored as the JSON that the provider takes back.
            origin: The origin, if the role does not imply it: `external` for text fetched from outside. Without
                it a tick is the system's, an injection external.
            source: Why it is in the log: `said`, `tick`, `refresh` or `injection`.
            said_at: The time of the message, with a time zone; now when left out.
            client_id: An id of this append; a repetition changes nothing and returns the same numbers.
            client_ids: An id of each message, or None. A stored message is skipped and keeps its number, so that a batch
                may overlap the log.
            wire_format: The form, if the message does not show it.

        Raises:
            InvalidInputError: a message is invalid, or does not fit the log; nothing was stored.
            ConflictError: a client id was used before for a message of another meaning.
        """
        batch = as_batch(messages)
        names = _name_each(client_id, client_ids, len(batch))
        moment = self._clock.now() if said_at is None else said_at
        incoming: list[Incoming] = []
        for index, (wire, name) in enumerate(zip(batch, names, strict=True), 1):
            given = read_incoming(
                wire,
                said_at=moment,
                wire_format=wire_format,
                origin=origin,
                source=source,
                client_id=name,
            )
            incoming.append(given)
            if index % READ_COUNT == 0:
                await asyncio.sleep(0)
        return await append_turn(
            self._store,
            self._live,
            self._background,
            incoming,
            stream=self._stream,
            attendant=self._attendant,
            overlaps=client_ids is not None,
        )

    async def window(
        self,
        *,
        limit: int | None = None,
        suffix: str | None = None,
        preview: bool = False,
        require_complete: bool = False,
    ) -> Window:
        """Return what the model is shown next, after a compaction if one is due.

        Args:
            limit: A lower context limit, in tokens, for this call.
            suffix: Text for the end of this request only; never stored.
            preview: Write nothing: show what the window would be.
            require_complete: Refuse while a step waits for results.

        Raises:
            BudgetUnsatisfiableError: no window fits the limit; the message names the smallest that works.
            OpenStepError: calls of the newest step wait for results; the message names them. Nothing was done.
        """
        taken = await take_window(
            self._store,
            self._live,
            self._background,
            limit_tokens=limit,
            suffix=suffix,
            is_preview=preview,
            is_complete=require_complete,
            stream=self._stream,
            attendant=self._attendant,
            recollector=self._memories.find_recollector(self.record.agent_id),
            switcher=self._switcher if self._rotates else None,
        )
        if taken.live is not self._live:
            self._live = taken.live
            self._attendant = self._attend()
        return taken.window

    async def compact(
        self, *, keep_recent: int | None = None, focus: str | None = None, dry_run: bool = False
    ) -> list[Fold]:
        """Compact now, due or not, and return what each compaction did; pending ones are done first.

        Called again before anything is appended, it finds nothing to do.

        Args:
            keep_recent: How many of the newest messages stay as they are; at least 1. An overflow folds more.
            focus: Words that the digest should prefer.
            dry_run: Write nothing, and return what would be done, with extractive digests.

        Raises:
            InvalidInputError: `keep_recent` is below 1.
            BudgetUnsatisfiableError: no window fits the limit; the message names the smallest that works.
            HookError: `hooks.strict` is on and no plug-in succeeded; nothing has left the window.
        """
        keep = self.settings.policy.keep_recent if keep_recent is None else keep_recent
        if keep < 1:
            raise InvalidInputError(f"session {self.id}: keep_recent must be at least 1, got {keep}", session=self.id)
        if not await self._live.is_stored(self._store):
            return []
        demand = Demand(keep_recent=keep, focus=focus)
        worker = self._background.worker
        if dry_run:
            return _count(await worker.work_now(await copy_session(self._store, self._live), demand, is_preview=True))
        if self._attendant is not None:
            await self._live.reload(self._store)
            await self._attendant.catch_up(self._live)  # nothing is folded before it was looked at
        return _count(await worker.work_now(self._live, demand))

    async def refresh(self) -> Refreshed:
        """Ask the context sources now, and return the answers and the message that holds them.

        Raises:
            InvalidInputError: no context source is allowed.
        """
        refresher = self._background.worker.refresher
        if refresher is None:
            raise InvalidInputError(
                f"session {self.id}: no context source is allowed; add one to [[compaction.context_sources]]",
                session=self.id,
            )
        await self._live.ensure_stored(self._store)
        return await refresher.refresh(self._live, cause="manual")

    async def observe_usage(self, window: Window, *, counted_tokens: int) -> None:
        """Report a provider's token count of a window's request (cached tokens included), to calibrate the budget.

        A count of 0, as some providers send while they stream, is ignored.

        Raises:
            InvalidInputError: the count is negative.
        """
        await self._calibrate(
            lambda calibration: observe(
                calibration, counted_tokens=counted_tokens, estimated_tokens=window.estimate.tokens
            )
        )

    async def observe_context_error(self, window: Window, *, counted_tokens: int | None = None) -> None:
        """Report that a provider refused a window's request as too long; the next window is smaller.

        Args:
            window: The window that was sent.
            counted_tokens: The count in the provider's message, if any.

        Raises:
            InvalidInputError: the count is negative.
        """
        await self._calibrate(
            lambda calibration: raise_for_context_error(
                calibration,
                estimated_tokens=window.estimate.tokens,
                limit_tokens=window.report.limit_tokens,
                counted_tokens=counted_tokens,
            )
        )

    async def _calibrate(self, learn: Callable[[Calibration], Calibration]) -> None:
        tries = Tries(f"session {self.id}", session=self.id)
        while True:
            await tries.begin()
            await self._live.reload(self._store)
            state = self._live.state
            if self._live.opening is not None:
                self._live.state = replace(state, calibration=learn(state.calibration))
                return
            new = replace(state, revision=state.revision + 1, calibration=learn(state.calibration))
            try:
                await self._store.write_state(self.id, new, expected_revision=state.revision)
            except ConflictError:
                continue
            self._live.state = new
            return

    async def messages(self, first: int = 1, last: int | None = None, *, retracted: bool = False) -> list[Message]:
        """Return the messages from one sequence number to another, both included, without erased ones.

        Retracted ones are left out unless `retracted` is True. One call returns at most 1,000; without `last`, as many
        from `first` on.

        Raises:
            InvalidInputError: the range is empty, begins below 1, or is too large.
        """
        last_seq = first + MOST_READ - 1 if last is None else last
        return await read_range(self._store, self._live, first, last_seq, retracted=retracted)

    async def read(self, seq: int, *, page: int = 1) -> Page:
        """Return one page of the text of a message, and the number of pages.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        return await read_page(self._store, self._live, seq, page)

    async def search(
        self,
        question: str,
        *,
        limit: int = 10,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[SearchHit]:
        """Search the messages of this session's log, best first.

        Args:
            question: In words.
            limit: How many at most.
            roles: Only messages in these roles; in any when empty.
            since: Only messages said then or later; aware.
            until: Only messages said before then; aware.

        Raises:
            InvalidInputError: the limit is not between 1 and 200, there is no such role, a time has no zone, or `since`
                is not before `until`.
        """
        if not await self._live.is_stored(self._store):
            return []
        record = self.record
        return await search_messages(
            self._store,
            question,
            user_id=record.user_id,
            agent_id=record.agent_id,
            session_id=record.id,
            limit_count=limit,
            only=choose_filter(roles=roles, since=since, until=until),
        )

    def tools(self, *, only_here: bool = False) -> MemoryTools:
        """Return the tools with which an agent reads and writes memory, and reads past conversations.

        They work whether or not the agent has opted in to structured memory. Call `begin_turn` before each turn.

        Args:
            only_here: History is that of this session alone, instead of all conversations of its user with its agent.
        """
        return make_memory_tools(self._memories.get(self.record.agent_id), self._live, only_here=only_here)

    async def verify(self) -> Verification:
        """Check all certificates against the stored messages and digests. O(log)."""
        if not await self._live.is_stored(self._store):
            return Verification(session=self.id, messages_count=0, compactions_count=0, problems=())
        return await verify_session(self._store, self.record)

    async def erase(self, seq: int, *, actor: str = "user") -> Erased:
        """Erase a message and everything derived from it, in the log and in memory; a tombstone stays.

        Returns what was erased. Items with other sources keep those.

        Raises:
            NotFoundError: the session has no such message.
        """
        await self._live.ensure_stored(self._store)
        stream = self._stream
        return await erase_message(self._store, self._live, seq, clock=self._clock, stream=stream, actor=actor)

    async def retract(self, count: int = 1, *, last: int | None = None, actor: str = "user") -> Retracted:
        """Take back the newest messages, also inside a step: to ask for another answer, or to drop what was said last.

        They leave the window, recall, search and every later digest, and items of memory that only they support expire.
        They keep their numbers, can still be read by them, and are exported as retracted.

        Args:
            count: How many messages.
            last: The sequence number that the newest of them is expected to have; None for any.
            actor: Who retracts them, for the audit.

        Raises:
            InvalidInputError: there are not so many, or one of them is compacted already or in another session too;
                rewind then.
            ConflictError: the newest message is another one than `last`.
        """
        return await retract_messages(
            self._store,
            self._live,
            count,
            last=last,
            policy=self._memories.policy_of(self.record.agent_id),
            cancel=self._background.worker.compactor(self._live).committer.cancel,
            clock=self._clock,
            stream=self._stream,
            actor=actor,
        )

    async def new(self, *, keep_calibration: bool = True) -> "Session":
        """Create an empty session that follows this one and becomes current.

        Args:
            keep_calibration: Keep the calibration; False starts a new one.

        Raises:
            ConflictError: this one is not the current session; `integration.resume` makes it so.
        """
        await self._live.ensure_stored(self._store)
        return self._with(await (self._switcher.new if keep_calibration else self._switcher.reset)(self._live))

    async def branch(self, seq: int) -> "Session":
        """Create a session that shares the past up to a message; this one stays current.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return self._with(await self._switcher.branch(self._live, seq))

    async def rewind(self, seq: int) -> "Session":
        """Create a branch that becomes the current session.

        Raises:
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        return self._with(await self._switcher.rewind(self._live, seq))

    @property
    def _switcher(self) -> Switcher:
        opener = Opener(store=self._store, clock=self._clock, ids=self._ids, stream=self._stream)
        return Switcher(opener=opener, stream=self._stream)

    def _with(self, live: LiveSession) -> "Session":
        return Session(
            live,
            store=self._store,
            clock=self._clock,
            ids=self._ids,
            stream=self._stream,
            background=self._background,
            memories=self._memories,
            rotates=self._rotates,
            is_new=True,
        )

    def _attend(self) -> Attendant | None:
        """What memory does around this handle; None where its agent has not opted in."""
        memory = self._memories.find(self.record.agent_id)
        return None if memory is None else Attendant(memory=memory)


def _count(folds: Sequence[Fold]) -> list[Fold]:
    """Folds as people read them: reported in the provider's tokens."""
    return [replace(fold, report=fold.report.counted) for fold in folds]


def _name_each(client_id: str | None, client_ids: Sequence[str | None] | None, count: int) -> list[str | None]:
    """The client ids of the messages of an append."""
    if client_id is not None:
        require_short(client_id, "client id")
    if client_ids is None:
        return [_name_in_batch(client_id, index, count) for index in range(1, count + 1)]
    names = list(client_ids) if isinstance(client_ids, list | tuple) else [None]
    if client_id is not None or len(names) != count or any(not isinstance(name, str | None) for name in names):
        raise InvalidInputError(
            f"client_ids must be a list of one text or None for each of the {count} messages, without a client_id beside it"
        )
    given = [require_short(name, "client id") for name in names if name is not None]
    if len(set(given)) < len(given):
        twice = next(name for name in given if given.count(name) > 1)
        raise InvalidInputError(
            f"the client id {twice!r} appears twice in one append; a client id names one message", client_id=twice
        )
    return names


def _name_in_batch(client_id: str | None, index: int, count: int) -> str | None:
    """The client id of one message of an append.

    The first one has the append's own, so that it is never stored twice; the others name the size of their batch, so
    that another batch is not taken for the same.
    """
    return client_id if client_id is None or index == 1 else f"{client_id}/{index}/{count}"


async def iterate_log(session: Session, *, page: int = 200) -> AsyncIterator[Message]:
    """Yield every message of a session, oldest first."""
    last_seq = (await session.inspect.state()).last_seq
    for first_seq in range(1, last_seq + 1, page):
        for message in await session.messages(first_seq, min(first_seq + page - 1, last_seq)):
            yield message
