"""What memory is kept as, beside its items and topics: versions, extractions, the frozen snapshot, audit, and changes.

A change is everything that one decision writes, all or nothing. It names the revision of the user's memory that it was
decided over; where that is another by now it is refused, and decided again over what is there. It names the epoch too:
what was written from words that have been erased since is not decided again but dropped.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from everfold.core.memory.files import FilePlace, MemoryFile
from everfold.core.memory.items import Item, ItemId, Writer
from everfold.core.memory.topics import Dream, Topic
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.errors import InvalidInputError

AuditAction = Literal["read", "write", "erase", "wipe", "export", "import", "extract", "dream", "refuse", "release"]

MemoryPart = Literal["items", "topics", "quarantine", "extractions", "dreams", "files"]
"""What memory consists of, as it is looked at. In quarantine is what a scan has held back of items and topics."""

MEMORY_PARTS: tuple[MemoryPart, ...] = get_args(MemoryPart)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """Where a user's memory stands; revision 0 before anything was written.

    Attributes:
        revision: Grows by one with every change.
        epoch: Raised by every erase and wipe.
    """

    revision: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedItems:
    """What a decision about new items is made over.

    Attributes:
        version: Where memory stood before the rest was read.
        same: The items with the identities, whatever their status, in the order in which memory first had them.
        like: Active items that share words with the queries, each once.
        block: The first active items of the block.
        gone: Erased, expired and superseded items that have one of the messages as evidence, each once.
    """

    version: MemoryVersion = MemoryVersion()
    same: tuple[Item, ...] = ()
    like: tuple[Item, ...] = ()
    block: tuple[Item, ...] = ()
    gone: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMemory:
    """What a session's memory work has come to.

    Attributes:
        extracted_seq: Messages up to this one have been through the heuristic pass.
        model_seq: Messages up to this one have been through the model's.
        tokens_count: Visible tokens of what came after `model_seq`, as of `extracted_seq`.
        calls_count: Tool calls among it.
        snapshot: The frozen text of memory in the window; empty for none.
        snapshot_revision: The revision of memory that it shows.
        snapshot_compaction: The compaction after which it was made; empty before the first.
        has_snapshot: One was made, even if memory had nothing. An erase takes every snapshot of the user away.
    """

    session_id: SessionId
    extracted_seq: int = 0
    model_seq: int = 0
    tokens_count: int = 0
    calls_count: int = 0
    snapshot: str = ""
    snapshot_revision: int = 0
    snapshot_compaction: str = ""
    has_snapshot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """One pass over messages and what it found. It stays when its session is erased.

    Attributes:
        ordinal: Grows with every extraction of a user and agent; given by the store.
        items: Every item that it added, or saw again, in its order.
        counts: How many candidates of each kind: facts, preferences, decisions, tasks, open items.
        refused_count: Candidates that were not taken: they quote nothing, or a scan held them back.
        is_session_gone: Its session has been erased.
    """

    id: str
    user_id: UserId
    agent_id: AgentId
    session_id: SessionId
    compaction_id: CompactionId | None
    first_seq: int
    last_seq: int
    written_by: Writer
    made_at: datetime
    items: tuple[ItemId, ...]
    counts: tuple[int, int, int, int, int]
    refused_count: int = 0
    ordinal: int = 0
    is_session_gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One read, write or erase of memory. It holds ids and counts, never what memory says.

    Attributes:
        actor: `user`, `agent:NAME`, `dreamer`, `extraction`, or the caller's name.
        about: Ids of items, topics, dreams or sessions.
        counts: What it came to, by name.
        ordinal: Grows with every entry of the store, which gives it: of entries of one time the later written has the
            higher one. Two entries that say the same are equal whatever theirs are.
    """

    at: datetime
    user_id: UserId
    agent_id: AgentId | None
    actor: str
    action: AuditAction
    about: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    ordinal: int = field(default=0, compare=False)


class AuditPlace(NamedTuple):
    """A place among the entries of an audit: before it come those of an earlier time, or of this time and a lower ordinal.

    With ordinal 0 it is the time itself.
    """

    at: datetime
    ordinal: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallShown:
    """What recall found for a turn: its text, and what each entry of it is and why, for the report."""

    text: str = ""
    entries: tuple[str, ...] = ()


NOTHING_SHOWN = RecallShown()


