"""Conversations: which session a client's list of messages belongs to, and what is kept of the list."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from everfold.core.conversations.alignment import align
from everfold.core.conversations.hashes import (
    GivenMessage,
    chain_given,
    chain_known,
    find_tail,
    hash_tails,
)
from everfold.core.log.client_lists import ClientList, ClientListChange, ClientMessage
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.ports.conversations import ConversationStore
from everfold.ports.memory import MemoryStore
from everfold.services.check_arguments import checked

LEAST_EQUAL: Final = 2
"""So many messages must be left of a list that no hash finds. Source: own choice; a reply alone ("OK.") may be any conversation's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownList:
    """What the client of a session holds."""

    session_id: SessionId
    client_list: ClientList


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """The clients' lists of one store."""

    store: ConversationStore
    memory: MemoryStore

    async def find(
        self, user_id: UserId, agent_id: AgentId, seed: bytes, given: Sequence[GivenMessage]
    ) -> list[KnownList]:
        """The lists that a request's list may go on from, the newest session first.

        Those are found by the longest beginning that is known, or else by the last three messages of a known list. Both
        are looked for where the beginning is not of the whole known list, since a client may have cut its middle.
        """
        found = await self.store.find_by_chain(user_id, agent_id, chain_given(seed, given))
        lists = [await self.read(session_id) for session_id in found]
        if any(is_ending(one.client_list.messages, given) for one in lists):
            return lists
        tails = hash_tails(seed, [message.content for message in given])
        more = await self.store.find_by_tail(user_id, agent_id, tails) if tails else []
        return [*lists, *[await self.read(session_id) for session_id in more if session_id not in found]]

    async def find_with_erased(
        self, user_id: UserId, agent_id: AgentId, key_prefix: str, given: Sequence[GivenMessage]
    ) -> list[KnownList]:
        """The lists that a request's list may go on from of which an erase has left no hash of a beginning or an end.

        They are of one conversation where the request begins with what is left of the list, and that is enough. Where a
        request has no reply, or nothing was erased, no list is looked for.
        """
        if not any(message.is_reply for message in given) or not await self.read_epoch(user_id):
            return []
        found = await self.store.find_with_erased(user_id, agent_id, key_prefix)
        lists = [await self.read(session_id) for session_id in found]
        return [one for one in lists if is_same_conversation(one.client_list.messages, given)]

    async def read(self, session_id: SessionId) -> KnownList:
        """What the client of a session holds.

        Raises:
            NotFoundError: there is no such session.
        """
        return KnownList(session_id=session_id, client_list=await self.store.read_client_list(session_id))

    async def read_epoch(self, user_id: UserId) -> int:
        """The epoch of a user, which every erase and wipe of theirs raises."""
        return (await self.memory.read_memory_version(user_id)).epoch

    async def keep(
        self, session_id: SessionId, before: ClientList, messages: Sequence[ClientMessage], *, seed: bytes
    ) -> ClientList:
        """Keep what the client of a session holds now; gives it. Only what differs from before is written.

        Raises:
            ConflictError: the list is another than before; read it again.
        """
        kept, change = plan_keep(before, messages, seed=seed)
        if change is not None:
            await self.write(session_id, change)
        return kept

    async def write(self, session_id: SessionId, change: ClientListChange) -> None:
        """Write a change of what the client of a session holds.

        Raises:
            ConflictError: the list is another than it was; read it again.
        """
        await self.store.write_client_list(session_id, change)


def plan_keep(
    before: ClientList, messages: Sequence[ClientMessage], *, seed: bytes
) -> tuple[ClientList, ClientListChange | None]:
    """What a client holds now, and the change that keeps it; None where it holds what it held."""
    count = _count_same(before.messages, messages)
    kept = ClientList(messages=tuple(messages), tail=find_tail(seed, messages))
    if kept == before:
        return before, None
    change = ClientListChange(
        first_place=count + 1,
        messages=messages[count:],
        expected_count=len(before.messages),
        expected_chain=messages[count - 1].chain if count else None,
        tail=kept.tail,
    )
    return kept, change


