"""The arguments of hooks, and how their hints are joined.

Every value here is made for one call of one plug-in: its `counters` are that plug-in's own, everything else is shared
and is not to be changed.

Source: DESIGN section 2 (coordinator).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from everfold.core.compaction.planning import Trigger
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import CompactionId, SessionId

Counters: TypeAlias = dict[str, int]
"""What one plug-in counts in one session. Kept in memory while the engine lives; numbers only, so that an erase has
nothing to look for here."""

HookName = Literal[
    "on_pre_compress", "on_session_switch", "on_session_end", "on_turn_start", "on_turn_end", "on_memory_write"
]

SwitchCause = Literal["open", "new", "reset", "branch", "rewind", "resume", "compaction"]
"""Why another session is used from now on. open: the first one of a user and an agent was made. compaction: the
session was rotated because it compacted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingFold:
    """What is about to be folded, before any of it leaves.

    Attributes:
        messages: Exactly the messages that the event folds, oldest first, as they are stored. What the event keeps
            is not among them.
    """

    session: SessionRecord
    compaction_id: CompactionId
    trigger: Trigger
    messages: tuple[Message, ...]
    counters: Counters = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSwitch:
    """Another session is used from now on; the store says so already.

    Attributes:
        session: The session that is used now. It is not the current one after a plain branch.
        parent_id: The session that it follows or branched from; None where it has none.
        previous_id: The session that was current until now; None where none was.
    """

    session: SessionRecord
    parent_id: SessionId | None
    previous_id: SessionId | None
    cause: SwitchCause
    counters: Counters = field(default_factory=dict, compare=False)

    @property
    def is_reset(self) -> bool:
        """The counters start again; otherwise `counters` continues."""
        return self.cause == "reset"

    @property
    def is_rewound(self) -> bool:
        """The session continues from an earlier message of its parent."""
        return self.cause == "rewind"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """A session that stopped being the current one; every message of it is stored.

    Attributes:
        session: The session that ended; it can be resumed.
        cause: What ended it.
    """

    session: SessionRecord
    cause: SwitchCause
    counters: Counters = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A user message that began a turn, once it is stored.

    Attributes:
        turn_seq: The message.
        turns_count: How many turns the log has, this one included.
        text: What the user said; all that can be read in the message.
    """

    session: SessionRecord
    turn_seq: int
    turns_count: int
    text: str
    counters: Counters = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """An answer that ended a turn, once it is stored: an assistant message without calls.

    A turn that is answered again ends again, with the same `turn_seq`. A turn without an answer has no end.

    Attributes:
        turn_seq: The user message that the turn began with.
        last_seq: The answer.
        text: What the answer says.
    """

    session: SessionRecord
    turn_seq: int
    last_seq: int
    text: str
    counters: Counters = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryWrite:
    """Something that was written to memory.

    Attributes:
        tier: Whom it is about: the person, or the agent's own work.
        text: What memory says now; empty after a removal.
    """

    session: SessionRecord
    tier: Literal["user", "agent"]
    action: Literal["add", "replace", "remove"]
    text: str
    counters: Counters = field(default_factory=dict, compare=False)


HookCall: TypeAlias = PendingFold | SessionSwitch | SessionEnd | TurnStart | TurnEnd | MemoryWrite
"""What one call of a hook is about."""

HOOK_OF: Final[Mapping[type[HookCall], HookName]] = {
    PendingFold: "on_pre_compress",
    SessionSwitch: "on_session_switch",
    SessionEnd: "on_session_end",
    TurnStart: "on_turn_start",
    TurnEnd: "on_turn_end",
    MemoryWrite: "on_memory_write",
}
"""The hook that takes each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the plug-ins answered before a compaction.

    Attributes:
        text: All hints, joined and bounded; empty where there are none. It is a plug-in's word, not the user's: a
            prompt shows it inside a fence.
        called_count: How many plug-ins were asked.
        succeeded_count: How many answered in time and without an error, an empty hint included.
    """

    text: str = ""
    called_count: int = 0
    succeeded_count: int = 0


NO_HINTS = Hints()
