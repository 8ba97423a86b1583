"""Candidates with a default for everything, and merges of them over items that are held in a dict."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count

from everfold.core.memory.items import Candidate, Item, ItemId, ItemKind, Tier, Writer
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.merging.decisions import Author, Known, Merge, plan_merge
from everfold.core.primitives.origins import Origin
from everfold.testing.kit.builders import ADA, GUIDE, minute
from everfold.testing.kit.memory_builders import evidence

POLICY = MemoryPolicy(system="structured")
NOW = minute(10_000)


def candidate(
    statement: str,
    *,
    seq: int = 1,
    kind: ItemKind = "fact",
    tier: Tier = "user",
    origin: Origin = "user",
    quote: str | None = None,
    valid_to: datetime | None = None,
    is_explicit: bool = False,
    is_quoted: bool = True,
) -> Candidate:
    """What a message says, quoted whole."""
    quoted = (evidence(statement if quote is None else quote, seq=seq, origin=origin),)
    return Candidate(
        kind=kind,
        tier=tier,
        statement=statement,
        evidence=quoted if is_quoted else (),
        origin=origin,
        confidence=0.8,
        valid_from=minute(seq),
        valid_to=valid_to,
        is_explicit=is_explicit,
    )


def count_ids(prefix: str = "itm_") -> Iterator[ItemId]:
    """New ids that count."""
    return (ItemId(f"{prefix}{number}") for number in count(1))


def author(written_by: Writer = "heuristic", *, now: datetime = NOW) -> Author:
    """Who decides."""
    return Author(user_id=ADA, agent_id=GUIDE, written_by=written_by, now=now)


class Ledger:
    """Items in their newest revision, and merges over all of them.

    Attributes:
        items: By id, in the order in which they came.
    """

    def __init__(self, *items: Item, policy: MemoryPolicy = POLICY) -> None:
        self.items = {item.id: item for item in items}
        self.policy = policy
        self._ids = count_ids("new_")

    @property
    def known(self) -> Known:
        """All there is."""
        active = tuple(item for item in self.items.values() if item.status == "active")
        block = tuple(item for item in active if item.shelf == "block")
        return Known(block=block, same=tuple(self.items.values()), like=active)

    def merge(self, *candidates: Candidate, written_by: Writer = "heuristic", now: datetime = NOW) -> Merge:
        """Merge candidates, and hold what they came to."""
        merged = plan_merge(
            candidates,
            self.known,
            policy=self.policy,
            user_id=ADA,
            agent_id=GUIDE,
            now=now,
            new_ids=self._ids,
            written_by=written_by,
        )
        self.put(merged.items)
        return merged

    def put(self, items: Iterable[Item]) -> None:
        """Hold new revisions."""
        self.items |= {item.id: item for item in items}

    def list_current(self) -> list[str]:
        """What memory says now, in the order in which it had it."""
        return [item.statement for item in self.items.values() if item.status == "active"]