def is_ending(known: Sequence[ClientMessage], given: Sequence[GivenMessage]) -> bool:
    """Whether the last message of a known list stands in a request's list at its own place."""
    must = [message for message in known if not message.is_optional]
    return bool(must) and len(must) <= len(given) and must[-1].content == given[len(must) - 1].content


def is_same_conversation(known: Sequence[ClientMessage], given: Sequence[GivenMessage]) -> bool:
    """Whether a request's list begins with what is left of a known list with erased messages: two of them, one a reply."""
    alignment = align(given, known)
    if alignment is None or alignment.is_cut:
        return False
    pairs = [
        (known[place], message) for place, message in zip(alignment.places, given, strict=True) if place is not None
    ]
    equal = [message for held, message in pairs if held.content == message.content]
    return len(equal) >= LEAST_EQUAL and any(message.is_reply for message in equal)


def _count_same(before: Sequence[ClientMessage], after: Sequence[ClientMessage]) -> int:
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next((at for at, (old, new) in enumerate(pairs) if old is not new and old != new), shorter)


def chain_messages(
    seed: bytes, given: Sequence[GivenMessage], known: Sequence[ClientMessage | None], seqs: Sequence[int]
) -> list[ClientMessage]:
    """What a client holds, for each message of its list.

    Args:
        seed: What its chains begin with.
        given: Its list.
        known: Of each message what was kept of it; None for a new one.
        seqs: Of each message its number in the log.
    """
    messages: list[ClientMessage] = []
    chain: bytes | None = seed
    for message, old, seq in zip(given, known, seqs, strict=True):
        has_gone = old is not None and old.content is None
        chain = None if has_gone else chain_known(seed, chain, message)
        made = ClientMessage(
            content=None if has_gone else message.content,
            kind=message.kind,
            seq=seq,
            is_reply=message.is_reply,
            chain=chain,
        )
        messages.append(made if old is None else replace(made, is_optional=old.is_optional, attempt=old.attempt))
    return messages


def extend_messages(
    seed: bytes,
    held: Sequence[ClientMessage],
    given: Sequence[GivenMessage],
    seqs: Sequence[int],
    *,
    is_optional: bool = False,
) -> list[ClientMessage]:
    """What a client holds with more messages at its end, but for those whose numbers it holds already.

    Args:
        seed: What its chains begin with.
        held: What it holds.
        given: The messages.
        seqs: Of each its number in the log.
        is_optional: They are a reply that broke off.
    """
    messages = list(held)
    known = {message.seq for message in held}
    chain = held[-1].chain if held else seed
    for message, seq in zip(given, seqs, strict=True):
        if seq not in known:
            chain = chain_known(seed, chain, message)
            messages.append(
                ClientMessage(
                    content=message.content,
                    kind=message.kind,
                    seq=seq,
                    is_reply=message.is_reply,
                    is_optional=is_optional,
                    chain=chain,
                )
            )
    return messages


def mark_attempt(messages: Sequence[ClientMessage], attempt: bytes | None) -> Sequence[ClientMessage]:
    """The same messages, the last one with the idempotency key of its request."""
    return messages if attempt is None or not messages else [*messages[:-1], replace(messages[-1], attempt=attempt)]


def find_fork(messages: Sequence[ClientMessage], count: int) -> int:
    """The number in the log up to which a branch shares it: before every message that is not shared.

    A client's own summary stands at the head of its list, and behind the messages in the log that it was sent with.

    Args:
        messages: A client's list.
        count: How many of its messages, from the first, the branch shares.
    """
    shared = [message.seq for message in messages[:count]]
    first = min([message.seq for message in messages[count:]], default=max(shared) + 1)
    return max([seq for seq in shared if seq < first], default=first - 1)
