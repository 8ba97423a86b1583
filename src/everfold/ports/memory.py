"""Memory stores: items, topics and what belongs to them, per user.

Reads give the newest revision of each item or topic unless they say otherwise. What is of the agent tier is given only
to its own agent: every method that takes an agent gives that agent's items and topics and those of the user tier, and
None gives all of the user's, for their owner. Ranges and orders are as stated; nothing here knows budgets or rules.

Raises, everywhere: `StoreUnavailableError`, `CorruptStoreError`, `NotFoundError` (unknown id).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from everfold.core.memory.files import FileEntry, MemoryFile
from everfold.core.memory.items import Item, ItemId, ItemStatus
from everfold.core.memory.records import (
    AuditAction,
    AuditEntry,
    AuditPlace,
    Extraction,
    MemoryChange,
    MemoryVersion,
    RelatedItems,
    SessionMemory,
)
from everfold.core.memory.topics import Dream, DreamId, Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery
from everfold.ports.leases import LeaseStore


class ItemStore(Protocol):
    """Items, and the one method that changes memory."""

    async def read_memory_version(self, user_id: UserId) -> MemoryVersion:
        """Where the user's memory stands; revision 0 for a user without any, known or not."""
        ...

    async def change_memory(self, change: MemoryChange) -> MemoryVersion:
        """Write everything of a change and give the new version.

        What it erases is overwritten in the store's own files as far as no other reader holds them. A revision of an
        item or topic comes after its newest one; an extraction is stored once.

        Raises:
            ConflictError: the version is not the expected one, or a revision is not after the newest, or an id is that of
                another user's, or of an extraction that is stored, or the snapshot was made before the last erase.
            NotFoundError: the session is unknown.
        """
        ...

    async def list_items(
        self,
        user_id: UserId,
        agent_id: AgentId | None,
        *,
        statuses: Sequence[ItemStatus] = ("active",),
        is_block: bool = False,
        changed_after: int | None = None,
        after: ItemId | None = None,
        limit_count: int,
    ) -> list[Item]:
        """Items in the order in which memory first had them, after the given one.

        Args:
            user_id: Whose.
            agent_id: See the module.
            statuses: Only these.
            is_block: Only those of the block.
            changed_after: Only those whose newest revision was written by a change after this revision of memory.
            after: The last one of the page before.
            limit_count: The most to give.

        Raises:
            NotFoundError: the user, or the agent, is given no item `after`.
        """
        ...

    async def read_items(self, user_id: UserId, agent_id: AgentId | None, item_ids: Sequence[ItemId]) -> list[Item]:
        """The newest revisions of a user's items, in the order of the ids, each once; all other ids are left out."""
        ...

    async def list_revisions(self, item_id: ItemId) -> list[Item]:
        """Every revision of an item, oldest first."""
        ...

    async def list_histories(self, user_id: UserId, item_ids: Sequence[ItemId]) -> list[list[Item]]:
        """Every revision of each of a user's items, oldest first, in the order of the ids; all other ids are left out."""
        ...

    async def find_related(
        self,
        user_id: UserId,
        agent_id: AgentId | None,
        *,
        identities: Sequence[str] = (),
        messages: Sequence[tuple[SessionId, int]] = (),
        queries: Sequence[SearchQuery] = (),
        like_count: int = 0,
        block_count: int = 0,
    ) -> RelatedItems:
        """The items that new ones may have to do with.

        Args:
            user_id: Whose.
            agent_id: See the module.
            identities: Of the items that are the same; one that nothing has gives none.
            messages: For each, by the session that stores it and its number, the user's items that hold no more.
            queries: For each, items that share its rare words, best first, then the newest that share a common one. O(items
                given), however many items share a common word.
            like_count: The most to give for each query.
            block_count: How many items of the block to give, the first ones.
        """
        ...

    async def find_quoting(self, session_id: SessionId, seqs: Sequence[int] | None) -> list[Item]:
        """The items that have one of these messages as evidence in any revision, whatever their status; each once.

        The session is the one that stores the messages. None asks for any message that it stores.
        """
        ...

    async def search_items(
        self, query: SearchQuery, user_id: UserId, agent_id: AgentId | None, *, limit_count: int
    ) -> list[tuple[Item, float]]:
        """Active items whose statement or quote matches, best first, of equal ones the newer, with a positive score.

        Over many items, the words that most of them hold may be left out of the question.
        """
        ...


