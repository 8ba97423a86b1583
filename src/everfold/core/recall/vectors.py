"""Vectors: what is embedded of messages, items and topics, and how two vectors compare.

A vector stands for the words that it was made of: it is kept with their hash, and goes when they change or go. Vectors
of two models or two sizes cannot be compared; each belongs to one *space*.

Of a message, what a person or the model said is embedded. What tools returned is not: it comes in bulk, and full text
finds its identifiers better. Secrets are never sent to an embedder.

Source: DESIGN section 4, "Recall"; docs/adr/0022-vectors.md.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from everfold.core.log.messages import DocumentPart, Message, TextPart
from everfold.core.memory.items import Item
from everfold.core.memory.topics import Topic
from everfold.core.threats.redaction import redact_secrets
from everfold.errors import InvalidInputError

VectorKind = Literal["message", "item", "topic"]
KINDS: tuple[VectorKind, ...] = ("message", "item", "topic")

Vector: TypeAlias = tuple[float, ...]

MOST_CHARS = 6_000
"""What is embedded of a text: its beginning. Models take 256 to 8,192 tokens and cut off what is longer, or refuse it.

Source: the limit of OpenAI's embedding models, 8,192 tokens, at the 1.3 tokens that a character of Chinese may take.
"""
_LOOKED_CHARS = 3 * MOST_CHARS
"""Where secrets are looked for. Of what is cut there the last `MOST_CHARS` are left out: a secret may have lost its end."""
CODE_BITS_PER_BYTE = 8


class VectorRef(NamedTuple):
    """The message, item or topic that a vector represents.

    Attributes:
        owner_id: The session that stores the message, or the id of the item or topic.
        seq: The message's sequence number; 0 for items and topics.
    """

    kind: VectorKind
    owner_id: str
    seq: int = 0


class Space(NamedTuple):
    """Where vectors can be compared: those of one model, of one size."""

    model: str
    dimensions: int


class OpenWrites(NamedTuple):
    """Which writes may still be on their way: all below `ended_before` have ended, and those to come are not below `next`.

    Both are equal where none is, and always where writes are committed in the order in which they draw their keys.
    """

    ended_before: int = 0
    next: int = 0


class Near(NamedTuple):
    """One ranked answer. `similarity` is the cosine: 1 for the same direction, 0 for nothing in common."""

    ref: VectorRef
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddable:
    """The words that a vector is made of.

    Attributes:
        text: Without secrets, at most `MOST_CHARS`.
        content_hash: Of what the words were read from; a vector counts only as long as it is the same.
    """

    ref: VectorRef
    text: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRow:
    """A vector with what it was made of; it has some direction, and its length does not matter."""

    ref: VectorRef
    content_hash: str
    vector: Vector


def read_message_words(message: Message, *, session_id: str) -> Embeddable | None:
    """What is embedded of a message; None for a message without words of a person.

    Args:
        message: One with its content.
        session_id: The session that stores it.
    """
    if message.kind not in ("user", "assistant") or message.source != "said":
        return None
    said = [part.text for part in message.view.parts if isinstance(part, TextPart | DocumentPart)]
    return _make(VectorRef("message", session_id, message.seq), "\n".join(said), message.content_hash)


def read_item_words(item: Item) -> Embeddable | None:
    """What is embedded of an item: its statement; None unless it is active."""
    if item.status != "active":
        return None
    return _make(VectorRef("item", item.id), item.statement, item.identity)


def read_topic_words(topic: Topic) -> Embeddable | None:
    """What is embedded of a topic: its name, its summary and its content, each revision anew; None unless it is active."""
    if topic.status != "active":
        return None
    text = "\n".join((topic.name.replace("_", " "), topic.summary, topic.content))
    content_hash = hashlib.sha256(f"{topic.revision}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    return _make(VectorRef("topic", topic.id), text, content_hash)


def _make(ref: VectorRef, text: str, content_hash: str) -> Embeddable | None:
    if not any(map(str.isalnum, text[:MOST_CHARS])):
        return None
    # Redacted before it is cut, so that no secret loses the words that tell it.
    return Embeddable(ref=ref, text=clean_text(text), content_hash=content_hash)


def clean_text(text: str) -> str:
    """A text as an embedder gets it: no secrets, no lone surrogates, at most `MOST_CHARS`."""
    cleaned = redact_secrets(text[:_LOOKED_CHARS])
    kept = cleaned if len(text) <= _LOOKED_CHARS else cleaned[:-MOST_CHARS]
    return kept[:MOST_CHARS].encode("utf-8", "replace").decode()


def normalise(vector: Sequence[float]) -> Vector | None:
    """The vector of length 1 in the same direction; None where it has none (all zeros, or numbers that are none)."""
    length = math.hypot(*vector)
    if not 0.0 < length < math.inf:  # false for NaN too
        return None
    return tuple([number / length for number in vector])


def check_dimensions(vector: Sequence[float], space: Space) -> None:
    """Refuse a vector of another size than its space has.

    Raises:
        InvalidInputError: it has more or fewer numbers.
    """
    if len(vector) != space.dimensions:
        raise InvalidInputError(
            f"a vector has {len(vector)} numbers; expected {space.dimensions}, as {space.model} gives: embed it again"
        )


def compare(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors of length 1."""
    return sum(map(float.__mul__, one, other))


def quantise(vector: Sequence[float]) -> bytes:
    """One bit for each number: set where it is above zero. The last byte is filled up with zeros.

    The share of bits in which two codes differ grows with the angle between the vectors, so the nearest by codes are
    good candidates for the nearest.

    Source: Charikar, "Similarity estimation techniques from rounding algorithms", 2002, with the axes for its planes.
    """
    bits = "".join(["1" if number > 0 else "0" for number in vector])
    bytes_count = -(-len(vector) // CODE_BITS_PER_BYTE)
    return int(bits.ljust(bytes_count * CODE_BITS_PER_BYTE, "0"), 2).to_bytes(bytes_count)
