"""Stores: where logs, compactions and their search index live.

Every method is atomic: it does all that it says or raises and has done nothing. A change of state names the revision
that it expects, and raises `ConflictError` when the state is another; the caller reads again and decides again. What a
session shares with its parent is read through its lineage, so callers speak of sequence numbers only.

Raises, everywhere: `StoreUnavailableError` (locked, full, read-only), `CorruptStoreError`, `NotFoundError` (unknown id).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from everfold.core.forgetting.messages import Erasure
from everfold.core.log.appending import AppendPlan
from everfold.core.log.messages import Message, Note
from everfold.core.log.retracting import Retraction
from everfold.core.log.search_filters import ANY_MESSAGE, ANY_SESSION, SearchFilter, SessionFilter
from everfold.core.log.sessions import SessionRecord, SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.memory.records import TurnRecall
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery
from everfold.ports.access import AccessStore
from everfold.ports.activity import ActivityStore
from everfold.ports.browsing import BrowsingStore
from everfold.ports.compactions import CompactionStore, WorkStore
from everfold.ports.conversations import ConversationStore
from everfold.ports.following import FollowingStore
from everfold.ports.forgetting import ForgettingStore
from everfold.ports.leases import LeaseStore
from everfold.ports.memory import ExtractionStore, FileStore, ItemStore, MemoryRecordStore, TopicStore
from everfold.ports.overview import OverviewStore
from everfold.ports.usage import UsageStore
from everfold.ports.users import UserStore
from everfold.ports.vectors import VectorStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContent:
    """The bytes of one stored message, for verification."""

    seq: int
    content: bytes
    content_hash: str
    is_erased: bool
    is_retracted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One ranked message of a search. `score` is positive; higher is better."""

    session_id: SessionId
    seq: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """The place of a message that a search over several users found."""

    user_id: UserId
    session_id: SessionId
    seq: int


class SessionStore(Protocol):
    """Sessions by user and agent."""

    async def create_session(
        self, record: SessionRecord, state: SessionState, *, first: AppendPlan | None = None
    ) -> None:
        """Store a session with its first state, and its first messages with it, as planned from that state.

        If it is current, the one before it is so no longer, in the same transaction.

        Raises:
            ConflictError: the id exists, or another session became current for the same user, agent and session key
                meanwhile (`record.parent_id` is not the current one), or a message was erased from the parent of a
                branch after its state was read (`state.epoch` is not the parent's).
        """
        ...

    async def get_session(self, session_id: SessionId) -> SessionRecord:
        """The session with this id."""
        ...

    async def find_current_session(
        self, user_id: UserId, agent_id: AgentId, session_key: str = ""
    ) -> SessionRecord | None:
        """The current session of a user and an agent under a session key; the empty one is that of sessions without."""
        ...

    async def list_sessions(
        self,
        *,
        user_id: UserId | None,
        agent_id: AgentId | None,
        after: SessionId | None,
        limit_count: int,
        only: SessionFilter = ANY_SESSION,
    ) -> list[SessionRecord]:
        """Sessions that a filter lets through, in the order of their creation, after the given one."""
        ...

    async def make_current(self, session_id: SessionId) -> SessionRecord:
        """Make a session the current one of its user, agent and session key, and give it."""
        ...

    async def change_settings(
        self, session_id: SessionId, settings: SessionSettings, state: SessionState, *, expected_revision: int
    ) -> None:
        """Replace what the session holds from its opening, with its state; `state.revision` is one more than expected.

        Programs that cache the session see the new revision and read it again.

        Raises:
            ConflictError: the state is not of the expected revision.
        """
        ...

    async def set_title(self, session_id: SessionId, title: str) -> None:
        """Replace the title of a session, and raise the revision of its state by one, so that programs that cache the session read it again."""
        ...

    async def list_used(self, session_ids: Sequence[SessionId]) -> dict[SessionId, bool]:
        """The ids that are in use, each with whether its session exists; False means that it was erased."""
        ...


