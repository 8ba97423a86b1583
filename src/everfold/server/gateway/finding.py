"""Finding: which conversation a request belongs to, by the hashes of its list.

It is looked for among the conversations at hand first, then in the store. The decision is the core's. Of a list that has
its beginning in common with one before it, only what is new is read and hashed.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from everfold.core.conversations.choosing import Choice, choose, choose_named
from everfold.core.conversations.hashes import GivenMessage, chain_next, hash_text
from everfold.core.conversations.requests import ClientRequest, ReadList, order_results, read_list
from everfold.core.log.client_lists import NO_LIST, ClientList
from everfold.core.primitives.ids import AgentId, UserId
from everfold.engine import Everfold
from everfold.server.gateway.at_hand import AtHand
from everfold.server.gateway.callers import Caller
from everfold.server.gateway.conversation import Conversation
from everfold.services.sessions.conversations import KnownList
from everfold.session import Session

MOST_READ_LISTS: Final = 256
"""So many lists of messages are kept as they were read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a request is, and the conversation that it belongs to, with the list that decided it."""

    choice: Choice
    conversation: Conversation | None = None
    client_list: ClientList = NO_LIST


@dataclass(slots=True, kw_only=True)
class Finder:
    """Finds the conversations of all clients.

    Attributes:
        beside: What is still written of all conversations.
    """

    engine: Everfold
    at_hand: AtHand
    beside: set[asyncio.Task[None]]
    _read: OrderedDict[tuple[str, bytes], ReadList] = field(default_factory=OrderedDict, init=False)
    _chains: OrderedDict[tuple[str, bytes, bytes], tuple[Sequence[GivenMessage], list[bytes]]] = field(
        default_factory=OrderedDict, init=False
    )

    _refused: OrderedDict[tuple[str, str, str], bytes] = field(default_factory=OrderedDict, init=False)

    def note(self, read: ReadList, caller: Caller, *, is_refused: bool) -> None:
        """Note whether the newest request of a named session was refused: its retry has no reply yet, though it repeats an earlier one."""
        if caller.session_key is None or not read.given:
            return
        key = (caller.user, caller.agent, caller.session_key)
        self._refused.pop(key, None)
        if is_refused:
            self._refused[key] = read.given[-1].content
        while len(self._refused) > MOST_READ_LISTS:
            self._refused.popitem(last=False)

    def read(self, request: ClientRequest, caller: Caller) -> ReadList:
        """What recognising needs of a request, the results of a step in the order of its calls; of what it has in common with one before it nothing is read again."""
        first = str(request.messages[0])[:400] if request.messages else ""
        key = (caller.user, hash_text(f"{request.form}{first}"))
        read = self._read[key] = read_list(request, self._read.get(key))
        self._read.move_to_end(key)
        while len(self._read) > MOST_READ_LISTS:
            self._read.popitem(last=False)
        return order_results(read)

    async def find(self, read: ReadList, caller: Caller, seed: bytes) -> Found:
        """What a request is, and the conversation that it belongs to.

        Args:
            read: Its list, as `read` gives it.
            caller: Whose it is.
            seed: What the chains of its list begin with, as `make_seed` gives it.
        """
        if caller.session_key is not None:
            return await self._find_named(read, caller, seed, caller.session_key)
        at_hand = self._find_tip(read, caller, seed)
        if at_hand is not None:
            client_list = at_hand.client_list
            choice = choose(read.given, [client_list.messages])
            if choice.kind in ("continue", "retry", "pass"):
                return Found(choice=choice, conversation=at_hand, client_list=client_list)
        user_id, lists = await self.find_user(caller), self.engine.admin.conversations
        if user_id is None:
            return await self._choose(read, seed, ())
        agent_id = AgentId(caller.agent)
        found = await self._choose(read, seed, await lists.find(user_id, agent_id, seed, read.given))
        if found.choice.kind not in ("new", "branch"):
            return found
        known = await lists.find_with_erased(user_id, agent_id, name_sessions(seed), read.given)
        erased = await self._choose(read, seed, known)
        is_worse = erased.conversation is None or (erased.choice.kind == "branch" and found.conversation is not None)
        return found if is_worse else erased

    async def _choose(self, read: ReadList, seed: bytes, known: Sequence[KnownList]) -> Found:
        """What a request is to some lists that the store knows."""
        conversations = [await self._open_known(one, seed) for one in known]
        client_lists = [conversation.client_list for conversation in conversations]
        choice = choose(read.given, [client_list.messages for client_list in client_lists])
        if choice.session is None:
            return Found(choice=choice)
        at = choice.session
        return Found(choice=choice, conversation=conversations[at], client_list=client_lists[at])

    def _find_tip(self, read: ReadList, caller: Caller, seed: bytes) -> Conversation | None:
        """The conversation at hand whose whole list the request begins with."""
        for chain in reversed(self._chain(read, caller, seed)):
            if (found := self.at_hand.find((caller.user, caller.agent, chain))) is not None:
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

    async def find_user(self, caller: Caller) -> UserId | None:
        """The user of a request; None where nothing of theirs is stored."""
        return await self.engine.admin.users.find_id(caller.user)

    async def _find_named(self, read: ReadList, caller: Caller, seed: bytes, name: str) -> Found:
        session = await self.engine.session(user=caller.user, agent=caller.agent, session_key=name, create=False)
        conversation = self.at_hand.get(session.id)
        if conversation is None:
            conversation = self.open_new(session, seed)
            if not session.is_new:
                known = await self.engine.admin.conversations.read(session.id)
                conversation = await self._open_known(known, seed)
        client_list = conversation.client_list
        refused = self._refused.get((caller.user, caller.agent, name))
        choice = choose_named(
            read.given,
            client_list.messages,
            is_retry=caller.is_retry,
            attempt=caller.attempt,
            was_refused=bool(read.given) and refused == read.given[-1].content,
        )
        return Found(choice=choice, conversation=conversation, client_list=client_list)

    async def _open_known(self, known: KnownList, seed: bytes) -> Conversation:
        """The conversation of a session that the store knows."""
        at_hand = self.at_hand.get(known.session_id)
        if at_hand is not None:
            return at_hand
        session = await self.engine.session(id=known.session_id)
        conversation = self.open_new(session, seed, known.client_list)
        await conversation.adopt()
        return self.at_hand.add(conversation)

    def open_new(self, session: Session, seed: bytes, client_list: ClientList = NO_LIST) -> Conversation:
        """A conversation that goes on in a session, with what its client holds of it."""
        lists = self.engine.admin.conversations
        return Conversation(session=session, seed=seed, lists=lists, client_list=client_list, beside=self.beside)


def make_seed(caller: Caller) -> bytes:
    """What the chains of a client's list begin with: lists of other keys and sessions have no chain in common with it."""
    return caller.narrowing if caller.session_key is None else hash_text(f"session: {caller.session_key}")


def name_sessions(seed: bytes) -> str:
    """The prefix of the session keys that the gateway makes: by the client's ids, lists are found of which an erase left no hash."""
    return f"gateway_{seed.hex()}_"
