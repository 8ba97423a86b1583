"""Turns: what is done about a request before it goes to the provider, and about the reply.

Theory of operation. A request's list of messages is recognised by its hashes: first among the conversations at hand, then in
the store. The decision is the core's; here the session is opened or branched, what is new is stored, and the window is
taken. While a window shows all that the client holds, the client's own bytes go to the provider; once something is folded,
the client's body goes there with the window's messages in place of its own.

A conversation is locked from its request to the end of its reply. A request that finds it locked waits and decides again:
of two equal requests the second one finds the first one's reply. Conversations that begin are held apart by the first
message, so that equal ones begin one after the other.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from everfold.core.conversations.choosing import Choice, choose, choose_named
from everfold.core.conversations.hashes import GivenMessage, chain_given, chain_next, hash_text
from everfold.core.conversations.history_calls import offer
from everfold.core.conversations.replies import Reply, encode_body
from everfold.core.conversations.requests import (
    ClientRequest,
    ReadList,
    order_results,
    read_list,
    read_request,
    write_request,
)
from everfold.core.log.client_lists import NO_LIST, ClientList
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonValue
from everfold.core.windows.entries import MessageEntry
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import EverfoldError
from everfold.ports.leases import LeaseName
from everfold.ports.system import Ids
from everfold.server.gateway.callers import Caller
from everfold.server.gateway.claims import Claims
from everfold.server.gateway.conversation import Conversation, measure_hidden
from everfold.server.gateway.history import History, begin_history
from everfold.services.sessions.conversations import KnownList
from everfold.session import Session

MOST_CONVERSATIONS: Final = 1_000
"""So many conversations are kept at hand; another one is opened again when it goes on."""
MOST_READ_LISTS: Final = 256
"""So many lists of messages are kept as they were read."""

Context = Literal["unchanged", "extended", "folded", "passed", "unfolded"]
"""What was done with a request: unchanged: the client's own bytes, stored. extended: its own messages, stored, with the history
tools. folded: its messages replaced by a window. passed: nothing was stored. unfolded: Everfold failed, and it was passed on."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """One request on its way.

    Attributes:
        body: What goes to the provider.
        context: What was done with it.
        reason: Why, where it was passed on.
        conversation: Where its reply is stored; None for nowhere.
        is_named: The request named its session, and may carry only what is new.
        is_compaction: The provider is to compact a list, and no model answers.
        history: The history tools that are offered; None for none.
    """

    request: ClientRequest | None
    body: bytes
    context: Context
    reason: str = ""
    conversation: Conversation | None = None
    window: Window | None = None
    is_named: bool = False
    is_compaction: bool = False
    history: History | None = None

    @property
    def session_id(self) -> str:
        """The session; empty for none."""
        return "" if self.conversation is None else self.conversation.session.id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a request is, and the conversation that it belongs to, with the list that decided it."""

    choice: Choice
    conversation: Conversation | None = None
    client_list: ClientList = NO_LIST


Tip = tuple[str, str, bytes]
"""A user, an agent, and the chain of a client's whole list: conversations are at hand for their own user only."""


