"""Alignment: what a request's list of messages is to a client's list that is known.

Theory of operation. Both lists are walked from their beginnings for as far as they agree. Where the known one ends first,
the request goes on; where the request ends first, it asks again for what was answered. Where they part, either the client
cut its oldest messages, or replaced them by a summary: then the end of the known list stands in the request, at least three
messages of it. Otherwise an old turn was edited, and the request is a branch.

A step (calls and all their results) is never split: what differs within one branches before its call. An erased
message agrees with any of its kind, since nothing is left to compare. A reply that broke off may be in the request or not.

Source: the gateway's table of cases; tests/unit/core/conversations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from everfold.core.conversations.hashes import TAIL_COUNT, GivenMessage
from everfold.core.log.client_lists import ClientMessage

AlignmentKind = Literal["continue", "retry", "branch"]
"""continue: there is something new behind the known list. retry: there is not. branch: it parts from the known list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """What a request's list is to a known one.

    Attributes:
        places: Of each message of the request where it stands in the known list, from 0; None for one that does not.
        branch_at: For a branch, how many messages of the known list it shares.
        is_cut: The request begins in the middle of the known list, or leaves out a part of it.
        injected: Which messages of the request stand for what it left out: the client's own summary.
    """

    kind: AlignmentKind
    places: tuple[int | None, ...]
    branch_at: int = 0
    is_cut: bool = False
    injected: tuple[int, ...] = ()

    @property
    def matched_count(self) -> int:
        """How many messages of the request are known."""
        return sum([place is not None for place in self.places])

    @property
    def new(self) -> tuple[int, ...]:
        """Which messages of the request are said anew, rising."""
        return tuple([at for at, place in enumerate(self.places) if place is None and at not in self.injected])


def align(given: Sequence[GivenMessage], known: Sequence[ClientMessage]) -> Alignment | None:
    """What a request's list is to a known one; None where they have nothing in common. O(both)."""
    start = _find_anchor(given, known)
    places, end = _walk(given, known, start)
    is_cut = start > 0
    if places and _is_through(known, end):
        return _make("continue" if len(places) < len(given) else "retry", places, given, is_cut=is_cut)
    if places and len(places) == len(given):
        return _branch(places, given, known)
    return _align_tail(given, known, places) or (_branch(places, given, known) if places else None)


def _find_anchor(given: Sequence[GivenMessage], known: Sequence[ClientMessage]) -> int:
    """Where the known list has a provider's compaction that the request begins with; 0 where it begins otherwise."""
    if not given or not given[0].is_anchor:
        return 0
    return next((at for at in range(len(known) - 1, 0, -1) if known[at].content == given[0].content), 0)


def _agrees(known: ClientMessage, given: GivenMessage) -> bool:
    return known.content == given.content or (known.content is None and known.kind == given.kind)


def _walk(given: Sequence[GivenMessage], known: Sequence[ClientMessage], start: int) -> tuple[list[int], int]:
    """Where the request's messages stand, for as far as both agree, and how far the known list was walked."""
    places: list[int] = []
    at = start
    for message in given:
        while at < len(known) and known[at].is_optional and known[at].content != message.content:
            at += 1
        if at == len(known) or not _agrees(known[at], message):
            break
        places.append(at)
        at += 1
    return places, at


def _is_through(known: Sequence[ClientMessage], end: int) -> bool:
    """Whether nothing is left of the known list that a client must hold."""
    return all(message.is_optional for message in known[end:])


def _make(
    kind: AlignmentKind,
    places: Sequence[int | None],
    given: Sequence[GivenMessage],
    *,
    is_cut: bool,
    injected: Sequence[int] = (),
) -> Alignment:
    whole = (*places, *[None] * (len(given) - len(places)))
    return Alignment(kind=kind, places=whole, is_cut=is_cut, injected=tuple(injected))


def _branch(places: Sequence[int], given: Sequence[GivenMessage], known: Sequence[ClientMessage]) -> Alignment | None:
    """A branch behind the last message that both have, moved back to where no step is split."""
    at = places[-1] + 1
    while 0 < at < len(known) and (known[at].kind == "result" or known[at - 1].kind == "call"):
        at -= 1
    if not at:
        return None
    shared = [place if place < at else None for place in places]
    whole = (*shared, *[None] * (len(given) - len(places)))
    return Alignment(kind="branch", places=whole, branch_at=at, is_cut=places[0] > 0)


def _align_tail(given: Sequence[GivenMessage], known: Sequence[ClientMessage], head: Sequence[int]) -> Alignment | None:
    """The alignment of a list whose middle or beginning was cut, or replaced by a summary; None where it is none.

    Args:
        given: The request's list.
        known: The client's list as it is known.
        head: Where the messages stand that both lists begin with.
    """
    must = [at for at, message in enumerate(known) if not message.is_optional and at > (head[-1] if head else -1)]
    for end in range(len(given) - 1, len(head) - 1, -1):
        count = _count_back(given, known, must, end, first=len(head))
        if count >= TAIL_COUNT:
            begin = end - count + 1
            injected = range(len(head), begin)
            dropped_count = len(must) - count
            if injected and len(injected) >= dropped_count:
                return None  # as much stands there as before: an old turn was edited
            places = [*head, *[None] * len(injected), *must[-count:]]
            kind: AlignmentKind = "retry" if end == len(given) - 1 else "continue"
            return _make(kind, places, given, is_cut=True, injected=injected)
    return None


def _count_back(
    given: Sequence[GivenMessage], known: Sequence[ClientMessage], must: Sequence[int], end: int, *, first: int
) -> int:
    """How many messages of the request up to a place agree with the end of the known list."""
    count = 0
    while count < len(must) and end - count >= first and _agrees(known[must[-1 - count]], given[end - count]):
        count += 1
    return count