class TopicStore(Protocol):
    """Topics and the dreams that write them."""

    async def list_topics(self, user_id: UserId, agent_id: AgentId | None) -> list[Topic]:
        """Active topics by tier (user first) and name, expired ones included."""
        ...

    async def list_topic_revisions(self, user_id: UserId, agent_id: AgentId | None, name: str) -> list[Topic]:
        """Every revision of the topics that have this name now, oldest first; none where there is no such topic.

        Topic by topic, in the order in which memory first had them.
        """
        ...

    async def list_topic_histories(self, user_id: UserId) -> list[list[Topic]]:
        """Every topic of a user, whatever its status, in the order in which memory first had them.

        Each with all its revisions, oldest first. O(topics and revisions of the user).
        """
        ...

    async def get_dream(self, dream_id: DreamId) -> Dream:
        """The dream with this id."""
        ...

    async def list_dreams(self, user_id: UserId, agent_id: AgentId | None, *, limit_count: int) -> list[Dream]:
        """Dreams, newest first."""
        ...


class FileStore(Protocol):
    """Files that agents keep for themselves. They change with the rest of memory, in one change of it."""

    async def list_files(self, user_id: UserId, agent_id: AgentId) -> list[FileEntry]:
        """The files of an agent for a user, by path."""
        ...

    async def read_file(self, user_id: UserId, agent_id: AgentId, path: str) -> MemoryFile | None:
        """One file; None where there is none."""
        ...

    async def read_files(self, user_id: UserId) -> list[MemoryFile]:
        """All files of a user, by agent and path."""
        ...


class ExtractionStore(Protocol):
    """What extractions found, and which of it no dream has read."""

    async def read_cursor(self, user_id: UserId, agent_id: AgentId) -> int:
        """The ordinal of the last extraction that a dream has consumed; 0 before the first."""
        ...

    async def list_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, after_ordinal: int, limit_count: int
    ) -> list[Extraction]:
        """Extractions by ordinal."""
        ...

    async def list_latest_extractions(
        self, user_id: UserId, agent_id: AgentId | None, *, before_ordinal: int | None, limit_count: int
    ) -> list[Extraction]:
        """Extractions from the newest on, by falling ordinal; only those below one where it is given."""
        ...

    async def list_dreamable(self, idle_before: datetime, limit_count: int) -> list[tuple[UserId, AgentId]]:
        """Users and agents with something to dream of, that have been idle since before a moment.

        They have an extraction above their cursor. Idle: the newest message with the source `said` in any of their
        sessions, erased ones included, and the newest of all their extractions (`made_at`) are both before the moment.
        Those without a proposed dream come first, then those that were active last, then by user and agent: a pair
        that cannot be dreamed moves to the end.
        """
        ...


class MemoryRecordStore(Protocol):
    """Records of memory's own work: extraction and snapshot of each session, and the audit."""

    async def read_session_memory(self, session_id: SessionId) -> SessionMemory:
        """The record of a session; an empty one before the first is stored."""
        ...

    async def read_memory_of(self, session_id: SessionId) -> tuple[MemoryVersion, SessionMemory]:
        """Where the memory of a session's user stands, and the session's record, at one moment."""
        ...

    async def write_session_memory(self, memory: SessionMemory, *, expected: SessionMemory) -> None:
        """Replace it, without a change of memory.

        Raises:
            ConflictError: what is kept is not the expected, or the snapshot was made before the last erase.
        """
        ...

    async def record_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Keep entries that belong to no change."""
        ...

    async def list_audit(
        self,
        user_id: UserId,
        *,
        action: AuditAction | None = None,
        before: AuditPlace | None = None,
        limit_count: int,
    ) -> list[AuditEntry]:
        """Entries by their time, newest first, of one time the last written first; only those before a place.

        The place of a page's last entry gives the next page, without a gap. With an action only entries of it, for which
        every one that is newer may be looked at.
        """
        ...

    async def wipe_memory(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> dict[str, int]:
        """Remove everything that memory has of a user, raise the epoch, and give how much went from each bucket.

        Buckets: `items`, `topics`, `agent_topics`, `extractions`, `dreams`, `sessions` (snapshots), `revisions` (older
        ones of items and topics), `quotes` (the messages that items name as evidence), `cursors` (of the dreamer), and
        `vectors` (of items and topics). The audit stays, with this entry, whose `counts` are filled in. Everything else
        of the user stays.

        Raises:
            ConflictError: the version is not the expected one.
        """
        ...


class MemoryStore(ItemStore, TopicStore, FileStore, ExtractionStore, LeaseStore, MemoryRecordStore, Protocol):
    """All of memory in one place."""
