"""The store's part for browsing: what lists and pictures read; no turn uses it.

See `everfold.ports.stores` for what holds for every method of a store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from everfold.core.compaction.record import Compaction
from everfold.core.log.messages import Message
from everfold.core.log.search_filters import ANY_SESSION, SessionFilter
from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFigures:
    """How long a session's log is, and how much of it is compacted. Fields as in `SessionState` and `Layout`."""

    last_seq: int
    watermark: int
    epoch: int
    active_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnds:
    """The messages that a session is recognised by; None where there is none, it was erased, or it is very long.

    Attributes:
        first: The first one of the user.
        newest: The newest one.
        asked: What the running turn began with.
    """

    first: Message | None
    newest: Message | None
    asked: Message | None


class BrowsingStore(Protocol):
    """Sessions, compactions and messages, page by page. No method takes longer for a longer log."""

    async def list_newest_sessions(
        self,
        *,
        user_id: UserId | None,
        agent_id: AgentId | None,
        before: SessionId | None,
        limit_count: int,
        only: SessionFilter = ANY_SESSION,
    ) -> list[SessionRecord]:
        """Sessions that a filter lets through, against the order of their creation, those before the given one."""
        ...

    async def read_figures(self, session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
        """How far sessions are; unknown ones are left out."""
        ...

    async def read_ends(self, session_ids: Sequence[SessionId], *, most_bytes: int) -> dict[SessionId, SessionEnds]:
        """The first and the newest messages of sessions, those of at most so many bytes; unknown sessions are left out."""
        ...

    async def list_refreshes(self, session_id: SessionId) -> list[int]:
        """The context refreshes of a session's log that are not erased, rising."""
        ...

    async def list_erased(self, session_id: SessionId, *, retracted: bool = False) -> list[int]:
        """The erased messages of a session's log, rising, and the retracted ones where they are asked for."""
        ...

    async def find_revision(self, compaction_id: CompactionId) -> Compaction | None:
        """The newest compaction that replaced the digest of this one."""
        ...
