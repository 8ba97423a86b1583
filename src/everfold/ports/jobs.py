"""Jobs: work beside the turns as values, which any process that has the store can do.

A job names what to look at by ids and places, and holds no words of anybody. Whether there is still something to do is
decided by what the store says when the job is done, so that a job that is lost, or done twice, does no harm.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeSession:
    """Begin what is due in a session, and take its compactions further."""

    session_id: SessionId
    kind: Literal["wake"] = "wake"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return self.session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptCompaction:
    """Attempt a compaction: a model's digest and the extraction."""

    session_id: SessionId
    compaction_id: CompactionId
    kind: Literal["attempt"] = "attempt"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return self.compaction_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleBreaks:
    """Store that windows have reported so many cache breaks of all that a session has had."""

    session_id: SessionId
    reported_count: int
    kind: Literal["settle"] = "settle"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"breaks of {self.session_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshSession:
    """Ask the context sources for a session."""

    session_id: SessionId
    kind: Literal["refresh"] = "refresh"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"refresh of {self.session_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractSession:
    """Have a model read what was said in a session since it last did."""

    session_id: SessionId
    kind: Literal["extract"] = "extract"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"extraction of {self.session_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedUser:
    """Make the vectors that a user lacks."""

    user_id: UserId
    kind: Literal["embed"] = "embed"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"vectors of {self.user_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamPair:
    """Dream for a user and an agent that are idle."""

    user_id: UserId
    agent_id: AgentId
    kind: Literal["dream"] = "dream"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"dream {self.user_id} {self.agent_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRange:
    """Dream of what was found in messages that have just left a window."""

    session_id: SessionId
    first_seq: int
    last_seq: int
    kind: Literal["dream_range"] = "dream_range"

    @property
    def name(self) -> str:
        """Jobs of one name are done one after the other."""
        return f"mini-dream of {self.session_id}"


MemoryJob: TypeAlias = ExtractSession | EmbedUser | DreamPair | DreamRange
"""Work on what is remembered."""

Job: TypeAlias = WakeSession | AttemptCompaction | SettleBreaks | RefreshSession | MemoryJob
