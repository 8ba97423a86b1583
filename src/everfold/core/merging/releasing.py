"""Release from quarantine: a person has looked at what a scan held back, and lets it be shown all the same.

What was looked at is exact words. An item keeps the hash of each text that it was released with, its statement and its
quotes; a scan passes over those and over nothing else, so other words of the same item are scanned as ever.

Source: docs/adr/0021-memory.md.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from everfold.core.extraction.candidates import list_item_threats
from everfold.core.memory.items import Evidence, Item
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.errors import InvalidInputError


def plan_release(item: Item, *, now: datetime) -> Item:
    """The item, active again. Its origin stays: what came from outside is fenced as before.

    Raises:
        InvalidInputError: the item is not in quarantine.
    """
    if item.status != "quarantined":
        raise InvalidInputError(
            f"item {item.id} is {item.status}; only one in quarantine can be released: list them", item=item.id
        )
    return replace(
        item,
        status="active",
        shelf="archive" if item.authority <= AUTHORITY["tool"] else "block",
        threats=(),
        released=tuple(dict.fromkeys(map(_hash, (item.statement, *(one.quote for one in item.evidence))))),
        revision=item.revision + 1,
        changed_at=now,
        written_by="user",
    )


def list_open_threats(
    statement: str, evidence: Sequence[Evidence], released: Sequence[str], *, origin: Origin
) -> tuple[str, ...]:
    """What a scan finds in a statement of this origin and its quotes, but for the texts that were released."""
    if not released:
        return list_item_threats(statement, evidence, origin=origin)
    unseen = [one for one in evidence if _hash(one.quote) not in released]
    return list_item_threats("" if _hash(statement) in released else statement, unseen, origin=origin)


def let_pass(released: Sequence[str], statement: str, *, origin: Origin) -> tuple[str, ...]:
    """What is released once a person has written a statement into an item of this origin: its words, if a scan finds them."""
    if not list_open_threats(statement, (), released, origin=origin):
        return tuple(released)
    return (*released, _hash(statement))


def keep_released(released: Sequence[str], texts: Iterable[str]) -> tuple[str, ...]:
    """Of what was released, what is still there: no hash of erased words stays."""
    left = set(map(_hash, texts)) if released else set()
    return tuple(hash_ for hash_ in released if hash_ in left)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
