"""Sessions over HTTP: which there are, what they hold, and how they follow each other."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import Field

from everfold.core.sessions import SessionRecord, SessionSettings, StartedBy
from everfold.ports.browsing import SessionFigures
from everfold.server.shapes.shape import Given, Shape, Time
from everfold.server.shapes.windows import SliceShape, show_slices
from everfold.services.inspect_session import Standing
from everfold.services.verify import Verification
from everfold.services.wipe import ErasedSession

Order = Literal["newest", "oldest"]
"""Which end of a list comes first."""


class SessionShape(Shape):
    """One log between a user and an agent."""

    id: str = Field(examples=["ses_01"])
    user_id: str = Field(examples=["6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"])
    agent: str = Field(examples=["default"])
    is_current: bool = Field(description="New messages of this user to this agent go here.", examples=[True])
    parent_id: str | None = Field(description="What it follows, or branches off.", examples=[None])
    branch_seq: int = Field(description="The last message that it shares with its parent; 0 for none.", examples=[0])
    started_by: StartedBy = Field(examples=["open"])
    created_at: Time
    active_at: Time | None = Field(description="When the user spoke last; null before.")
    limit_tokens: int = Field(description="The model's context limit.", examples=[128_000])
    messages_count: int = Field(description="Also the number of the newest message.", examples=[412])
    watermark: int = Field(description="The last message that compaction has decided about.", examples=[380])
    epoch: int = Field(description="Every erase of a message raises it.", examples=[0])


class SessionPage(Shape):
    """Sessions, by when they were made."""

    sessions: list[SessionShape]
    next_cursor: str | None = Field(
        description="Give it as `cursor` for the next page; null on the last one.", examples=[None]
    )


class NewSession(Given):
    """Which session is to be opened, and what it is to hold; a change is a break of the request's prefix."""

    user: str | None = Field(
        default=None,
        description="`default`, or the UUID of a user. Left out: the key's own user, else the default one.",
        examples=["default"],
    )
    agent: str | None = Field(
        default=None,
        min_length=1,
        description="Left out: the key's own agent, else `default`.",
        examples=["default"],
    )
    limit: int | None = Field(default=None, ge=1, description="The model's context limit in tokens.", examples=[16_000])
    system: str | None = Field(default=None, description="The system prompt.", examples=["You help a harbour master."])
    tools: list[dict[str, object]] | None = Field(default=None, description="Tool schemas, in either provider's form.")
    new: bool = Field(default=False, description="Begin a new one, which follows the current one.")


class SettingsShape(Shape):
    """What a session holds from its opening."""

    limit_tokens: int = Field(examples=[128_000])
    system: str | None = Field(description="The system prompt.", examples=["You help a harbour master."])
    tools: list[object] = Field(description="Tool schemas, as they were given.", examples=[[]])
    policy: dict[str, object] = Field(
        description="How it compacts: the settings of the section `compaction` by name.",
        examples=[{"trigger_ratio": 0.8, "keep_recent": 6}],
    )


class StateShape(Shape):
    """Where a session stands now, before anything that is due is folded."""

    last_seq: int = Field(examples=[412])
    watermark: int = Field(examples=[380])
    tokens: int = Field(description="The window, by the fixed estimate.", examples=[9_120])
    budget_tokens: int = Field(examples=[14_080])
    trigger_tokens: int = Field(description="At so much of the room compaction is due.", examples=[10_000])
    slices: list[SliceShape]
    calibration: float = Field(description="A provider's count over our estimate.", examples=[1.0])
    epoch: int = Field(examples=[0])


class SessionDetail(SessionShape):
    """One session with what it holds and where it stands."""

    settings: SettingsShape
    state: StateShape


class BranchPoint(Given):
    """Where to branch off."""

    seq: int = Field(ge=1, description="The last message that is shared; no step is split.", examples=[120])


