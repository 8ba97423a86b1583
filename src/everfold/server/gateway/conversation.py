"""Conversation: a session with what its client holds of it, for one request at a time."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, cast

from everfold.core.conversations.alignment import Alignment
from everfold.core.conversations.hashes import GivenMessage, read_given
from everfold.core.conversations.history_calls import HeldRounds, Round
from everfold.core.conversations.requests import ClientRequest, ReadList
from everfold.core.log.client_lists import NO_LIST, ClientList, ClientMessage
from everfold.core.log.interruption import INTERRUPTED_KEY, write_interrupted
from everfold.core.log.messages import Message, WireFormat
from everfold.core.log.wire import read_wire
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.entries import MessageEntry
from everfold.core.windows.window import Window
from everfold.errors import ConflictError, StoreUnavailableError
from everfold.ports.leases import LeaseName
from everfold.services.sessions.conversations import (
    Conversations,
    chain_messages,
    extend_messages,
    find_fork,
    mark_attempt,
    plan_keep,
)
from everfold.session import Session, Wire

_PAGE: Final = 200
_logger = logging.getLogger("everfold.gateway")


@dataclass(slots=True, kw_only=True, eq=False)
class Conversation:
    """One conversation of a client.

    Attributes:
        session: The session that it goes on in.
        seed: What the chains of its client's list begin with.
        client_list: What its client holds.
        last_seq: The number of the newest message of its log that is known; the client ids of the next ones count from it.
        lock: Held from a request to the end of its reply.
        claim: By what other servers are held off meanwhile; it stays the same where the reply goes into a branch.
        held_as: The session under which it is at hand; it stays the same where the reply goes into a branch.
        owner: The user and the agent of its requests.
        tips: Its owner and the chains by which it is found at hand.
        beside: What is still written of all conversations.
        held_rounds: What the model read of the history in the turn that goes on; see `core/conversations/history_calls.py`.
    """

    session: Session
    seed: bytes
    lists: Conversations
    client_list: ClientList = NO_LIST
    last_seq: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    claim: LeaseName | None = None
    held_as: SessionId | None = None
    owner: tuple[str, str] = ("", "")
    tips: list[tuple[str, str, bytes]] = field(default_factory=list)
    held_rounds: list[HeldRounds] = field(default_factory=list)
    beside: set[asyncio.Task[None]] = field(default_factory=set)
    _epoch: int = 0
    _written: ClientList = field(init=False)
    _keeping: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._written = self.client_list
        self.last_seq = max([self.last_seq, *[message.seq for message in self.client_list.messages]])

    def list_tips(self) -> list[bytes]:
        """The chains of its client's whole list, with and without a reply at its end that broke off."""
        messages = self.client_list.messages
        ends = messages[-2:] if messages and messages[-1].is_optional else messages[-1:]
        return [message.chain for message in ends if message.chain is not None]

    async def adopt(self) -> None:
        """Take up what the log has behind its client's list: what was stored just before a process was killed.

        What was taken back or erased, or what a program has appended behind the list, is not the client's, and holds its
        place in the log all the same.
        """
        is_known, newest_seq = bool(self.client_list.messages), await self._find_newest()
        while self.last_seq < newest_seq:
            first_seq, self.last_seq = self.last_seq + 1, min(self.last_seq + _PAGE, newest_seq)
            own = await self._find_own(first_seq, self.last_seq)
            for message in await self.session.messages(first_seq, self.last_seq):
                is_own = message.seq in own or not is_known  # a program may have begun a session that its client names
                if is_own and message.source == "said" and message.kind != "fixed":
                    is_optional = INTERRUPTED_KEY in message.wire
                    await self._grow([read_given(message.wire, message.view)], [message.seq], is_optional=is_optional)

    async def store(
        self, request: ClientRequest, read: ReadList, alignment: Alignment, *, attempt: bytes | None
    ) -> None:
        """Store what is new of a request, and keep what its client holds now.

        Raises:
            InvalidInputError: a message does not fit the log; nothing was stored.
        """
        if alignment.kind == "retry":
            await self._take_back(alignment)
        count = len(self.client_list.messages)
        grows = list(alignment.places[:count]) == list(range(count))
        if not grows:
            await self._renew()
        known = [None if place is None else self.client_list.messages[place] for place in alignment.places]
        seqs = await self._append_new(request, read, alignment, known)
        given, numbers = [read.given[at] for at in alignment.new], [seqs[at] for at in alignment.new]
        if not grows:
            await self._keep(mark_attempt(chain_messages(self.seed, read.given, known, seqs), attempt))
        elif attempt is None:
            await self._hold(given, numbers)
        else:
            await self._grow(given, numbers, attempt=attempt)

    async def _append_new(
        self, request: ClientRequest, read: ReadList, alignment: Alignment, known: Sequence[ClientMessage | None]
    ) -> list[int]:
        """Append what is new of a request, its client's own summary behind an open step; gives all numbers in the log."""
        seqs = [0 if old is None else old.seq for old in known]
        new = alignment.new
        count = sum(1 for _ in takewhile(lambda at: read.given[at].answers, new))  # results close the step at the end
        for places, source in ((new[:count], "said"), (alignment.injected, "injection"), (new[count:], "said")):
            stored = await self._append([read.wires[at] for at in places], request.form, source=source)
            for at, seq in zip(places, stored, strict=True):
                seqs[at] = seq
        return seqs

    async def _take_back(self, alignment: Alignment) -> None:
        """Take back a reply that broke off, where the client asks for another one and does not hold it."""
        messages = self.client_list.messages
        count = len(messages) - 1 - max([place for place in alignment.places if place is not None], default=-1)
        if count and messages[-1].seq == self.last_seq and all(one.is_optional for one in messages[-count:]):
            await self._retract(count)

    async def _retract(self, count: int) -> None:
        """Take back the newest messages of the list. They stay where anything was stored behind them meanwhile."""
        with suppress(ConflictError):
            await self.session.retract(count, last=self.last_seq)

    async def add(self, request: ClientRequest, read: ReadList, *, attempt: bytes | None) -> None:
        """Store the messages of a request that carries only what is new.

        Raises:
            InvalidInputError: a message does not fit the log; nothing was stored.
        """
        seqs = await self._append(read.wires, request.form)
        await self._grow(read.given, seqs, attempt=attempt)

    async def say_again(self, *, attempt: bytes | None) -> None:
        """Take back a reply that broke off, where what it answers is sent again alone, and note the key of the request."""
        messages = self.client_list.messages
        count = sum(1 for _ in takewhile(lambda message: message.is_optional, reversed(messages)))
        said = messages[: len(messages) - count]
        if count and messages[-1].seq == self.last_seq:
            await self._retract(count)
        await self._keep(mark_attempt(said, attempt))

    async def configure(self, request: ClientRequest) -> None:
        """Have the session hold the system prompt and the tools of a request; a change is a cache break."""
        held = self.session.settings.prompt
        if (held.system or "", held.tools) != (request.system, request.tools):
            await self.session.configure(system=request.system, tools=list(request.tools))

    async def reply(self, wire: JsonObject, form: WireFormat, *, pauses: Sequence[float] = ()) -> None:
        """Store what the model said; where the store does not serve, once more after each of some pauses in seconds."""
        given = read_given(wire, read_wire(wire, wire_format=form))
        await self._hold([given], await self._append_again([wire], form, pauses))
        self._write_beside()

    async def find_message(self, seq: int) -> Message | None:
        """A message of the log by its number; None where it was erased or taken back."""
        found = await self.session.messages(seq, seq)
        return found[0] if found else None

    async def _append_again(self, wires: Sequence[JsonObject], form: WireFormat, pauses: Sequence[float]) -> list[int]:
        for pause in pauses:
            try:
                return await self._append(wires, form)
            except StoreUnavailableError:
                await asyncio.sleep(pause)
        return await self._append(wires, form)

    async def replace_list(self, asked: ReadList, output: ReadList) -> None:
        """Store what the provider's own compaction made of the client's list, which the client holds from now on.

        What it kept of the client's messages stands in the log already; the rest, its compaction, is appended.

        Args:
            asked: The list that it was to compact, which the client is known to hold.
            output: What it made of that.
        """
        await self._renew()
        by_content = {one.content: held for one, held in zip(asked.given, self.client_list.messages, strict=True)}
        known = [by_content.get(message.content) for message in output.given]
        new = [at for at, old in enumerate(known) if old is None]
        seqs = [0 if old is None else old.seq for old in known]
        for at, seq in zip(new, await self._append([output.wires[at] for at in new], "responses"), strict=True):
            seqs[at] = seq
        await self._keep(chain_messages(self.seed, output.given, known, seqs))

    async def break_off(self, text: str, *, reason: str) -> None:
        """Store what the model said before it was stopped; nothing where it had said nothing."""
        if text.strip():
            wire: JsonObject = {"role": "assistant", "content": text}
            said = read_given(wire, read_wire(wire))
            seqs = await self._append([write_interrupted(text, reason=reason)], "openai")
            await self._grow([said], seqs, is_optional=True)

    async def is_behind(self) -> bool:
        """Whether the log has messages behind those that are known, which another server has stored."""
        return self.last_seq < await self._find_newest()

    async def _find_newest(self) -> int:
        """The number of the newest message of the log, also where it was taken back or erased."""
        return (await self.session.inspect.state()).last_seq

    async def _find_own(self, first_seq: int, last_seq: int) -> set[int]:
        """Which messages of a part of the log were stored for the client, by the ids that the gateway gives them."""
        ids = [f"client-{seq}" for seq in range(first_seq, last_seq + 1)]
        return set((await self.session.integration.lookup(ids)).values())

    async def note_epoch(self) -> None:
        """Note in which epoch the history is read: what was read before an erase is not held behind it."""
        epoch = await self.lists.read_epoch(self.session.record.user_id)
        if epoch != self._epoch:
            self.held_rounds.clear()
        self._epoch = epoch

    def hold_rounds(self, call_id: str, rounds: tuple[Round, ...]) -> None:
        """Hold what the model read, behind a reply of this turn, in place of which the provider gets it."""
        self.held_rounds.append(HeldRounds(call_id=call_id, rounds=rounds))

    async def list_held_rounds(self) -> list[HeldRounds]:
        """What was read in this turn: nothing once the turn is over, or anything of the user was erased."""
        if self.held_rounds and self.client_list.messages[-1].kind != "result":
            self.held_rounds.clear()
        if self.held_rounds:
            await self.note_epoch()
        return list(self.held_rounds)

    def is_shown_whole(self, window: Window) -> bool:
        """Whether a window shows every message that the client holds as it is, and nothing beside the log."""
        messages = [entry.message for entry in window.entries if isinstance(entry, MessageEntry)]
        if window.report.compacted_through or len(messages) < len(window.entries):
            return False
        shown = {message.seq for message in messages if not message.is_erased}
        if not all(held.seq in shown and held.content is not None for held in self.client_list.messages):
            return False
        more = measure_hidden(messages)
        return not more or window.estimate.tokens + more < window.estimate.budget_tokens

    async def branch(
        self, session: Session, messages: Sequence[ClientMessage], count: int, *, goes_on: bool
    ) -> "Conversation":
        """A conversation that shares the first messages of this one.

        Args:
            session: A handle of its session.
            messages: Its client's list.
            count: How many of them are shared.
            goes_on: It takes this one's place under its session key.
        """
        fork_seq = find_fork(messages, count)
        forked = await (session.rewind if goes_on else session.branch)(fork_seq)
        made = Conversation(session=forked, seed=self.seed, lists=self.lists, last_seq=fork_seq, beside=self.beside)
        rows = [await made._share(message, session, fork_seq) for message in messages[:count]]
        if any(row.content != held.content for row, held in zip(rows, messages, strict=False)):
            rows = [replace(row, chain=None) for row in rows]  # they are made with what was erased
        await made._keep(rows)
        return made

    async def _share(self, message: ClientMessage, parent: Session, fork_seq: int) -> ClientMessage:
        """A message of the parent's list. What its log has behind the fork, the client's own summary, is appended anew."""
        if message.seq <= fork_seq:
            return message
        found = await parent.messages(message.seq, message.seq)
        if not found:  # it was erased: nothing stands for it here
            return replace(message, seq=fork_seq, content=None)
        [seq] = await self._append([found[0].wire], found[0].view.format, source=found[0].source)
        return replace(message, seq=seq)

    async def _append(self, wires: Sequence[JsonObject], form: WireFormat, *, source: str = "said") -> list[int]:
        """Append messages behind those that the client is known to hold.

        Their ids name the place in the log: what another process has stored there already is not stored again. Where it has
        stored another message, they go into a branch.
        """
        if not wires:
            return []
        try:
            seqs = await self._append_at_end(wires, form, source)
        except ConflictError:
            if not self.client_list.messages:
                raise
            held = self.client_list.messages
            made = await self.branch(self.session, held, len(held), goes_on=False)
            self.session, self.last_seq = made.session, made.last_seq
            self.client_list = self._written = made.client_list
            seqs = await self._append_at_end(wires, form, source)
        self.last_seq = seqs[-1]
        return seqs

    async def _append_at_end(self, wires: Sequence[JsonObject], form: WireFormat, source: str) -> list[int]:
        start = self.last_seq + 1
        ids = [f"client-{seq}" for seq in range(start, start + len(wires))]
        return await self.session.append(cast("Sequence[Wire]", wires), client_ids=ids, wire_format=form, source=source)

    async def _grow(
        self,
        given: Sequence[GivenMessage],
        seqs: Sequence[int],
        *,
        attempt: bytes | None = None,
        is_optional: bool = False,
    ) -> None:
        """Add messages to what the client holds, and write it."""
        await self._end_writing()
        try:
            await self._keep(self._extend(given, seqs, attempt=attempt, is_optional=is_optional))
        except ConflictError:  # an erase has taken hashes of it, or another process has taken messages up
            await self._read_again()
            await self._keep(self._extend(given, seqs, attempt=attempt, is_optional=is_optional))

    async def _hold(self, given: Sequence[GivenMessage], seqs: Sequence[int]) -> None:
        """Add messages to what the client holds; they are written once the turn ends.

        They stand in the log by now: where the process is killed before the list is written, they are taken up from there.
        """
        await self._end_writing()
        self.client_list, _ = plan_keep(self.client_list, self._extend(given, seqs), seed=self.seed)

    def _write_beside(self) -> None:
        """Begin to write what the client holds and is not written."""
        _, change = plan_keep(self._written, self.client_list.messages, seed=self.seed)
        if change is None:
            return
        self._written = self.client_list
        self._keeping = asyncio.create_task(self.lists.write(self.session.id, change))
        self.beside.add(self._keeping)
        self._keeping.add_done_callback(self._note_kept)

    def _note_kept(self, task: "asyncio.Task[None]") -> None:
        self.beside.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _logger.warning("what a client holds was not written; session %s", self.session.id)

    async def settle(self) -> None:
        """Write what the client holds; where it cannot be written, as it is another by now, it is read again.

        Raises:
            EverfoldError: it was not written.
        """
        await self._end_writing()
        self._write_beside()
        await self._end_writing()

    async def _end_writing(self) -> None:
        task, self._keeping = self._keeping, None
        if task is None:
            return
        try:
            await task
        except ConflictError:  # an erase has taken hashes of it, or another process has taken messages up
            await self._read_again()
            self.last_seq = max([message.seq for message in self.client_list.messages], default=0)
            await self.adopt()

    async def _renew(self) -> None:
        """Read what the client holds once more before it is replaced: an erase may have taken hashes of it."""
        await self.settle()
        await self._read_again()

    async def _read_again(self) -> None:
        self.client_list = self._written = (await self.lists.read(self.session.id)).client_list

    def _extend(
        self,
        given: Sequence[GivenMessage],
        seqs: Sequence[int],
        *,
        attempt: bytes | None = None,
        is_optional: bool = False,
    ) -> Sequence[ClientMessage]:
        """What the client holds with more messages at its end."""
        rows = extend_messages(self.seed, self.client_list.messages, given, seqs, is_optional=is_optional)
        return mark_attempt(rows, attempt)

    async def _keep(self, messages: Sequence[ClientMessage]) -> None:
        await self._end_writing()
        kept = await self.lists.keep(self.session.id, self._written, messages, seed=self.seed)
        self.client_list = self._written = kept


def measure_hidden(messages: Sequence[Message]) -> int:
    """How many tokens of messages their visible forms leave out."""
    return sum([max(message.raw_tokens - message.tokens, 0) for message in messages])
