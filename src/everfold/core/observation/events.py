"""Events: what the engine did, in ids and figures, as services publish it to the stream.

No event holds a word of a message, a digest, a prompt or a hint, so that all of them may be logged and shown to
operators. A new event is a class here, its name in `Event`, a row in docs/reference/events.md, and one call of
`Stream.publish` after the store has committed what it says.
"""

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from everfold.core.compaction.folding import CompactionReport
from everfold.core.compaction.planning import Trigger
from everfold.core.digests.verification import FaultKind
from everfold.core.memory.items import Writer
from everfold.core.memory.records import MemoryPart
from everfold.core.memory.topics import DreamId, DreamState
from everfold.core.observation.hooks import HookName, SwitchCause
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.sources.refreshing import Cause

Generator = Literal["extractive", "abstractive"]
SkipReason = Literal["in_flight", "nothing_said", "no_room", "step_open"]
SessionPart = Literal["title", "settings", "messages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesAppended:
    """Messages are stored at the end of a log."""

    session_id: SessionId
    first_seq: int
    last_seq: int
    messages_count: int
    kind: Literal["messages_appended"] = "messages_appended"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageErased:
    """A message was erased, with what was derived from it; one event for each log that held it."""

    session_id: SessionId
    seq: int
    kind: Literal["message_erased"] = "message_erased"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanged:
    """A part of a session is another now: its title, its settings, or its messages, of which the newest were retracted."""

    session_id: SessionId
    part: SessionPart
    kind: Literal["session_changed"] = "session_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionErased:
    """A session was erased, alone or with all sessions of its user; it can no longer be asked whose it was."""

    session_id: SessionId
    user_id: UserId
    agent_id: AgentId
    kind: Literal["session_erased"] = "session_erased"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanged:
    """What memory has of a user is another now.

    Attributes:
        agent_id: Whose own it is; None for what all agents of the user share.
        parts: What of it, in the order of `MemoryPart`.
    """

    user_id: UserId
    agent_id: AgentId | None
    parts: tuple[MemoryPart, ...]
    session_id: None = None
    kind: Literal["memory_changed"] = "memory_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionBegun:
    """A compaction was planned and its event is stored."""

    session_id: SessionId
    compaction_id: CompactionId
    ordinal: int
    trigger: Trigger
    first_seq: int
    last_seq: int
    folded_count: int
    kind: Literal["compaction_begun"] = "compaction_begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionClaimed:
    """A worker took an event. `attempt` is 1 at the first time."""

    session_id: SessionId
    compaction_id: CompactionId
    attempt: int
    kind: Literal["compaction_claimed"] = "compaction_claimed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRetried:
    """An attempt failed and another one follows.

    Attributes:
        attempt: The one that failed.
        reason: What failed: `digest` or `extraction`. `ModelCalled` and `DigestJudged` say why.
    """

    session_id: SessionId
    compaction_id: CompactionId
    attempt: int
    reason: str
    kind: Literal["compaction_retried"] = "compaction_retried"


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestJudged:
    """A model's digest was verified: it may stand, or it was given up and the extractive one stands.

    Attributes:
        calls_count: How many replies it took.
        faults: What was wrong with those that were refused on the way, in order.
    """

    session_id: SessionId
    compaction_id: CompactionId
    is_accepted: bool
    calls_count: int
    faults: tuple[FaultKind, ...] = ()
    kind: Literal["digest_judged"] = "digest_judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReady:
    """A digest is finished and waits for the events before it."""

    session_id: SessionId
    compaction_id: CompactionId
    generator: Generator
    kind: Literal["compaction_ready"] = "compaction_ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCommitted:
    """A compaction is in force.

    Attributes:
        elapsed_secs: From its begin.
        cost_usd: Of the calls that wrote its digest; None where no model did, or no price is known.
    """

    session_id: SessionId
    compaction_id: CompactionId
    generator: Generator
    report: CompactionReport
    elapsed_secs: float
    cost_usd: float | None = None
    kind: Literal["compaction_committed"] = "compaction_committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateDigestCommitted:
    """A model's digest took the place of the provisional one of the same event. `cost_usd` as in `CompactionCommitted`."""

    session_id: SessionId
    compaction_id: CompactionId
    tokens_before: int
    tokens_after: int
    resent_tokens: int
    cost_usd: float | None = None
    kind: Literal["late_digest_committed"] = "late_digest_committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDegraded:
    """The extractive digest stays, until a person retries: none of a model's passed, or attempts are exhausted.

    `reason` is what failed: `digest` or `extraction`.
    """

    session_id: SessionId
    compaction_id: CompactionId
    attempts_count: int
    reason: str
    kind: Literal["compaction_degraded"] = "compaction_degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCancelled:
    """A pending compaction was cancelled. No message was removed. `reason` is a code."""

    session_id: SessionId
    compaction_id: CompactionId
    reason: str
    kind: Literal["compaction_cancelled"] = "compaction_cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A model was asked once.

    Attributes:
        session_id: None where it was not about one session.
        compaction_id: None where it was not about a compaction.
        error_code: Why it did not serve; None when it answered.
    """

    session_id: SessionId | None
    compaction_id: CompactionId | None
    purpose: str
    model: str
    elapsed_secs: float
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    error_code: str | None = None
    kind: Literal["model_called"] = "model_called"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFailed:
    """A hook of a plug-in raised, or took longer than it may.

    Attributes:
        error_name: The class of what was raised; `timeout` for one that took too long.
        error: What was raised, for who subscribes in the same process. Never logged: it may quote a message.
    """

    session_id: SessionId
    plugin: str
    hook: HookName
    error_name: str
    error: BaseException | None = field(default=None, repr=False, compare=False)
    kind: Literal["hook_failed"] = "hook_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDelayed:
    """What was said could not be taken into memory now; it is taken up with the next append or window.

    Attributes:
        error_name: The class of what was raised.
        error: What was raised, for who subscribes in the same process. Never logged: it may quote a message.
    """

    session_id: SessionId
    error_name: str
    error: Exception | None = field(default=None, repr=False, compare=False)
    kind: Literal["memory_delayed"] = "memory_delayed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionEnded:
    """A pass over messages is in memory. One by rules that found nothing leaves no record, and is not told.

    Attributes:
        user_id: Whose memory.
        agent_id: With whom the session is.
        compaction_id: The compaction that it was made for; None for none.
        written_by: Rules (`heuristic`) or a `model`.
        found_count: The items that were added, changed or seen again.
        refused_count: What was found and not taken.
    """

    session_id: SessionId
    user_id: UserId
    agent_id: AgentId
    compaction_id: CompactionId | None
    first_seq: int
    last_seq: int
    written_by: Writer
    found_count: int
    refused_count: int
    kind: Literal["extraction_ended"] = "extraction_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamBegun:
    """So many items are being consolidated into topics."""

    user_id: UserId
    agent_id: AgentId
    dream_id: DreamId
    items_count: int
    session_id: None = None
    kind: Literal["dream_begun"] = "dream_begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamEnded:
    """A dream that was begun has ended.

    Attributes:
        state: As in the dream's record; `skipped` where another process had read the same meanwhile and nothing is
            recorded. `failed` without a record is followed by the error.
        elapsed_secs: From its begin.
        cost_usd: Of the model's calls; None where no model was asked, or no price is known.
    """

    user_id: UserId
    agent_id: AgentId
    dream_id: DreamId
    state: DreamState | Literal["skipped"]
    generator: Literal["deterministic", "model"]
    topics_count: int
    items_count: int
    elapsed_secs: float
    cost_usd: float | None = None
    session_id: None = None
    kind: Literal["dream_ended"] = "dream_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamJudged:
    """A person approved (`applied`), rejected or reverted a dream."""

    user_id: UserId
    agent_id: AgentId
    dream_id: DreamId
    state: DreamState
    session_id: None = None
    kind: Literal["dream_judged"] = "dream_judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshBegun:
    """So many context sources are asked now, and why."""

    session_id: SessionId
    cause: Cause
    sources_count: int
    kind: Literal["refresh_begun"] = "refresh_begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAsked:
    """A context source was asked what happened, or was to be.

    Attributes:
        outcome: `answered`; `late`: answered after the deadline, and shown in the next turn; `empty`, `failed`,
            `timed_out`: skipped; `no_room`: answered, and left out under the cap.
        tokens: What its answer costs in the window, before it is cut.
        error: What was raised, for who subscribes in the same process. Never logged: it may quote what was read.
    """

    session_id: SessionId
    source: str
    outcome: Literal["answered", "late", "empty", "failed", "timed_out", "no_room"]
    elapsed_secs: float
    tokens: int = 0
    error_name: str | None = None
    error: BaseException | None = field(default=None, repr=False, compare=False)
    kind: Literal["source_asked"] = "source_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRefreshed:
    """What context sources said is in the log.

    Attributes:
        seq: The message that carries it.
        replaced_seq: The refresh whose place it took in the window; None for none.
    """

    session_id: SessionId
    cause: Cause
    seq: int
    sources_count: int
    tokens: int
    elapsed_secs: float
    replaced_seq: int | None = None
    kind: Literal["context_refreshed"] = "context_refreshed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshSkipped:
    """No context refresh was made.

    Attributes:
        reason: `in_flight`: one of the same user and agent is on its way; `nothing_said`: no source had an answer;
            `no_room`: the window has no space for one; `step_open`: the model waits for tool results, and the answers
            are kept for the next turn.
    """

    session_id: SessionId
    cause: Cause
    reason: SkipReason
    kind: Literal["refresh_skipped"] = "refresh_skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpened:
    """Automatic compaction pauses: it did not get the window below its trigger. Told once each time it is set."""

    session_id: SessionId
    window_tokens: int
    trigger_tokens: int
    kind: Literal["breaker_opened"] = "breaker_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSwitched:
    """Another session is used from now on. Fields as in `SessionSwitch`."""

    session_id: SessionId
    parent_id: SessionId | None
    previous_id: SessionId | None
    cause: SwitchCause
    kind: Literal["session_switched"] = "session_switched"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A recovery found unfinished work: the number of compactions and sessions."""

    found_count: int
    sessions_count: int
    session_id: None = None
    kind: Literal["recovered"] = "recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFailed:
    """Background work ended with an error. It is still in the store, and is tried again.

    Attributes:
        name: What it was: a session, an event, or `dream of` a user, for example.
        reason: The code of an error of ours, the class of any other.
        error: What was raised, for who subscribes in the same process.
    """

    name: str
    reason: str
    error: Exception | None = field(default=None, repr=False, compare=False)
    session_id: None = None
    kind: Literal["work_failed"] = "work_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsDropped:
    """A subscriber was too slow: as many of the oldest events are missing before the next one."""

    dropped_count: int
    session_id: None = None
    kind: Literal["events_dropped"] = "events_dropped"


Change: TypeAlias = MessagesAppended | MessageErased | SessionChanged | SessionErased | MemoryChanged
"""What becomes another in logs and memory, also with every turn. Only subscribers that ask for them take them; they are never logged."""

CHANGES: Final[tuple[type[Change], ...]] = get_args(Change)
"""The classes of `Change`."""

Event: TypeAlias = (
    MessagesAppended
    | MessageErased
    | SessionChanged
    | SessionErased
    | MemoryChanged
    | CompactionBegun
    | CompactionClaimed
    | CompactionRetried
    | DigestJudged
    | CompactionReady
    | CompactionCommitted
    | LateDigestCommitted
    | CompactionDegraded
    | CompactionCancelled
    | ModelCalled
    | HookFailed
    | MemoryDelayed
    | ExtractionEnded
    | DreamBegun
    | DreamEnded
    | DreamJudged
    | RefreshBegun
    | SourceAsked
    | ContextRefreshed
    | RefreshSkipped
    | BreakerOpened
    | SessionSwitched
    | Recovered
    | WorkFailed
    | EventsDropped
)
"""One thing that the engine did."""