@dataclass(slots=True, kw_only=True)
class Turns:
    """The turns of all clients."""

    engine: Everfold
    ids: Ids
    offers_history: bool = False
    claims: Claims = field(init=False)
    _open: OrderedDict[str, Conversation] = field(default_factory=OrderedDict, init=False)
    _tips: dict[Tip, Conversation] = field(default_factory=dict, init=False)
    _beside: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _starting: dict[bytes, tuple[asyncio.Lock, int]] = field(default_factory=dict, init=False)
    _read: OrderedDict[tuple[str, bytes], ReadList] = field(default_factory=OrderedDict, init=False)
    _chains: OrderedDict[tuple[str, bytes, bytes], tuple[Sequence[GivenMessage], list[bytes]]] = field(
        default_factory=OrderedDict, init=False
    )

    def __post_init__(self) -> None:
        leases, holder = self.engine.admin.leases, self.ids.new_id("gw_")
        self.claims = Claims(store=leases, holder=holder, beside=self._beside)

    async def begin(self, request: ClientRequest, caller: Caller, own: bytes) -> Turn:
        """Store what is new of a request, and give what goes to the provider. The conversation is locked then.

        Args:
            request: What is asked.
            caller: Whose it is.
            own: The client's own bytes.

        Raises:
            EverfoldError: it cannot be stored or folded; nothing is locked.
        """
        if request.held_by:
            return Turn(request=request, body=own, context="passed", reason=request.held_by)
        read = order_results(self._read_list(request, caller))
        seed = _make_seed(caller)
        while True:
            found = await self._find(read, caller, seed)
            if found.choice.kind == "pass":
                return Turn(request=request, body=own, context="passed", reason=found.choice.reason)
            if found.choice.kind in ("new", "branch"):
                conversation = await self._start(request, read, caller, seed)
            else:
                conversation = await self._go_on(found, request, read, caller)
            if conversation is not None:
                turn = await self._show(conversation, request, own, found.choice, caller)
                turn.is_named = caller.session_key is not None
                return turn

    def _read_list(self, request: ClientRequest, caller: Caller) -> ReadList:
        """What recognising needs of a request; of what it has in common with one before it nothing is read again."""
        first = str(request.messages[0])[:400] if request.messages else ""
        key = (caller.user, hash_text(f"{request.form}{first}"))
        read = self._read[key] = read_list(request, self._read.get(key))
        self._read.move_to_end(key)
        while len(self._read) > MOST_READ_LISTS:
            self._read.popitem(last=False)
        return read

    # --- which conversation

    async def _find(self, read: ReadList, caller: Caller, seed: bytes) -> _Found:
        if caller.session_key is not None:
            return await self._find_named(read, caller, seed, caller.session_key)
        at_hand = self._find_tip(read, caller, seed)
        if at_hand is not None:
            client_list = at_hand.client_list
            choice = choose(read.given, [client_list.messages])
            if choice.kind in ("continue", "retry", "pass"):
                return _Found(choice=choice, conversation=at_hand, client_list=client_list)
        user_id = await self._find_user(caller)
        lists = self.engine.admin.conversations
        known = [] if user_id is None else await lists.find(user_id, AgentId(caller.agent), seed, read.given)
        conversations = [await self._open_known(one, seed) for one in known]
        client_lists = [conversation.client_list for conversation in conversations]
        choice = choose(read.given, [client_list.messages for client_list in client_lists])
        if choice.session is None:
            return _Found(choice=choice)
        at = choice.session
        return _Found(choice=choice, conversation=conversations[at], client_list=client_lists[at])

    def _find_tip(self, read: ReadList, caller: Caller, seed: bytes) -> Conversation | None:
        """The conversation at hand whose whole list the request begins with."""
        for chain in reversed(self._chain(read, caller, seed)):
            if (found := self._tips.get((caller.user, caller.agent, chain))) is not None:
                return found
        return None

    def _chain(self, read: ReadList, caller: Caller, seed: bytes) -> list[bytes]:
        """The chains of a request's list; those that the one before it has in common with it are not hashed again."""
        key = (caller.user, seed, read.given[0].content if read.given else b"")
        given, chains = self._chains.get(key, ((), []))
        pairs = zip(given, read.given, strict=False)
        count = next((at for at, (old, new) in enumerate(pairs) if old is not new), min(len(given), len(read.given)))
        made = chains[:count]
        for message in read.given[count:]:
            made.append(chain_next(seed, made[-1] if made else seed, message))
        self._chains[key] = (read.given, made)
        self._chains.move_to_end(key)
        while len(self._chains) > MOST_READ_LISTS:
            self._chains.popitem(last=False)
        return made

    async def _find_user(self, caller: Caller) -> UserId | None:
        return await self.engine.admin.users.find_id(caller.user)

    async def _find_named(self, read: ReadList, caller: Caller, seed: bytes, name: str) -> _Found:
        session = await self.engine.session(user=caller.user, agent=caller.agent, key=name, create=False)
        conversation = self._open.get(session.id)
        if conversation is None:
            conversation = self._open_new(session, seed)
            if not session.is_new:
                known = await self.engine.admin.conversations.read(session.id)
                conversation = await self._open_known(known, seed)
        client_list = conversation.client_list
        attempts = {message.attempt for message in client_list.messages[-len(read.given) - 1 :]}
        is_retry = caller.is_retry or (caller.attempt is not None and caller.attempt in attempts)
        choice = choose_named(read.given, client_list.messages, is_retry=is_retry)
        return _Found(choice=choice, conversation=conversation, client_list=client_list)

    async def _open_known(self, known: KnownList, seed: bytes) -> Conversation:
        """The conversation of a session that the store knows."""
        at_hand = self._open.get(known.session_id)
        if at_hand is not None:
            return at_hand
        session = await self.engine.session(id=known.session_id)
        conversation = self._open_new(session, seed, known.client_list)
        await conversation.adopt()
        return self._open.setdefault(known.session_id, conversation)

    # --- what is stored

    async def _go_on(
        self, found: _Found, request: ClientRequest, read: ReadList, caller: Caller
    ) -> Conversation | None:
        """Store what is new in a conversation that goes on; None where another request was first: decide again then."""
        conversation = found.conversation
        if conversation is None or await _wait_for(conversation):
            return None
        await conversation.lock.acquire()
        is_settled = found.choice.only_grows or await self._is_settled(conversation)
        if not is_settled or conversation.client_list is not found.client_list:
            self._free(conversation)
            return None
        if not await self._is_alone(conversation):
            return None
        async with self._releasing(conversation):
            if found.choice.kind == "added":
                await conversation.add(request, read, attempt=caller.attempt)
            else:
                await conversation.store(request, read, found.choice.alignment, attempt=caller.attempt)
            self._remember(conversation, caller)
        return conversation

    async def _is_alone(self, conversation: Conversation) -> bool:
        """Whether no other server answers in a locked conversation; else it is waited for, and the store is read anew."""
        try:
            if await self.claims.claim(_name_claim(conversation)):
                return True
            self._forget(conversation)
            await self.claims.wait_for(_name_claim(conversation))
        except BaseException:
            self._free(conversation)
            raise
        self._free(conversation)
        return False

    def _free(self, conversation: Conversation) -> None:
        """Let the next request of a conversation begin, here and at every other server."""
        self.claims.release(_name_claim(conversation))
        conversation.lock.release()

    async def _is_settled(self, conversation: Conversation) -> bool:
        """Whether all that is known of a conversation is written; where it is not, it is read again when it goes on."""
        try:
            await conversation.settle()
        except EverfoldError:
            self._forget(conversation)
            return False
        return True

    async def _start(self, request: ClientRequest, read: ReadList, caller: Caller, seed: bytes) -> Conversation | None:
        """Begin a conversation or a branch of one; None where an equal request has begun it meanwhile."""
        key = seed if caller.session_key is not None else chain_given(seed, read.given[:1])[0]
        async with self._starting_alone(key), self._starting_first(key, caller) as is_first:
            if not is_first:
                return None
            found = await self._find(read, caller, seed)
            if found.choice.kind not in ("new", "branch"):
                return None
            if caller.session_key is not None and found.conversation and await _wait_for(found.conversation):
                return None
            conversation = await self._make(found, caller, seed)
            await conversation.lock.acquire()
            if not await self._is_alone(conversation):
                return None
            async with self._releasing(conversation):
                await conversation.store(request, read, found.choice.alignment, attempt=caller.attempt)
                await conversation.settle()  # another server finds it by what its client holds
                self._remember(conversation, caller)
            return conversation

    async def _make(self, found: _Found, caller: Caller, seed: bytes) -> Conversation:
        """A new conversation, or the branch of one."""
        if found.conversation is not None and found.choice.kind == "branch":
            session = await self.engine.session(id=found.conversation.session.id)  # the other one may be in use
            shared = found.client_list.messages[: found.choice.alignment.branch_at]
            return await found.conversation.branch(session, shared, goes_on=caller.session_key is not None)
        key = caller.session_key or self.ids.new_id("gateway_")
        session = await self.engine.session(user=caller.user, agent=caller.agent, key=key, create=False)
        return self._open_new(session, seed)

    def _open_new(self, session: Session, seed: bytes, client_list: ClientList = NO_LIST) -> Conversation:
        lists = self.engine.admin.conversations
        return Conversation(session=session, seed=seed, lists=lists, client_list=client_list, beside=self._beside)

    async def drain(self) -> None:
        """Wait for what is still written."""
        while self._beside:
            await asyncio.wait(self._beside)

    @asynccontextmanager
    async def _starting_alone(self, key: bytes) -> AsyncIterator[None]:
        lock, count = self._starting.get(key, (asyncio.Lock(), 0))
        self._starting[key] = (lock, count + 1)
        try:
            async with lock:
                yield
        finally:
            lock, count = self._starting.pop(key)
            if count > 1:
                self._starting[key] = (lock, count - 1)

    @asynccontextmanager
    async def _starting_first(self, key: bytes, caller: Caller) -> AsyncIterator[bool]:
        """Whether no other server begins an equal conversation; else it is waited for."""
        user_id = await self._find_user(caller) or await self.engine.admin.users.ensure_id(caller.user)
        name = LeaseName(user_id=user_id, work="answer", about=SessionId(f"start {key.hex()}"))
        is_first = await self.claims.claim(name)
        if not is_first:
            await self.claims.wait_for(name)
        try:
            yield is_first
        finally:
            self.claims.release(name)

    @asynccontextmanager
    async def _releasing(self, conversation: Conversation) -> AsyncIterator[None]:
        """Let a conversation go where what is done with it fails; what is known of it may be half of what happened."""
        try:
            async with self._forgetting(conversation):
                yield
        except BaseException:
            self._free(conversation)
            raise

    @asynccontextmanager
    async def _forgetting(self, conversation: Conversation) -> AsyncIterator[None]:
        """Keep a conversation no longer at hand where what is done with it fails; it is read again then."""
        try:
            yield
        except BaseException:
            self._forget(conversation)
            raise

    def _remember(self, conversation: Conversation, caller: Caller | None = None) -> None:
        """Keep a conversation at hand, where it is found again by its tips; the caller is that of its request."""
        if caller is not None:
            conversation.owner = (caller.user, caller.agent)
        self._drop_tips(conversation)
        self._open[conversation.session.id] = conversation
        self._open.move_to_end(conversation.session.id)
        conversation.tips = [(*conversation.owner, chain) for chain in conversation.list_tips()]
        self._tips.update(dict.fromkeys(conversation.tips, conversation))
        while len(self._open) > MOST_CONVERSATIONS:
            oldest = next(iter(self._open.values()))
            if oldest.lock.locked():
                self._open.move_to_end(oldest.session.id)
                return
            self._forget(oldest)

    def _forget(self, conversation: Conversation) -> None:
        if self._open.get(conversation.session.id) is conversation:
            del self._open[conversation.session.id]
        self._drop_tips(conversation)

    def _drop_tips(self, conversation: Conversation) -> None:
        for tip in conversation.tips:
            if self._tips.get(tip) is conversation:
                del self._tips[tip]

    # --- what the provider gets

    async def _show(
        self, conversation: Conversation, request: ClientRequest, own: bytes, choice: Choice, caller: Caller
    ) -> Turn:
        """What goes to the provider: the client's own bytes while they show all, else its body with the window."""
        async with self._releasing(conversation):
            history = None
            if self.offers_history:
                history = begin_history(conversation, request, crosses_sessions=caller.is_known)
            request = request if history is None else history.request
            await conversation.configure(request)
            window = await conversation.session.window(require_complete=True)
            if not choice.holds_whole or not conversation.is_shown_whole(window):
                return await _fold(request, conversation, window, history)
            turn = Turn(request=request, body=own, context="unchanged", conversation=conversation, window=window)
            if history is not None:
                body = await history.begin(request.body, window)
                turn.body, turn.context, turn.history = encode_body(body), "extended", history
            return turn

    async def preview(self, request: ClientRequest, caller: Caller, own: bytes) -> Turn:
        """What would go to the provider. Nothing is stored or compacted; a session that is not folded costs its own bytes.

        Raises:
            EverfoldError: the request cannot be read.
        """
        if self.offers_history and (offered := offer(request)[0]) is not request:
            request, own = offered, encode_body(offered.body)
        passed = Turn(request=request, body=own, context="passed")
        read = order_results(self._read_list(request, caller))
        found = await self._find(read, caller, _make_seed(caller))
        conversation = found.conversation
        if conversation is None or found.choice.kind not in ("continue", "retry"):
            return passed
        session = await self.engine.session(id=conversation.session.id)  # the other one may be in use
        window = await session.window(preview=True)
        if conversation.is_shown_whole(window):
            return passed
        rendered = window.render(request.form)
        rendered["messages"] = [
            *cast("list[JsonValue]", rendered["messages"]),
            *[read.wires[at] for at in found.choice.alignment.new],
        ]
        return Turn(request=request, body=encode_body(write_request(request, rendered)), context="folded")

    async def begin_compaction(self, request: ClientRequest, caller: Caller, own: bytes) -> Turn:
        """A request by which a client has its provider compact a list. It goes on as it came.

        Where the list is a known conversation's, that one is locked until the answer is stored.

        Raises:
            EverfoldError: the request cannot be read; nothing is locked.
        """
        read = order_results(self._read_list(request, caller))
        while True:
            found = await self._find(read, caller, _make_seed(caller))
            conversation = found.conversation
            if conversation is None or found.choice.kind not in ("continue", "retry"):
                return Turn(request=request, body=own, context="passed")
            if await _wait_for(conversation):
                continue
            await conversation.lock.acquire()
            is_same = await self._is_settled(conversation) and conversation.client_list is found.client_list
            if is_same and await self._is_alone(conversation):
                return Turn(request=request, body=own, context="passed", conversation=conversation, is_compaction=True)
            if not is_same:
                self._free(conversation)

    async def finish_compaction(self, turn: Turn, reply: Reply) -> None:
        """Store what the provider made of a list, and that the client holds that from now on."""
        conversation, request, wire = turn.conversation, turn.request, reply.wire
        if conversation is None or request is None or wire is None:
            return
        items = read_request("responses", {"input": wire["output"]})
        async with self._forgetting(conversation):
            await conversation.replace_list(order_results(read_list(items)))
            self._remember(conversation)

    async def shrink(self, turn: Turn) -> Turn | None:
        """The turn with a smaller window, after the provider found the request too long; None where it cannot be smaller."""
        request, conversation, window = turn.request, turn.conversation, turn.window
        if request is None or conversation is None or window is None:
            return None
        session = conversation.session
        try:
            await session.observe_context_error(window)
            smaller = await session.window(require_complete=True)
            if smaller.estimate.tokens >= window.estimate.tokens:  # it was far from full by what is known of the limit
                await session.compact()
                smaller = await session.window(require_complete=True)
        except EverfoldError:
            return None
        folded = await _fold(request, conversation, smaller, turn.history)
        folded.is_named = turn.is_named
        return folded if smaller.estimate.tokens < window.estimate.tokens else None

    # --- what the model said

    async def finish(self, turn: Turn, reply: Reply) -> None:
        """Store a reply, and learn from what the provider counted."""
        conversation = turn.conversation
        if conversation is None or turn.request is None:
            return
        async with self._forgetting(conversation):
            if reply.wire is not None and reply.is_whole:
                await conversation.reply(reply.wire, turn.request.form)
            elif not reply.is_whole:
                await conversation.break_off(reply.text, reason="the reply ended before it was whole")
            if turn.history is not None:
                turn.history.hold()
            if turn.window is not None and reply.counted_tokens and not _is_hiding(turn):
                await conversation.session.observe_usage(turn.window, counted_tokens=reply.counted_tokens)
            self._remember(conversation)

    async def break_off(self, turn: Turn, reply: Reply) -> None:
        """Store what was said of a reply that its client or its provider has left."""
        conversation = turn.conversation
        if conversation is None:
            return
        async with self._forgetting(conversation):
            await conversation.break_off(reply.text, reason="the client left before the reply was whole")
            self._remember(conversation)

    def end(self, turn: Turn) -> None:
        """Let the conversation of a turn go."""
        if turn.conversation is not None and turn.conversation.lock.locked():
            self._free(turn.conversation)


