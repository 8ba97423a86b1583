"""Items: single statements of memory, each with its exact quotes and the messages that they stand in.

An item is never changed in place. Whatever happens to it (it is said again, moved to the archive, replaced, edited,
erased) is a new revision of it; the newest revision is what it is now, and the older ones say what it was.

Source: DESIGN section 4, "Item".
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, NewType

from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.text.words import read_matter, read_words

ItemId = NewType("ItemId", str)

ItemKind = Literal["fact", "preference", "decision", "task", "open_item"]
Tier = Literal["user", "agent"]
"""user: who the person is, shared by all their agents. agent: what one agent noted about its work with them."""

ItemStatus = Literal["active", "superseded", "expired", "quarantined", "erased"]
"""Only active items are ever shown to a model. Quarantined ones are visible to their owner; of erased ones no word is
left."""

Shelf = Literal["block", "archive"]
"""block: in the text that is always injected, within its budget. archive: reachable by recall."""

Writer = Literal["heuristic", "model", "user", "agent", "dream", "erase", "import"]
"""Who made a revision."""


class Evidence(NamedTuple):
    """An exact quote of one message: `text[start:start + len(quote)] == quote`, where its content has this hash."""

    session_id: SessionId
    seq: int
    start: int
    quote: str
    content_hash: str
    origin: Origin
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One revision of a statement.

    Attributes:
        user_id: Whose memory it is in.
        agent_id: Who noted it; an item of the agent tier is that agent's alone.
        statement: What memory says, one or two sentences; exact words of the person where `is_explicit`.
        evidence: Where it was said, oldest first; empty for what was entered by hand. Of an erased item blanks stand for
            the quotes, where the messages are still there.
        origin: The lowest of whatever it was derived from; see `everfold.core.primitives.origins`.
        confidence: 0 to 1, as its finder states it.
        valid_from: Since when it is so.
        valid_to: Until when; None where no end is known. An item past it is expired.
        recorded_at: When memory first had it.
        last_seen_at: When it was last said, or entered.
        changed_at: When this revision was made.
        revision: 1 for the first.
        identity: Equal for what says the same; see `identify`.
        supersedes: The item that this one replaced.
        superseded_by: The item that replaced this one.
        is_explicit: The person asked to remember it: its words stay as they are.
        threats: What the scan found; the item is quarantined then.
        written_by: Who made this revision.
        released: Hashes of the texts that a person has let pass; see `everfold.core.merging.releasing`.
        is_by_hand: A person or an agent entered it, so it stays without any quote; see `is_entered`.
    """

    id: ItemId
    user_id: UserId
    agent_id: AgentId
    tier: Tier
    kind: ItemKind
    statement: str
    evidence: tuple[Evidence, ...]
    origin: Origin
    confidence: float
    valid_from: datetime
    recorded_at: datetime
    last_seen_at: datetime
    changed_at: datetime
    identity: str
    written_by: Writer
    valid_to: datetime | None = None
    status: ItemStatus = "active"
    shelf: Shelf = "block"
    revision: int = 1
    supersedes: ItemId | None = None
    superseded_by: ItemId | None = None
    is_explicit: bool = False
    threats: tuple[str, ...] = ()
    released: tuple[str, ...] = ()
    is_by_hand: bool = False

    @property
    def authority(self) -> int:
        """How much it may decide."""
        return AUTHORITY[self.origin]

    def is_current(self, now: datetime) -> bool:
        """Active, and not past its end."""
        return self.status_at(now) == "active"

    @property
    def is_held_back(self) -> bool:
        """Whether a scan has held it back: in quarantine, or past its end since. Its user sees it, no model does."""
        return self.status == "quarantined" or bool(self.threats)

    @property
    def is_undone(self) -> bool:
        """Superseded by what it had superseded itself: an undo has put it behind that."""
        return self.status == "superseded" and self.supersedes is not None and self.supersedes == self.superseded_by

    def status_at(self, now: datetime) -> ItemStatus:
        """The status, where one that is active past its end has expired."""
        is_past = self.status == "active" and self.valid_to is not None and self.valid_to <= now
        return "expired" if is_past else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One statement that an extraction found, before memory has decided what to do with it.

    Attributes:
        evidence: At least one, unless it was entered by hand.
        replaces: The item that is not so any more because of it, as a model says; None leaves it to the rules.
        shelf: Where its item goes; that of what it replaces, or repeats, where that is the block.
    """

    kind: ItemKind
    tier: Tier
    statement: str
    evidence: tuple[Evidence, ...]
    origin: Origin
    confidence: float
    valid_from: datetime
    valid_to: datetime | None = None
    is_explicit: bool = False
    replaces: ItemId | None = None
    shelf: Shelf = "block"


def is_entered(revisions: Sequence[Item]) -> bool:
    """Whether an item was entered by hand, given every revision of it, oldest first.

    One that was entered before `is_by_hand` was kept quotes nothing in its first revision.
    """
    return revisions[-1].is_by_hand or not revisions[0].evidence


def identify(statement: str, *, tier: Tier, agent_id: AgentId) -> str:
    """Equal for statements of the same words in the same order, whatever their case, marks and endings.

    Items of the user tier are equal over all agents of the user, those of the agent tier within one.
    """
    place = "" if tier == "user" else agent_id
    content = "\x00".join((tier, place, " ".join(read_words(statement))))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def index_item(item: Item) -> str:
    """The words that an item is found by: those of its statement, and of its quotes that say more."""
    quotes = (one.quote for one in item.evidence if one.quote not in item.statement)
    return " ".join(filter(None, map(read_matter, (item.statement, *quotes))))