class ErasedSessionShape(Shape):
    """What an erase of a session came to."""

    sessions: list[str] = Field(description="Itself, and the branches that went with it.", examples=[["ses_01"]])
    messages: int = Field(examples=[412])
    events: int = Field(examples=[7])
    digests: int = Field(examples=[9])
    counts: dict[str, int] = Field(description="How much went from each bucket.", examples=[{"messages": 412}])
    items: list[str] = Field(description="Items that nothing says any more; they are erased.", examples=[[]])
    kept: list[str] = Field(description="Items that other sessions say too.", examples=[[]])
    topics: list[str] = Field(description="Topics that were made again, or erased.", examples=[[]])
    superseded: list[str] = Field(
        description="Items that stay superseded by something that is erased; undo brings one back.", examples=[[]]
    )
    is_pending: bool = Field(description="The database's files still hold it until another reader lets go.")


class FindingShape(Shape):
    """Something that is not as the certificates say."""

    event_id: str | None = Field(examples=["evt_01"])
    seq: int | None = Field(description="The message; null where it is not about one.", examples=[17])
    problem: str = Field(examples=["the stored message was changed"])


class CheckedShape(Shape):
    """How much was looked at."""

    messages_count: int = Field(examples=[412])
    events_count: int = Field(examples=[7])


class VerificationShape(Shape):
    """What a verification saw; no finding: every guarantee holds."""

    findings: list[FindingShape]
    checked: CheckedShape


def show_session(record: SessionRecord, figures: SessionFigures) -> SessionShape:
    """A session as the API gives it."""
    return SessionShape(
        id=record.id,
        user_id=record.user_id,
        agent=record.agent_id,
        is_current=record.is_current,
        parent_id=record.parent_id,
        branch_seq=record.branch_seq,
        started_by=record.started_by,
        created_at=record.created_at,
        active_at=figures.active_at,
        limit_tokens=record.settings.limit_tokens,
        messages_count=figures.last_seq,
        watermark=figures.watermark,
        epoch=figures.epoch,
    )


def show_sessions(listed: Sequence[tuple[SessionRecord, SessionFigures]], limit: int) -> SessionPage:
    """A page of sessions."""
    sessions = [show_session(record, figures) for record, figures in listed]
    return SessionPage(sessions=sessions, next_cursor=sessions[-1].id if len(sessions) >= limit else None)


def show_session_detail(record: SessionRecord, standing: Standing) -> SessionDetail:
    """A session with what it holds and where it stands."""
    shown = show_session(record, standing.figures)
    return SessionDetail(
        **{name: getattr(shown, name) for name in SessionShape.model_fields},
        settings=_show_settings(record.settings),
        state=_show_state(standing),
    )


def _show_settings(settings: SessionSettings) -> SettingsShape:
    return SettingsShape(
        limit_tokens=settings.limit_tokens,
        system=settings.prompt.system,
        tools=list(settings.prompt.tools),
        policy=asdict(settings.policy),
    )


def _show_state(standing: Standing) -> StateShape:
    figures, report = standing.figures, standing.report
    return StateShape(
        last_seq=figures.last_seq,
        watermark=figures.watermark,
        tokens=report.tokens,
        budget_tokens=report.budget_tokens,
        trigger_tokens=standing.room.trigger_tokens,
        slices=show_slices(report, standing.room),
        calibration=standing.calibration.factor,
        epoch=figures.epoch,
    )


def show_erased_session(erased: ErasedSession) -> ErasedSessionShape:
    """What an erase of a session came to."""
    counts = dict(erased.counts)
    return ErasedSessionShape(
        sessions=list(erased.sessions),
        messages=counts.get("messages", 0),
        events=counts.get("events", 0),
        digests=counts.get("digests", 0),
        counts=counts,
        items=list(erased.items),
        kept=list(erased.kept),
        topics=list(erased.topics),
        superseded=list(erased.superseded),
        is_pending=erased.is_pending,
    )


def show_verification(seen: Verification) -> VerificationShape:
    """What a verification saw."""
    return VerificationShape(
        findings=[
            FindingShape(event_id=finding.event_id or None, seq=finding.seq or None, problem=finding.problem)
            for finding in seen.findings
        ],
        checked=CheckedShape(messages_count=seen.messages_count, events_count=seen.events_count),
    )