def _name_claim(conversation: Conversation) -> LeaseName:
    record = conversation.session.record
    return LeaseName(user_id=record.user_id, work="answer", about=record.id)


async def _wait_for(conversation: Conversation) -> bool:
    """Wait until a conversation is free; whether it was not."""
    if not conversation.lock.locked():
        return False
    async with conversation.lock:
        return True


def _make_seed(caller: Caller) -> bytes:
    return caller.narrowing if caller.session_key is None else hash_text(f"session: {caller.session_key}")


async def _fold(request: ClientRequest, conversation: Conversation, window: Window, history: History | None) -> Turn:
    body = write_request(request, window.render(request.form))
    if history is not None:
        body = await history.begin(body, window)
    return Turn(
        request=request,
        body=encode_body(body),
        context="folded",
        conversation=conversation,
        window=window,
        history=history,
    )


def _is_hiding(turn: Turn) -> bool:
    """Whether the provider counted more than the window shows: the client's own messages, or what was read of the history."""
    if turn.history is not None and turn.history.is_extended:
        return True
    if turn.context not in ("unchanged", "extended") or turn.window is None:
        return False
    entries: Sequence[object] = turn.window.entries
    return measure_hidden([entry.message for entry in entries if isinstance(entry, MessageEntry)]) > 0