class LogStore(Protocol):
    """Messages and the state of their session."""

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """Write an append plan: its messages with their search rows, settled messages, what its turn shows, the new state.

        Raises:
            ConflictError: the state is not of the expected revision, or a client id exists already.
        """
        ...

    async def read_turn_recall(self, session_id: SessionId) -> TurnRecall | None:
        """What a turn of the session showed beside the log, as the last append that brought one wrote it.

        None where there was none, or where something of the user's was erased since.
        """
        ...

    async def read_state(self, session_id: SessionId, *, known: SessionState | None = None) -> SessionState:
        """The session's state; `known` itself where the session is still at its revision."""
        ...

    async def write_state(self, session_id: SessionId, state: SessionState, *, expected_revision: int) -> None:
        """Replace the session's state; `state.revision` is one more than expected.

        Raises:
            ConflictError: the state is not of the expected revision.
        """
        ...

    async def read_messages(
        self, session_id: SessionId, seqs: Sequence[int], *, retracted: bool = False
    ) -> list[Message]:
        """Messages by sequence number (rising), in that order. Erased and unknown ones are left out.

        So are retracted ones, unless they are asked for.
        """
        ...

    async def read_notes(self, session_id: SessionId, seqs: Sequence[int]) -> list[Note]:
        """The same without content; of erased and retracted messages too, without words, calls and hash."""
        ...

    async def find_client_ids(self, session_id: SessionId, client_ids: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Sequence number and content hash of the messages that were appended under these client ids."""
        ...

    async def find_boundary(self, session_id: SessionId, seq: int) -> int | None:
        """The first message at or after `seq` that ends a unit."""
        ...


class HistoryStore(Protocol):
    """Search over messages, and the rare operations on what is stored."""

    async def search(
        self,
        query: SearchQuery,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        session_id: SessionId | None,
        limit_count: int,
        only: SearchFilter = ANY_MESSAGE,
    ) -> list[Hit]:
        """The best messages of one user that a filter admits, best first. With a session: only what its lineage holds.

        A filter drops messages and changes no score: the best of those left are given, however many better ones it drops.
        """
        ...

    async def search_users(
        self,
        query: SearchQuery,
        *,
        user_ids: Sequence[UserId],
        agent_id: AgentId | None,
        limit_count: int,
        only: SearchFilter = ANY_MESSAGE,
    ) -> list[FoundMessage]:
        """The newest messages of any of these users that hold every term themselves, the one that was stored last first.

        Words of what was said before a message do not count. A query without a term finds nothing.
        """
        ...

    async def read_contents(self, session_id: SessionId, first_seq: int, last_seq: int) -> list[StoredContent]:
        """The stored bytes of a range, for verification."""
        ...

    async def find_hashes(self, session_id: SessionId, hashes: Sequence[str]) -> dict[str, int]:
        """The newest message of a session's log with each of these content hashes; unknown and retracted ones are left out."""
        ...

    async def list_sharing(self, session_id: SessionId, seq: int) -> list[SessionRecord]:
        """Every session whose log holds this message of a session's log, in the order of their creation.

        Raises:
            NotFoundError: there is no such session, or it was erased since.
        """
        ...

    async def erase_message(self, erasure: Erasure, *, erased_at: datetime) -> None:
        """Remove a message's content, its extract lines and its search row, and replace what was made from it.

        The titles of the sessions that hold it go too, since they may tell of it. A tombstone stays: number, time, kind, sizes
        and client id. A search row of a message that was itself erased is
        not written. What the erase changes of memory is written as `MemoryStore.change_memory` writes it. What is gone
        is overwritten in the store's own files as far as no other reader holds them.

        Raises:
            ConflictError: a state is not of the expected revision (one less than its new one), or the sessions that
                hold the message are others, or the version of a change of memory is not the expected one.
        """
        ...

    async def retract_messages(self, retraction: Retraction) -> None:
        """Take back the newest messages: no search finds them, they count for nothing, and their content stays.

        Raises:
            ConflictError: the state is not of the expected revision (one less than its new one), or another session's
                log holds one of the messages, or the version of a change of memory is not the expected one.
        """
        ...

    async def check_integrity(self) -> list[str]:
        """Problems of the store's own files; empty when there are none."""
        ...


class Store(
    SessionStore,
    UserStore,
    LogStore,
    CompactionStore,
    WorkStore,
    LeaseStore,
    HistoryStore,
    ConversationStore,
    BrowsingStore,
    UsageStore,
    ItemStore,
    TopicStore,
    FileStore,
    ExtractionStore,
    MemoryRecordStore,
    ForgettingStore,
    VectorStore,
    AccessStore,
    OverviewStore,
    FollowingStore,
    ActivityStore,
    Protocol,
):
    """All of it in one place, so that one transaction can reach everything."""

    async def close(self) -> None:
        """Let go of files and threads. Nothing is lost: every call before it was durable when it returned."""
        ...
