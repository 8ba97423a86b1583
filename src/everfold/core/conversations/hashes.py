"""The hashes by which a conversation is recognised.

Theory of operation. A client sends the same message in other bytes: text as a string or as one part, the arguments of a
call with other blanks, results in another order, cache marks that move, thinking that it leaves out. So the hash is of what a
message says. Each message has a *chain* too: the hash of all messages up to it. Two lists whose chains are equal at a place
are equal up to there, so one look at an index finds the session of a list of any length. A chain begins with the hash of
the ids that the client sends, so that other ids never meet; and it begins again at a provider's own compaction, since clients
drop what is before one. The *tail* is the hash of the last three messages, for clients that cut their oldest ones.

Source: own design; the hash is BLAKE2b (RFC 7693) of 16 bytes.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from everfold.core.log.client_lists import ClientKind, ClientMessage
from everfold.core.log.extras import read_audio_id
from everfold.core.log.messages import (
    CallPart,
    MessageView,
    OpaquePart,
    Part,
    ResultPart,
    Role,
    TextPart,
    ThinkingPart,
)
from everfold.core.primitives.json_values import JsonObject, JsonValue, canonical_json

HASH_BYTES: Final = 16
TAIL_COUNT: Final = 3
"""So many messages must be equal at the end of a list whose beginning was cut. Source: the requirement."""
COMPACTION: Final = "compaction"
"""The type of item or block in which a provider gives its own compaction."""
_MOVING: Final = frozenset({"cache_control", "id", "status"})
"""Members of a part that change from request to request, or that clients leave out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMessage:
    """One message of a request's list.

    Attributes:
        content: The hash of what it says.
        is_anchor: It holds a provider's own compaction: a list may begin with it.
        calls: The ids of the calls that it makes.
        answers: The ids of the calls that it answers.
    """

    content: bytes
    is_reply: bool = False
    is_anchor: bool = False
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def kind(self) -> ClientKind:
        """What it is within a step."""
        return "call" if self.calls else "result" if self.answers else "said"


def read_given(wire: JsonObject, view: MessageView) -> GivenMessage:
    """What recognising needs of a message: a spoken reply is known by its id, since clients leave out what it says."""
    is_reply = view.role == "assistant"
    audio_id = read_audio_id(wire)
    return GivenMessage(
        content=hash_text(f"audio: {audio_id}") if audio_id else hash_message(view),
        is_reply=is_reply,
        is_anchor=is_reply and any(isinstance(part, OpaquePart) and part.type == COMPACTION for part in view.parts),
        calls=tuple([call.id for call in view.calls]),
        answers=tuple([result.call_id for result in view.results]),
    )


def hash_message(view: MessageView) -> bytes:
    """The hash of what a message says, in whichever form it came."""
    told = [_tell(part) for part in view.parts if not _is_silent(part)]
    if view.role == "tool":
        told.sort()
    return _hash(repr((view.role, view.name, told)))


def hash_said(text: str) -> tuple[bytes, ...]:
    """The hashes of messages of the user and the assistant that say a text and nothing else."""
    parts = (TextPart(text=text),)
    roles: tuple[Role, ...] = ("user", "assistant")
    return tuple([hash_message(MessageView(format="openai", role=role, name=None, parts=parts)) for role in roles])


def _is_silent(part: Part) -> bool:
    return isinstance(part, ThinkingPart) or (isinstance(part, TextPart) and not part.text.strip())


def _tell(part: Part) -> tuple[str, ...]:
    match part:
        case TextPart():
            return ("text", part.text.strip())
        case CallPart():
            return ("call", part.id, part.name, _tell_arguments(part.arguments))
        case ResultPart():
            return ("result", part.call_id, part.text.strip(), str(part.is_error), str(part.image_count))
        case _:
            return (part.kind, canonical_json(_leave_out_moving(part.raw)))


def _leave_out_moving(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: member for key, member in value.items() if key not in _MOVING}
    return value


def _tell_arguments(arguments: str) -> str:
    try:
        return canonical_json(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return arguments.strip()


def hash_text(text: str) -> bytes:
    """The hash of an id that a client sends, of a spoken reply's id, or of an idempotency key."""
    return _hash(text)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def chain_given(seed: bytes, given: Iterable[GivenMessage]) -> list[bytes]:
    """The chain of each message of a request's list, in its order."""
    chains: list[bytes] = []
    before = seed
    for message in given:
        before = chain_next(seed, before, message)
        chains.append(before)
    return chains


def chain_next(seed: bytes, before: bytes, message: GivenMessage) -> bytes:
    """The chain of a message behind another one."""
    start = seed if message.is_anchor else before
    return blake2b(start + message.content, digest_size=HASH_BYTES).digest()


def chain_known(seed: bytes, before: bytes | None, message: GivenMessage) -> bytes | None:
    """The chain of a message behind one of a known list; None behind an erased one, but for an anchor, which it begins at."""
    return chain_next(seed, before or seed, message) if before is not None or message.is_anchor else None


def hash_tails(seed: bytes, contents: Sequence[bytes]) -> list[bytes]:
    """The hash of every three messages that follow one another, in their order."""
    return [hash_tail(seed, contents[at : at + TAIL_COUNT]) for at in range(len(contents) - TAIL_COUNT + 1)]


def find_tail(seed: bytes, messages: Sequence[ClientMessage]) -> bytes | None:
    """The tail of a client's list; None where it has none, or an erased message stands in it."""
    last: list[bytes] = []
    for message in reversed(messages):
        if message.is_optional:
            continue
        if message.content is None:
            return None
        last.append(message.content)
        if len(last) == TAIL_COUNT:
            return hash_tail(seed, last[::-1])
    return None


def hash_tail(seed: bytes, contents: Sequence[bytes]) -> bytes:
    """The hash of the last messages of a list."""
    return blake2b(b"tail" + seed + b"".join(contents), digest_size=HASH_BYTES).digest()
