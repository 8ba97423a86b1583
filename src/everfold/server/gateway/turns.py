"""Turns: what is done about a request before it goes to the provider, and about the reply.

Theory of operation. A request's list of messages is recognised by its hashes (`finding.py`); here the session is opened or
branched, what is new is stored, and the window is taken. While a window shows all that the client holds, the client's own
bytes go to the provider; once something is folded, the client's body goes there with the window's messages in place of its
own.

A conversation is locked from its request to the end of its reply. A request that finds it locked waits and decides again:
of two equal requests the second one finds the first one's reply. Conversations that begin are held apart by the first
message, so that equal ones begin one after the other.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, cast

from everfold.core.conversations.choosing import Choice
from everfold.core.conversations.hashes import chain_given
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
from everfold.core.log.envelopes import ENVELOPE_KEY
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import JsonValue
from everfold.core.windows.entries import MessageEntry
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import EverfoldError, InvalidInputError, NotFoundError
from everfold.ports.leases import LeaseName
from everfold.ports.system import Ids
from everfold.server.gateway.at_hand import AtHand
from everfold.server.gateway.callers import Caller
from everfold.server.gateway.claims import Claims
from everfold.server.gateway.conversation import Conversation, measure_hidden
from everfold.server.gateway.finding import Finder, Found, make_seed, name_sessions
from everfold.server.gateway.history import History, begin_history
from everfold.server.gateway.replay import Replay, replay
from everfold.server.gateway.turn import Compacting, Turn

PAUSES: Final = (0.1, 0.4)
"""Seconds between the tries to store a reply that no client brings back. Source: own choice; its client waits for its end."""


@dataclass(slots=True, kw_only=True)
class Turns:
    """The turns of all clients."""

    engine: Everfold
    ids: Ids
    offers_history: bool = False
    claims: Claims = field(init=False)
    _at_hand: AtHand = field(default_factory=AtHand, init=False)
    _finder: Finder = field(init=False)
    _beside: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _starting: dict[bytes, tuple[asyncio.Lock, int]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        leases, holder = self.engine.admin.leases, self.ids.new_id("gw_")
        self.claims = Claims(store=leases, holder=holder, beside=self._beside)
        self._finder = Finder(engine=self.engine, at_hand=self._at_hand, beside=self._beside)

    async def begin(self, request: ClientRequest, caller: Caller, own: bytes) -> Turn | Replay:
        """Store what is new of a request, and give what goes to the provider. The conversation is locked then.

        A request that is sent again in the session that it names is given the reply that is stored for it; nothing is locked.

        Args:
            request: What is asked.
            caller: Whose it is.
            own: The client's own bytes.

        Raises:
            ConflictError: it is sent again in the session that it names, and cannot be given its reply.
            InvalidInputError: it names its session, and asks for several replies.
            EverfoldError: it cannot be stored or folded; nothing is locked.
        """
        if caller.session_key is not None and request.choices_count > 1:
            raise InvalidInputError(
                f"n must be 1 in a session that the request names, got {request.choices_count}: one reply is stored"
            )
        if request.held_by:
            return Turn(request=request, body=own, context="passed", reason=request.held_by)
        read = self._finder.read(request, caller)
        try:
            turn = await self._begin_again(request, read, caller, own)
        except EverfoldError:
            self._finder.note(read, caller, is_refused=True)
            raise
        self._finder.note(read, caller, is_refused=False)
        return turn

    async def _begin_again(self, request: ClientRequest, read: ReadList, caller: Caller, own: bytes) -> Turn | Replay:
        """Begin a turn, once more where its session was at hand and is erased: it is at hand no longer then."""
        try:
            return await self._begin(request, read, caller, own)
        except NotFoundError:
            return await self._begin(request, read, caller, own)

    async def _begin(self, request: ClientRequest, read: ReadList, caller: Caller, own: bytes) -> Turn | Replay:
        seed = make_seed(caller)
        while True:
            found = await self._finder.find(read, caller, seed)
            if found.choice.kind == "pass":
                return Turn(request=request, body=own, context="passed", reason=found.choice.reason)
            if found.choice.kind in ("answered", "late"):
                if await self._is_current(found):
                    return await replay(found, request)
                continue
            if found.choice.kind in ("new", "branch"):
                conversation = await self._start(request, read, caller, seed)
            else:
                conversation = await self._go_on(found, request, read, caller)
            if conversation is not None:
                turn = await self._show(conversation, request, own, found.choice, caller)
                turn.is_named = caller.session_key is not None
                return turn

    # --- what is stored

    async def _go_on(self, found: Found, request: ClientRequest, read: ReadList, caller: Caller) -> Conversation | None:
        """Store what is new in a conversation that goes on; None where another request was first: decide again then."""
        conversation = await self._lock(found)
        if conversation is None:
            return None
        async with self._releasing(conversation):
            await self._store(conversation, found.choice, request, read, caller)
            self._at_hand.remember(conversation, caller)
        return conversation

    async def _store(
        self, conversation: Conversation, choice: Choice, request: ClientRequest, read: ReadList, caller: Caller
    ) -> None:
        """Store what is new of a request; nothing where its system prompt and its tools leave no room."""
        await conversation.configure(offer(request)[0] if self.offers_history else request)
        if choice.kind == "added":
            await conversation.add(request, read, attempt=caller.attempt)
        elif choice.kind == "again":
            await conversation.say_again(attempt=caller.attempt)
        else:
            await conversation.store(request, read, choice.alignment, attempt=caller.attempt)

    async def _lock(self, found: Found) -> Conversation | None:
        """Lock a conversation as it was found; None where another request was first, here or at another server."""
        conversation = found.conversation
        if conversation is None or await _wait_for(conversation):
            return None
        await conversation.lock.acquire()
        is_settled = found.choice.only_grows or await self._is_settled(conversation)
        if not is_settled or conversation.client_list is not found.client_list:
            self._free(conversation)
            return None
        if not await self._is_alone(conversation) or await self._is_behind(conversation):
            return None
        return conversation

    async def _is_current(self, found: Found) -> bool:
        """Whether what is known of a conversation is all of it; else it is read anew, once no request goes on in it here."""
        conversation = found.conversation
        if conversation is None:
            return True
        if await _wait_for(conversation):
            return False
        async with self._forgetting(conversation):
            is_behind = await conversation.is_behind()
        if is_behind:
            self._at_hand.forget(conversation)
        return not is_behind

    async def _is_alone(self, conversation: Conversation) -> bool:
        """Whether no other server answers in a locked conversation; else it is waited for, and the store is read anew."""
        name = conversation.claim = _name_claim(conversation)
        try:
            if await self.claims.claim(name):
                return True
            self._at_hand.forget(conversation)
            await self.claims.wait_for(name)
        except BaseException:
            self._free(conversation)
            raise
        self._free(conversation)
        return False

    async def _is_behind(self, conversation: Conversation) -> bool:
        """Whether another server has stored more in a locked conversation; it is freed then, to be read anew."""
        async with self._releasing(conversation):
            is_behind = await conversation.is_behind()
        if is_behind:
            self._at_hand.forget(conversation)
            self._free(conversation)
        return is_behind

    def _free(self, conversation: Conversation) -> None:
        """Let the next request of a conversation begin, here and at every other server."""
        if conversation.claim is not None:
            self.claims.release(conversation.claim)
        conversation.lock.release()

    async def _is_settled(self, conversation: Conversation) -> bool:
        """Whether all that is known of a conversation is written; where it is not, it is read again when it goes on."""
        try:
            await conversation.settle()
        except EverfoldError:
            self._at_hand.forget(conversation)
            return False
        return True

    async def _start(self, request: ClientRequest, read: ReadList, caller: Caller, seed: bytes) -> Conversation | None:
        """Begin a conversation or a branch of one; None where an equal request has begun it meanwhile."""
        key = seed if caller.session_key is not None else chain_given(seed, read.given[:1])[0]
        async with self._starting_alone(key), self._starting_first(key, caller) as is_first:
            if not is_first:
                return None
            found = await self._finder.find(read, caller, seed)
            if found.choice.kind not in ("new", "branch"):
                return None
            if caller.session_key is not None and found.conversation and await _wait_for(found.conversation):
                return None
            conversation = await self._make(found, caller, seed)
            await conversation.lock.acquire()
            if not await self._is_alone(conversation):
                return None
            async with self._releasing(conversation):
                await self._store(conversation, found.choice, request, read, caller)
                await conversation.settle()  # another server finds it by what its client holds
                self._at_hand.remember(conversation, caller)
            return conversation

    async def _make(self, found: Found, caller: Caller, seed: bytes) -> Conversation:
        """A new conversation, or the branch of one."""
        if found.conversation is not None and found.choice.kind == "branch":
            session = await self.engine.session(id=found.conversation.session.id)  # the other one may be in use
            held, count = found.client_list.messages, found.choice.alignment.branch_at
            return await found.conversation.branch(session, held, count, goes_on=caller.session_key is not None)
        key = caller.session_key or self.ids.new_id(name_sessions(seed))
        session = await self.engine.session(user=caller.user, agent=caller.agent, session_key=key, create=False)
        return self._finder.open_new(session, seed)

    @property
    def are_under_way(self) -> bool:
        """Whether a turn of any client has not ended."""
        return self._at_hand.has_locked()

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
        user_id = await self._finder.find_user(caller) or await self.engine.admin.users.ensure_id(caller.user)
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
            self._at_hand.forget(conversation)
            raise

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
        read = self._finder.read(request, caller)
        found = await self._finder.find(read, caller, make_seed(caller))
        conversation = found.conversation
        if conversation is None or found.choice.kind not in ("continue", "retry", "added", "again"):
            return passed
        session = await self.engine.session(id=conversation.session.id)  # the other one may be in use
        window = await session.window(preview=True)
        if found.choice.holds_whole and conversation.is_shown_whole(window):
            return passed
        rendered = window.render(request.form)
        rendered["messages"] = [
            *cast("list[JsonValue]", rendered["messages"]),
            *[read.wires[at] for at in found.choice.alignment.new],
        ]
        body = write_request(request, rendered, has_prompt=bool(window.prompt.system))
        return Turn(request=request, body=encode_body(body), context="folded")

    async def begin_compaction(self, request: ClientRequest, caller: Caller, own: bytes) -> Turn:
        """A request by which a client has its provider compact a list. It goes on as it came.

        Where the list is a known conversation's, that one is locked until the answer is stored.

        Raises:
            EverfoldError: the request cannot be read; nothing is locked.
        """
        read = self._finder.read(request, caller)
        while True:
            found = await self._finder.find(read, caller, make_seed(caller))
            if found.conversation is None or found.choice.kind not in ("continue", "retry"):
                return Turn(request=request, body=own, context="passed")
            conversation = await self._lock(found)
            if conversation is not None:
                compacting = Compacting(read=read, alignment=found.choice.alignment)
                return Turn(
                    request=request, body=own, context="passed", conversation=conversation, compacting=compacting
                )

    async def finish_compaction(self, turn: Turn, compacting: Compacting, reply: Reply) -> None:
        """Store what was new in a list, what the provider made of it, and that the client holds that from now on."""
        conversation, request, wire = turn.conversation, turn.request, reply.wire
        if conversation is None or request is None or wire is None:
            return
        output = order_results(read_list(read_request("responses", {"input": wire["output"]})))
        async with self._forgetting(conversation):
            await conversation.store(request, compacting.read, compacting.alignment, attempt=None)
            await conversation.replace_list(compacting.read, output)
            self._at_hand.remember(conversation)

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
            if reply.wire is not None and reply.is_whole and turn.is_named:
                await conversation.reply({**reply.wire, ENVELOPE_KEY: reply.envelope}, turn.request.form, pauses=PAUSES)
            elif reply.wire is not None and reply.is_whole:
                await conversation.reply(reply.wire, turn.request.form)
            elif not reply.is_whole:
                await conversation.break_off(reply.text, reason="the reply ended before it was whole")
            if turn.history is not None:
                turn.history.hold()
            if turn.window is not None and reply.counted_tokens and not _is_hiding(turn):
                await conversation.session.observe_usage(turn.window, counted_tokens=reply.counted_tokens)
            self._at_hand.remember(conversation)

    async def break_off(self, turn: Turn, reply: Reply) -> None:
        """Store what was said of a reply that its client or its provider has left."""
        conversation = turn.conversation
        if conversation is None:
            return
        async with self._forgetting(conversation):
            await conversation.break_off(reply.text, reason="the client left before the reply was whole")
            self._at_hand.remember(conversation)

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


async def _fold(request: ClientRequest, conversation: Conversation, window: Window, history: History | None) -> Turn:
    body = write_request(request, window.render(request.form), has_prompt=bool(window.prompt.system))
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
