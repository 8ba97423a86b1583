"""Repeats: a write that a client sends again, because its answer got lost, is carried out once.

A client names a write by an idempotency key. The same key within a day gets the answer of the first request. The place
of a key is taken before the work begins and filled when it is done, so two requests at once run the work once.

A place is given back only if it is certain that nothing was written. A write that failed after a commit, and one whose
work did not end within `RUNNING_SECS` because its process died, have an unknown outcome: a repeat gets this as its
answer, and the work is not run again.

An answer may quote what is stored, so an erase removes the bodies of all answers, also of running requests. The record
that the write was carried out stays.

Source: the IETF draft "The Idempotency-Key HTTP Header Field", sections 2.3 to 2.7.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from everfold.core.access.api_keys import ApiKeyId
from everfold.errors import ConflictError, InvalidInputError, OutcomeUnknownError

KEPT_SECS: Final = 86_400
"""How long an answer is kept. Source: Stripe's documentation of idempotent requests, 24 hours; the draft leaves it open."""

RUNNING_SECS: Final = 600
"""How long a write is believed to be running. Source: own choice; longer than any of ours, a compaction by hand included."""

_SHOWN_CHARS: Final = 64
MOST_KEY_CHARS: Final = 255
"""Source: Stripe's documentation of idempotent requests."""


class IdempotencyKey(NamedTuple):
    """What a client calls one of its writes; two access keys never meet."""

    key_id: ApiKeyId
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What a write was answered with.

    Attributes:
        body: None when an erase took it.
        content_type: Empty for none.
        location: Empty for none.
        etag: Empty for none.
    """

    status: int
    body: bytes | None = field(repr=False)
    content_type: str = ""
    location: str = ""
    etag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRequest:
    """A write that carried a key.

    Attributes:
        request_hash: See `hash_request`.
        made_at: When its place was taken.
        answer: None while it runs.
    """

    key: IdempotencyKey
    request_hash: str
    made_at: datetime
    answer: KeptAnswer | None = None


def hash_request(method: str, path: str, body: bytes) -> str:
    """Equal for equal requests only: SHA-256 over method, path with query, and body, in 64 hex digits."""
    head = f"{method} {path}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"%d %b%b" % (len(head), head, body)).hexdigest()


def require_idempotency_key(text: str) -> str:
    """The key that a client gave a write.

    Raises:
        InvalidInputError: it is empty, too long, or not of visible ASCII characters.
    """
    if not 0 < len(text) <= MOST_KEY_CHARS or not text.isascii() or not text.isprintable():
        raise InvalidInputError(
            f"an idempotency key must have 1 to {MOST_KEY_CHARS} visible ASCII characters, a UUID for example; "
            f"got {text[: 2 * MOST_KEY_CHARS]!r}"
        )
    return text


def kept_since(now: datetime) -> datetime:
    """The time before which a place is forgotten."""
    return now - timedelta(seconds=KEPT_SECS)


def running_since(now: datetime) -> datetime:
    """The time before which a place without an answer has an unknown outcome."""
    return now - timedelta(seconds=RUNNING_SECS)


def answer_again(known: KnownRequest, request_hash: str, now: datetime) -> KeptAnswer:
    """The answer to a request whose place was taken before.

    Raises:
        InvalidInputError: the request is another one under the same key.
        ConflictError: the first one still runs.
        OutcomeUnknownError: the first one never ended.
    """
    key = known.key.idempotency_key
    if known.request_hash != request_hash:
        raise InvalidInputError(
            f"the idempotency key {key!r} was sent with another request at {known.made_at:%Y-%m-%d %H:%M:%S} UTC; "
            "expected the same method, path and body, or a new idempotency key",
            idempotency_key=key,
        )
    if known.answer is None and known.made_at < running_since(now):
        raise make_unknown(key, "it did not end")
    if known.answer is None:
        raise ConflictError(
            f"the request with the idempotency key {key!r} is still running; send it again in a moment",
            idempotency_key=key,
        )
    return known.answer


def make_unknown(idempotency_key: str, reason: str) -> OutcomeUnknownError:
    """The error for a write that may have been carried out."""
    return OutcomeUnknownError(
        f"the write {idempotency_key[:_SHOWN_CHARS]!r} may have been carried out ({reason}); read the resource, then write "
        "with a new idempotency key if it was not",
        idempotency_key=idempotency_key,
    )
