"""Compactions over HTTP: events, their digests and certificates, calls of models, and the log as strips."""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import Field

from everfold.core.certificate import CoverGroup
from everfold.core.events import CompactionEvent, EventState, WorkState
from everfold.core.folding import Digest
from everfold.core.sessions import EventId
from everfold.core.usage import ModelCall, Purpose
from everfold.server.shapes.shape import Shape, Time
from everfold.server.shapes.windows import (
    BreakShape,
    CompactionReportShape,
    DigestShape,
    show_compaction_report,
    show_digest,
)
from everfold.services.inspect_session import CostedEvent, EventDetail, LogStrips


class EventShape(Shape):
    """One compaction of one session."""

    id: str = Field(examples=["evt_01"])
    session_id: str = Field(description="Whose it is: a branch has those of its parent too.", examples=["ses_01"])
    ordinal: int = Field(description="Along the session; that of a cancelled one is given again.", examples=[1])
    state: EventState = Field(examples=["done"])
    digest_state: WorkState = Field(
        description="The model's digest: `pending` also while the extractive one stands.", examples=["done"]
    )
    extraction_state: WorkState = Field(description="What memory takes from its messages.", examples=["off"])
    is_committed: bool = Field(description="What it decided is in force.", examples=[True])
    trigger: str = Field(examples=["tokens"])
    first_seq: int = Field(examples=[1])
    last_seq: int = Field(description="Below `first_seq` for one that only exchanges a digest.", examples=[255])
    folded_count: int = Field(examples=[219])
    kept_count: int = Field(examples=[34])
    left_count: int = Field(examples=[0])
    joined_through: int = Field(description="All up to here is in the coarse digest; 0 for none.", examples=[0])
    begun_at: Time
    ended_at: Time | None
    not_before: Time | None = Field(description="When a failed one is tried again at the earliest.", examples=[None])
    attempts: int = Field(examples=[1])
    digest_kind: str | None = Field(
        description="Whose digest stands: `extractive` or `abstractive`; null where there is none.",
        examples=["abstractive"],
    )
    tokens_before: int = Field(description="The window less its fixed part.", examples=[4_210])
    tokens_after: int | None = Field(description="Null until it is in force.", examples=[2_900])
    cost_usd: float | None = Field(description="Of its calls, as far as prices are known.", examples=[0.0012])
    breaks: list[BreakShape] = Field(description="The break of the request's prefix that it made.")
    error: str | None = Field(description="What went wrong with the last attempt.", examples=[None])
    focus: str | None = Field(description="What the digest should rather hold.", examples=[None])
    revises: str | None = Field(description="The event whose digest this one replaced.", examples=[None])


class EventPage(Shape):
    """The compactions of a session."""

    events: list[EventShape]
    next_cursor: str | None = Field(
        description="Give it as `cursor` for the next page; null on the last one.", examples=[None]
    )


class CoveredShape(Shape):
    """What became of one message."""

    seq: int = Field(examples=[17])
    group: CoverGroup = Field(examples=["folded"])
    content_hash: str = Field(description="SHA-256 of the stored bytes; empty of an erased one.")
    digest_id: str | None = Field(description="The digest that read it.", examples=["evt_01.fine"])


class CertificateShape(Shape):
    """What one compaction did with every message, provable from the database alone."""

    first_seq: int = Field(examples=[1])
    last_seq: int = Field(examples=[255])
    covered: list[CoveredShape]
    left: list[CoveredShape] = Field(description="Messages of older ranges that left, or were read again.")
    digests: dict[str, str] = Field(description="The hash of each digest's text, by its id.")
    coarse_last_seq: int = Field(examples=[0])
    total_hash: str = Field(description="SHA-256 over all of it.")


class CallShape(Shape):
    """One attempt to call a model. Nothing that was asked or answered is in it."""

    id: str = Field(examples=["call_01"])
    model: str = Field(examples=["openai:gpt-5-mini"])
    answered_by: str | None = Field(description="As the provider names it; null when none did.", examples=[None])
    purpose: Purpose = Field(examples=["digest"])
    event_id: str | None = Field(examples=["evt_01"])
    attempt: int = Field(examples=[1])
    started_at: Time
    secs: float = Field(examples=[2.4])
    outcome: str = Field(description="How it ended, or the code of the error that came instead.", examples=["complete"])
    input_tokens: int = Field(examples=[3_100])
    cached_tokens: int = Field(examples=[0])
    output_tokens: int = Field(examples=[410])
    cost_usd: float | None = Field(examples=[0.0012])


class CallPage(Shape):
    """What was asked of models for a session, in the order of recording."""

    calls: list[CallShape]
    next_cursor: str | None = Field(
        description="Give it as `cursor` for the next page; null on the last one.", examples=[None]
    )


class EventDetailShape(EventShape):
    """One compaction with all that is stored of it."""

    report: CompactionReportShape | None = Field(description="What it did; null until it is in force.")
    digest: str | None = Field(description="The text that stands for its range.", examples=["=== digest 1-255 ==="])
    provisional_digest: str | None = Field(
        description="What stood there until the model's digest came; null where nothing else did.", examples=[None]
    )
    digests: list[DigestShape] = Field(description="All of them: final, provisional, coarse.")
    calls: list[CallShape]
    certificate: CertificateShape | None = Field(description="Null until it is in force.")


class Cancelled(Shape):
    """What was given up: a held event, and every later held one of the session."""

    cancelled: list[str] = Field(description="The last one first.", examples=[["evt_02", "evt_01"]])


class Digests(Shape):
    """The digests that the window shows now, by range."""

    digests: list[DigestShape]


