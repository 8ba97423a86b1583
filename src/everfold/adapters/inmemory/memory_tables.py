"""What the in-memory store holds of memory."""

from dataclasses import dataclass, field

from everfold.core.items import Item, ItemId
from everfold.core.memory import AuditEntry, Extraction, MemoryHead, SessionMemory
from everfold.core.sessions import AgentId, SessionId, UserId
from everfold.core.topics import Dream, DreamId, Topic, TopicId


@dataclass(slots=True, kw_only=True)
class MemoryTables:
    """All of memory. Revisions are lists, oldest first; items and topics are in the order in which they came."""

    heads: dict[UserId, MemoryHead] = field(default_factory=dict)
    items: dict[ItemId, list[Item]] = field(default_factory=dict)
    written_at: dict[ItemId, int] = field(default_factory=dict)
    topics: dict[TopicId, list[Topic]] = field(default_factory=dict)
    cursors: dict[tuple[UserId, AgentId], int] = field(default_factory=dict)
    extractions: list[Extraction] = field(default_factory=list)
    dreams: dict[DreamId, Dream] = field(default_factory=dict)
    sessions: dict[SessionId, SessionMemory] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)
    last_ordinal: int = 0
