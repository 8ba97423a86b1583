"""Client list: what a client of the gateway holds of a session, message by message.

A client sends its whole list with every request. By the hashes that are kept of it the gateway finds the session again,
and tells what is new. They say nothing of a message but that another one is equal to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

ClientKind = Literal["said", "call", "result"]
"""call: an assistant's message with tool calls. result: what answers one. said: any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMessage:
    """One message of a client's list.

    Attributes:
        content: The hash of what it says; None where the message was erased: then any message may stand there.
        kind: What it is within a step.
        seq: Its number in the log.
        is_reply: The assistant said it.
        is_optional: A reply that broke off: a client may hold it, or have dropped it.
        chain: The hash of the whole list up to it; None behind an erased message.
        attempt: The hash of the idempotency key of the request that ended with it, where it had one.
    """

    content: bytes | None
    kind: ClientKind
    seq: int
    is_reply: bool = False
    is_optional: bool = False
    chain: bytes | None = None
    attempt: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientList:
    """What a client holds of a session, oldest first. `tail` is the hash of its last messages, None where there is none."""

    messages: tuple[ClientMessage, ...] = ()
    tail: bytes | None = None


NO_LIST: Final = ClientList()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientListChange:
    """How a client's list changes: what stands from one place on is replaced.

    Attributes:
        first_place: The place, from 1, that the first of the messages gets; those before it stay.
        messages: What stands from there on.
        expected_count: How many messages the list has had.
        expected_chain: The chain of the one before the first of the messages; an erase has taken it meanwhile where it is gone.
        tail: The hash of its last messages; None where they are too few.
    """

    first_place: int
    messages: Sequence[ClientMessage]
    expected_count: int
    expected_chain: bytes | None = None
    tail: bytes | None = None
