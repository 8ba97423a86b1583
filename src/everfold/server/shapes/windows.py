"""Windows over HTTP: what the model is shown, what is in it and why, and what compacting and refreshing come to."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import Field

from everfold.core.folding import CompactionReport, Digest, Fold
from everfold.core.happenings import SkipReason
from everfold.core.rendering import Provider
from everfold.core.room import Room
from everfold.core.window import Slice, Window, WindowReport
from everfold.core.window_parts import WindowPart, list_parts
from everfold.server.shapes.shape import Given, Shape
from everfold.services.refresh import Refreshed
from everfold.session import Session

_MESSAGES = {"messages": [{"role": "user", "content": [{"type": "text", "text": "My locker is number 12."}]}]}


class SliceShape(Shape):
    """A share of the room."""

    name: Slice = Field(examples=["digest"])
    tokens: int = Field(examples=[621])
    limit_tokens: int | None = Field(description="Its bound; null where it has none of its own.", examples=[1_650])


class BreakShape(Shape):
    """A change of the request before its end."""

    reason: str = Field(examples=["compaction: tokens"])
    cost_tokens: int = Field(description="What a provider's cache must read again for it.", examples=[4_100])


class LeftOutShape(Shape):
    """Standing statements that the standing block has no room for."""

    count: int = Field(examples=[0])
    first_seq: int = Field(examples=[0])
    last_seq: int = Field(examples=[0])


class ReportShape(Shape):
    """What is in a window and why. Tokens are of the fixed estimate."""

    limit_tokens: int = Field(examples=[16_000])
    budget_tokens: int = Field(description="The limit less the room for the answer, calibrated.", examples=[14_080])
    room_tokens: int = Field(description="The budget less the fixed part.", examples=[12_500])
    fixed_tokens: int = Field(description="System prompt, tools and the reserves.", examples=[1_580])
    answer_tokens: int = Field(description="The room for the answer.", examples=[1_920])
    trigger_tokens: int = Field(description="Compaction is due at so much of the room.", examples=[10_000])
    target_tokens: int = Field(description="What it folds down to.", examples=[7_000])
    force_tokens: int = Field(description="Nothing goes out above so much of it.", examples=[11_875])
    tokens: int = Field(description="The whole window.", examples=[9_120])
    slices: list[SliceShape]
    calibration: float = Field(description="A provider's count over our estimate.", examples=[1.0])
    breaks: list[BreakShape] = Field(description="Why the beginning differs from that of the window before.")
    message_count: int = Field(description="Messages of the log that are shown.", examples=[61])
    digest_count: int = Field(examples=[2])
    watermark: int = Field(description="The last message that compaction has decided about.", examples=[380])
    last_seq: int = Field(description="The newest message that is shown.", examples=[412])
    withheld_seqs: list[int] = Field(description="Messages that wait for their tool results.", examples=[[]])
    standing_left_out: LeftOutShape
    full_slices: list[str] = Field(
        description="Slices at their bound, where the window could not come down to its trigger.", examples=[[]]
    )
    memory: list[str] = Field(description="What of memory is shown and why, a line for each part.", examples=[[]])


class WindowPartShape(Shape):
    """One part of a window, in the order of the request."""

    kind: Slice = Field(description="The slice that it belongs to.", examples=["digest"])
    first_seq: int | None = Field(description="Null for texts that are no messages.", examples=[1])
    last_seq: int | None = Field(examples=[255])
    tokens: int = Field(examples=[409])
    text: str = Field(examples=["=== digest 1-255 ==="])
    is_cached: bool = Field(description="A provider that keeps what it has seen reads it from its cache.")
    event_id: str | None = Field(description="The compaction that made the digest.", examples=["evt_01"])


class WindowShape(Shape):
    """What the model is shown next."""

    report: ReportShape
    parts: list[WindowPartShape] = Field(description="Empty where they were not asked for.")
    request: dict[str, object] = Field(
        description="Exactly as it would be sent: `messages`, with `system` (Anthropic) and `tools` where there are any.",
        examples=[_MESSAGES],
    )


class AskedWindow(Given):
    """For what a window is asked."""

    limit: int | None = Field(default=None, ge=1, description="A lower context limit, for this call.", examples=[None])
    volatile: str | None = Field(
        default=None, description="Text for the end of this request only; never stored.", examples=["It is Monday."]
    )
    provider: Provider = Field(default="openai", description="Whose form the request is in.")
    parts: bool = Field(default=True, description="Also give it part by part; a turn that only sends it needs none.")


class AskedCompaction(Given):
    """How to compact."""

    keep_recent: int | None = Field(
        default=None, ge=1, description="How many of the newest messages stay as they are.", examples=[6]
    )
    focus: str | None = Field(default=None, description="What the digest should rather hold.", examples=["amounts"])
    dry_run: bool = Field(default=False, description="Write nothing: give what would be done.")


class CompactionReportShape(Shape):
    """What a compaction did, in figures of the window less its fixed part."""

    trigger: str = Field(examples=["manual"])
    first_seq: int = Field(examples=[256])
    last_seq: int = Field(examples=[279])
    kept_count: int = Field(examples=[5])
    folded_count: int = Field(examples=[19])
    left_count: int = Field(description="Kept messages of older ranges that left.", examples=[0])
    joined_through: int = Field(description="All up to here is in the coarse digest; 0 for none.", examples=[0])
    tokens_before: int = Field(examples=[4_210])
    tokens_after: int = Field(examples=[2_900])
    fine_tokens: int = Field(examples=[205])
    coarse_tokens: int = Field(examples=[0])
    standing_tokens: int = Field(examples=[248])
    break_after_tokens: int = Field(description="What a provider's cache still holds of it.", examples=[1_300])
    break_cost_tokens: int = Field(description="What it must read again.", examples=[1_600])


class DigestShape(Shape):
    """The text that stands for what was folded."""

    id: str = Field(examples=["evt_01.fine"])
    event_id: str = Field(examples=["evt_01"])
    kind: Literal["fine", "coarse"] = Field(description="`fine`: of one event; `coarse`: of older ranges together.")
    maker: Literal["extractive", "abstractive"] = Field(description="`abstractive`: a model wrote it.")
    first_seq: int = Field(examples=[256])
    last_seq: int = Field(examples=[279])
    tokens: int = Field(examples=[205])
    text: str = Field(examples=["=== digest 256-279: record, no instruction ==="])
    read_seqs: list[int] = Field(
        description="What a fine one read; a coarse one read every message of its range.", examples=[[257, 258]]
    )


class FoldShape(Shape):
    """What one compaction did, or would do."""

    event_id: str = Field(examples=["evt_01"])
    report: CompactionReportShape
    digests: list[DigestShape]


class Folds(Shape):
    """What compacting came to; empty where there was nothing to fold."""

    folds: list[FoldShape]


class AskedSourceShape(Shape):
    """What became of one context source."""

    source: str = Field(examples=["calendar"])
    outcome: str = Field(
        description="`answered`, `late`, `empty`, `failed`, `timed_out` or `no_room`.", examples=["answered"]
    )
    tokens: int = Field(examples=[120])
    elapsed_secs: float = Field(examples=[0.4])
    problem: str | None = Field(description="The class of what was raised.", examples=[None])


class RefreshedShape(Shape):
    """What a refresh came to."""

    seq: int | None = Field(description="The message that carries what was said; null for none.", examples=[413])
    tokens: int = Field(examples=[120])
    skipped: SkipReason | None = Field(description="Why there is no message.", examples=[None])
    sources: list[AskedSourceShape]


def show_report(report: WindowReport, room: Room, calibration: float) -> ReportShape:
    """What is in a window and why."""
    return ReportShape.model_validate(_list_report(report, room, calibration))


def show_slices(report: WindowReport, room: Room) -> list[SliceShape]:
    """The slices of a window, with their bounds."""
    return [SliceShape.model_validate(one) for one in _list_slices(report, room)]


def show_window(window: Window, session: Session, asked: AskedWindow) -> dict[str, object]:
    """A window as a `WindowShape`, as plain JSON: a request may be large, and is not to be copied again."""
    room = session.room(window.report.limit_tokens)
    return {
        "report": _list_report(window.report, room, session.calibration.factor),
        "parts": [_list_part(part) for part in list_parts(window)] if asked.parts else [],
        "request": window.render(asked.provider),
    }


def _list_part(part: WindowPart) -> dict[str, object]:
    return {
        "kind": part.slice,
        "first_seq": part.first_seq,
        "last_seq": part.last_seq,
        "tokens": part.tokens,
        "text": part.text,
        "is_cached": part.is_cached,
        "event_id": part.event_id,
    }


def _list_report(report: WindowReport, room: Room, calibration: float) -> dict[str, object]:
    return {
        "limit_tokens": report.limit_tokens,
        "budget_tokens": report.budget_tokens,
        "room_tokens": report.room_tokens,
        "fixed_tokens": report.fixed_tokens,
        "answer_tokens": room.answer_tokens,
        "trigger_tokens": room.trigger_tokens,
        "target_tokens": room.target_tokens,
        "force_tokens": room.force_tokens,
        "tokens": report.tokens,
        "slices": _list_slices(report, room),
        "calibration": calibration,
        "breaks": [{"reason": broken.reason, "cost_tokens": broken.cost_tokens} for broken in report.breaks],
        "message_count": report.message_count,
        "digest_count": report.digest_count,
        "watermark": report.watermark,
        "last_seq": report.last_seq,
        "withheld_seqs": list(report.withheld_seqs),
        "standing_left_out": asdict(report.standing_left_out),
        "full_slices": list(report.full_slices),
        "memory": list(report.memory),
    }


def _list_slices(report: WindowReport, room: Room) -> list[dict[str, object]]:
    bounds: Mapping[Slice, int] = {
        "head": room.message_cap_tokens,
        "kept": room.kept_tokens,
        "digest": room.digest_tokens,
        "standing": room.standing_tokens,
        "snapshot": room.snapshot_tokens,
        "volatile": room.volatile_tokens,
    }
    return [
        {"name": name, "tokens": tokens, "limit_tokens": bounds.get(name)} for name, tokens in report.by_slice.items()
    ]


def show_digest(digest: Digest) -> DigestShape:
    """A digest as the API gives it."""
    return DigestShape(
        id=digest.id,
        event_id=digest.event_id,
        kind=digest.kind,
        maker=digest.generator,
        first_seq=digest.first_seq,
        last_seq=digest.last_seq,
        tokens=digest.tokens,
        text=digest.text,
        read_seqs=list(digest.reads),
    )


def show_compaction_report(report: CompactionReport) -> CompactionReportShape:
    """What a compaction did."""
    return CompactionReportShape.model_validate(report)


def show_folds(folds: Sequence[Fold]) -> Folds:
    """What compacting came to."""
    return Folds(
        folds=[
            FoldShape(
                event_id=fold.certificate.event_id,
                report=show_compaction_report(fold.report),
                digests=[show_digest(digest) for digest in fold.digests],
            )
            for fold in folds
        ]
    )


def show_refreshed(refreshed: Refreshed) -> RefreshedShape:
    """What a refresh came to."""
    return RefreshedShape(
        seq=refreshed.seq,
        tokens=refreshed.tokens,
        skipped=refreshed.skipped,
        sources=[
            AskedSourceShape(
                source=asked.source,
                outcome=asked.outcome,
                tokens=asked.tokens,
                elapsed_secs=asked.elapsed_secs,
                problem=asked.error_name,
            )
            for asked in refreshed.asked
        ],
    )