class NoteShape(Shape):
    """The continuity notes that the window shows now."""

    note: str = Field(description="Empty where nothing is on its way.", examples=[""])


class StripShape(Shape):
    """What became of every message at one compaction, or until now."""

    event_id: str | None = Field(description="Null for now.", examples=["evt_01"])
    ordinal: int | None = Field(examples=[1])
    trigger: str | None = Field(examples=["tokens"])
    at: Time | None
    last_seq: int = Field(description="The newest message that there was.", examples=[280])
    runs: list[tuple[str, int]] = Field(
        description="A fate and for how many messages, from message 1 on.", examples=[[["fine", 255], ["tail", 25]]]
    )


class Strips(Shape):
    """The log as the newest compactions left it, and as it is now, which comes last."""

    last_seq: int = Field(examples=[412])
    strips: list[StripShape]


def show_event(costed: CostedEvent) -> EventShape:
    """An event as the API gives it."""
    return EventShape.model_validate(_list_event(costed.event, costed.cost_usd))


def show_events(listed: Sequence[CostedEvent], limit: int) -> EventPage:
    """A page of events."""
    events = [show_event(one) for one in listed]
    return EventPage(events=events, next_cursor=events[-1].id if len(events) >= limit else None)


def _list_event(event: CompactionEvent, cost_usd: float | None) -> dict[str, object]:
    plan, report = event.plan, event.report
    breaks = [] if report is None else [_show_break(report.trigger, report.break_cost_tokens)]
    return {
        "id": event.id,
        "session_id": event.session_id,
        "ordinal": event.ordinal,
        "state": event.state,
        "digest_state": event.digest,
        "extraction_state": event.extraction,
        "is_committed": event.is_committed,
        "trigger": plan.trigger,
        "first_seq": plan.first_seq,
        "last_seq": plan.last_seq,
        "folded_count": len(plan.folded) if report is None else report.folded_count,
        "kept_count": plan.groups.count("kept") if report is None else report.kept_count,
        "left_count": len(plan.leaving) if report is None else report.left_count,
        "joined_through": plan.join_through,
        "begun_at": event.begun_at,
        "ended_at": event.ended_at,
        "not_before": event.lease_until if event.state == "pending" else None,
        "attempts": event.attempts,
        "digest_kind": _name_maker(event),
        "tokens_before": plan.tokens_before if report is None else report.tokens_before,
        "tokens_after": None if report is None else report.tokens_after,
        "cost_usd": cost_usd,
        "breaks": breaks,
        "error": event.problem or None,
        "focus": plan.focus,
        "revises": event.revises,
    }


def _show_break(trigger: str, cost_tokens: int) -> BreakShape:
    return BreakShape(reason=f"compaction: {trigger}", cost_tokens=cost_tokens)


def _name_maker(event: CompactionEvent) -> str | None:
    """Whose digest stands for its range."""
    if event.digest == "done":
        return "abstractive"
    return "extractive" if event.is_committed and event.plan.folded else None


def show_event_detail(detail: EventDetail) -> EventDetailShape:
    """An event with all that is stored of it."""
    event = detail.event
    digests = [digest for digest in (detail.digest, detail.provisional, detail.coarse) if digest is not None]
    return EventDetailShape.model_validate(
        {
            **_list_event(event, detail.cost_usd),
            "report": None if event.report is None else show_compaction_report(event.report),
            "digest": _text_of(detail.digest),
            "provisional_digest": _text_of(detail.provisional),
            "digests": [show_digest(digest) for digest in digests],
            "calls": [show_call(call) for call in detail.calls],
            "certificate": _show_certificate(event),
        }
    )


def _text_of(digest: Digest | None) -> str | None:
    return None if digest is None else digest.text


def _show_certificate(event: CompactionEvent) -> CertificateShape | None:
    certificate = event.certificate
    if certificate is None:
        return None
    covered, left = (
        [
            CoveredShape(seq=one.seq, group=one.group, content_hash=one.content_hash, digest_id=one.digest_id or None)
            for one in row
        ]
        for row in (certificate.covered, certificate.left)
    )
    return CertificateShape(
        first_seq=certificate.first_seq,
        last_seq=certificate.last_seq,
        covered=covered,
        left=left,
        digests=dict(certificate.digests),
        coarse_last_seq=certificate.coarse_last_seq,
        total_hash=certificate.total_hash,
    )


def show_call(call: ModelCall) -> CallShape:
    """A call of a model as the API gives it."""
    known = asdict(call)
    return CallShape.model_validate({**known, "answered_by": call.answered_by or None, "secs": call.duration_ms / 1000})


def show_calls(calls: Sequence[ModelCall], limit: int) -> CallPage:
    """A page of calls."""
    return CallPage(
        calls=[show_call(call) for call in calls], next_cursor=calls[-1].id if len(calls) >= limit else None
    )


def show_cancelled(event_ids: Sequence[EventId]) -> Cancelled:
    """What was given up."""
    return Cancelled(cancelled=list(event_ids))


def show_digests(digests: Sequence[Digest]) -> Digests:
    """The digests that are shown."""
    return Digests(digests=[show_digest(digest) for digest in digests])


def show_strips(log: LogStrips) -> Strips:
    """The log as strips."""
    return Strips(
        last_seq=log.last_seq,
        strips=[
            StripShape(
                event_id=one.event_id,
                ordinal=one.ordinal,
                trigger=one.trigger,
                at=one.at,
                last_seq=one.last_seq,
                runs=list(one.strip.runs),
            )
            for one in log.strips
        ],
    )
