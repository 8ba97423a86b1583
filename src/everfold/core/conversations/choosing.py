"""Choosing: which session a request goes on with, and how.

The decision is made from the request's list and the lists that are known of some sessions. What is done about it, the
gateway does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from everfold.core.conversations.alignment import Alignment, align
from everfold.core.conversations.hashes import GivenMessage
from everfold.core.log.client_lists import ClientMessage

ChoiceKind = Literal["new", "continue", "retry", "branch", "added", "again", "pass", "answered", "late"]
"""new: a session begins. added: the request carries only what is new. again: the same, and it is sent again without having been
answered. pass: nothing is stored, and it goes on as it came. answered: it is sent again, and its reply is known. late: it is sent
again, has no whole reply, and more was said since."""


_NOTHING_NEW: Final = Alignment(kind="retry", places=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a request is.

    Attributes:
        session: Which of the known lists it belongs to; None where it is of none.
        alignment: Where its messages stand in that list.
        reason: Why it passes as it came.
        reply_seq: The number in the log of the reply to a request that was answered.
    """

    kind: ChoiceKind
    alignment: Alignment
    session: int | None = None
    reason: str = ""
    reply_seq: int = 0

    @property
    def only_grows(self) -> bool:
        """Whether the known list stays, and what is new comes behind it."""
        return self.kind == "added" or (self.kind == "continue" and not self.alignment.is_cut)

    @property
    def holds_whole(self) -> bool:
        """Whether the request carries its whole history."""
        return self.kind not in ("added", "again")


def find_pass_reason(given: Sequence[GivenMessage]) -> str:
    """Why a list goes on as it came, without being stored; empty where it can be stored.

    A result must answer a call of the message before its step, and the newest step must have all its results.
    """
    if not given:
        return "no messages"
    waiting: set[str] = set()
    known: set[str] = set()
    for message in given:
        if message.answers:
            if not known.issuperset(message.answers):
                return "result without its call"
            waiting.difference_update(message.answers)
        else:
            waiting, known = set(message.calls), set(message.calls)
    return "incomplete step" if waiting else ""


def choose(given: Sequence[GivenMessage], known: Sequence[Sequence[ClientMessage]]) -> Choice:
    """Which of the known lists a request's whole list goes on from; a session begins where it is none.

    Args:
        given: The request's list.
        known: The lists of sessions that it may belong to, the newest first.
    """
    none = Alignment(kind="continue", places=(None,) * len(given))
    if reason := find_pass_reason(given):
        return Choice(kind="pass", alignment=none, reason=reason)
    aligned = [(at, alignment) for at, one in enumerate(known) if (alignment := align(given, one)) is not None]
    if not aligned:
        return Choice(kind="new", alignment=none)
    at, best = max(aligned, key=lambda pair: (_rank(pair[1]), -pair[0]))
    return Choice(kind=best.kind, alignment=best, session=at)


def _rank(alignment: Alignment) -> tuple[int, int]:
    """How well a list fits: going on is better than going on behind a cut, which is better than a branch."""
    value = 0 if alignment.kind == "branch" else 1 if alignment.is_cut else 2
    return value, alignment.matched_count


def choose_named(
    given: Sequence[GivenMessage],
    known: Sequence[ClientMessage],
    *,
    is_retry: bool,
    attempt: bytes | None = None,
    was_refused: bool = False,
) -> Choice:
    """What a request is for the session that it names: its whole history, or only what is new.

    It is the whole history where a reply of the assistant that is known stands in it. Anything else is said anew, also in
    the same words, but for a retry: that is given the reply that is known, if there is one.

    Args:
        given: The request's list.
        known: The list of the session that it names.
        is_retry: The request says that it is sent again. With an idempotency key that alone says of which request.
        attempt: The hash of its idempotency key; None without one.
        was_refused: The newest request of these words was refused before it was answered: no reply that is known is its own.
    """
    is_retry = is_retry and attempt is None
    is_replayed = is_retry and not was_refused
    none = Alignment(kind="continue", places=(None,) * len(given))
    at = _find_attempt(given, known, attempt)
    if at is not None:
        if (reply := _find_reply(known, at)) is not None:
            return _answer(reply)
        if not all(message.is_reply or message.is_optional for message in known[at + 1 :]):
            return Choice(kind="late", alignment=none, session=0)
    if not given:
        return Choice(kind="pass", alignment=none, reason="no messages")
    if not known:
        reason = find_pass_reason(given)
        return Choice(kind="pass" if reason else "new", alignment=none, reason=reason)
    alignment = align(given, known)
    if alignment is not None and _has_known_reply(given, alignment):
        reply = _find_known_reply(given, known, alignment) if is_replayed else None
        return _answer(reply) if reply is not None else _choose_whole(given, alignment)
    end = _find_again(given, known)
    if end is not None and (at is not None or known[end].attempt is None):
        reply = _find_reply(known, end)
        if reply is None and (is_retry or attempt is not None):
            return Choice(kind="again", alignment=_NOTHING_NEW, session=0)
        if reply is not None and is_replayed:
            return _answer(reply)
    return Choice(kind="added", alignment=none, session=0)


def _choose_whole(given: Sequence[GivenMessage], alignment: Alignment) -> Choice:
    reason = find_pass_reason(given)
    return Choice(kind="pass" if reason else alignment.kind, alignment=alignment, session=0, reason=reason)


def _find_attempt(given: Sequence[GivenMessage], known: Sequence[ClientMessage], attempt: bytes | None) -> int | None:
    """Where the known list has the last message of a request that had the same idempotency key; None where it has none."""
    if attempt is None or not given:
        return None
    ends = [at for at, message in enumerate(known) if message.attempt == attempt]
    return next((at for at in reversed(ends) if known[at].content in (None, given[-1].content)), None)


def _find_reply(known: Sequence[ClientMessage], at: int) -> ClientMessage | None:
    """The whole reply to a request that ended at a place of the known list; None where there is none."""
    after = next((message for message in known[at + 1 :] if not message.is_optional), None)
    return after if after is not None and after.is_reply else None


def _find_known_reply(
    given: Sequence[GivenMessage], known: Sequence[ClientMessage], alignment: Alignment
) -> ClientMessage | None:
    """The whole reply to a request without a key of which all is known; None where something is new, or there is none."""
    last = alignment.places[-1]
    if last is None or None in alignment.places:
        return None
    is_same = known[last].content == given[-1].content and known[last].attempt is None
    return _find_reply(known, last) if is_same else None


def _answer(reply: ClientMessage) -> Choice:
    return Choice(kind="answered", alignment=_NOTHING_NEW, session=0, reply_seq=reply.seq)


def _has_known_reply(given: Sequence[GivenMessage], alignment: Alignment) -> bool:
    return any(place is not None and message.is_reply for place, message in zip(alignment.places, given, strict=True))


def _find_again(given: Sequence[GivenMessage], known: Sequence[ClientMessage]) -> int | None:
    """The place of what was said last, where a request says just that; None where it says anything else."""
    end = len(known)
    while end and (known[end - 1].is_reply or known[end - 1].is_optional):
        end -= 1
    start = end - len(given)
    if start < 0 or any(known[start + at].content != message.content for at, message in enumerate(given)):
        return None
    return end - 1