class TurnMoment(NamedTuple):
    """One turn of a session under one layout and limit, in one epoch of its log and, where it shows it, of the memory.

    `is_begun` says that its user message is shown, behind no open step; `refresh_seq` is the context refresh that is.
    """

    session_id: SessionId
    turn_seq: int
    compaction_id: str
    epoch: int
    memory_epoch: int | None
    limit_tokens: int | None
    is_begun: bool = True
    refresh_seq: int = 0


class TurnRecall(NamedTuple):
    """What delta and recall show in every window of a turn; nothing any more once they were dropped."""

    turn: TurnMoment
    delta: str = ""
    recalled: RecallShown = NOTHING_SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """Everything that one decision writes.

    Attributes:
        expected: The version that it was decided over.
        items: New revisions; each becomes the newest of its item.
        topics: The same for topics.
        session: Replaces what is kept for the session.
        dream: Is stored, or replaces the one with its id.
        scrubbed: Dreams that are stored without what is erased of them, in place of those with their ids.
        read_through: Moves the dreamer's cursor of this user and agent.
        files: Are stored, in place of those with their paths.
        gone_files: Are removed, before the others are stored; nothing of them stays in the store's own files.
        has_erased: Raises the epoch; every frozen snapshot of the user goes, since it may hold erased words. See
            `forgets` for items and topics.

    Raises:
        InvalidInputError: something in it is of another user.
    """

    user_id: UserId
    agent_id: AgentId
    expected: MemoryVersion
    items: tuple[Item, ...] = ()
    topics: tuple[Topic, ...] = ()
    extraction: Extraction | None = None
    session: SessionMemory | None = None
    dream: Dream | None = None
    read_through: int | None = None
    audit: tuple[AuditEntry, ...] = ()
    has_erased: bool = False
    scrubbed: tuple[Dream, ...] = ()
    files: tuple[MemoryFile, ...] = ()
    gone_files: tuple[FilePlace, ...] = ()

    def __post_init__(self) -> None:
        others = {row.user_id for row in self.rows} | {entry.user_id for entry in self.audit}
        others |= {one.user_id for one in (self.extraction, self.dream, *self.scrubbed, *self.files) if one is not None}
        if others - {self.user_id}:
            raise InvalidInputError(
                f"a change of the memory of user {self.user_id} holds something of {', '.join(sorted(others))}; make a "
                "change for each user",
                user=self.user_id,
            )

    @property
    def rows(self) -> tuple[Item | Topic, ...]:
        """Its revisions of items and topics."""
        return (*self.items, *self.topics)

    def forgets(self, row: Item | Topic) -> bool:
        """Whether older revisions of an item or topic are removed: it was erased, or used erased words.

        A topic is removed from the dreams that wrote it, too.
        """
        return self.has_erased or row.status == "erased"

    @property
    def is_forgetting(self) -> bool:
        """Whether anything is erased by it."""
        return self.has_erased or bool(self.gone_files) or any(row.status == "erased" for row in self.rows)

    @property
    def next_version(self) -> MemoryVersion:
        """The version after it. Items, topics and files move the revision: bookkeeping makes no other decision stale."""
        moves = bool(self.rows or self.files or self.gone_files or self.has_erased)
        return MemoryVersion(revision=self.expected.revision + moves, epoch=self.expected.epoch + self.has_erased)


def list_touched(change: MemoryChange) -> dict[AgentId | None, tuple[MemoryPart, ...]]:
    """Which parts of memory a change touches, by agent; None for those that all agents of the user share.

    Bookkeeping alone touches nothing.
    """
    parts: dict[AgentId | None, set[MemoryPart]] = {}
    is_release = any(entry.action == "release" for entry in change.audit)
    for row in change.rows:
        of_agent = parts.setdefault(row.agent_id if row.tier == "agent" else None, set())
        of_agent.add("items" if isinstance(row, Item) else "topics")
        if is_release or row.status in _MAY_LEAVE_QUARANTINE:
            of_agent.add("quarantine")
    if change.extraction is not None:
        parts.setdefault(change.extraction.agent_id, set()).add("extractions")
    for dream in (change.dream, *change.scrubbed):
        if dream is not None:
            parts.setdefault(dream.agent_id, set()).add("dreams")
    for agent_id in (*(file.agent_id for file in change.files), *(place.agent_id for place in change.gone_files)):
        parts.setdefault(agent_id, set()).add("files")
    return {agent_id: tuple(part for part in MEMORY_PARTS if part in found) for agent_id, found in parts.items()}


_MAY_LEAVE_QUARANTINE = frozenset({"quarantined", "erased"})
"""The statuses with which a row joins what is in quarantine, or may have been part of it."""
