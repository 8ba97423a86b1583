"""Compactions over HTTP: their digests and certificates, calls of models, and the log as strips."""

from datetime import datetime

from everfold.core.compaction.certificate import Certificate, Covered
from everfold.core.compaction.folding import Digest
from everfold.core.compaction.record import Compaction
from everfold.core.observation.usage import ModelCall
from everfold.core.windows.reports import CacheBreakPlace
from everfold.server.schemas.schema import many, project, wrap
from everfold.server.schemas.windows import CacheBreakPlaceSchema, CompactionReportSchema, DigestSchema
from everfold.services.inspection.inspect_session import CompactionDetail, CostedCompaction, LogStrips
from everfold.services.inspection.strips import DatedStrip


def _list_cache_breaks(compaction: Compaction) -> list[CacheBreakPlace]:
    report = compaction.counted_report
    if report is None:
        return []
    return [CacheBreakPlace(reason=f"compaction: {report.trigger}", resent_tokens=report.resent_tokens)]


def _name_maker(compaction: Compaction) -> str | None:
    """Whose digest stands for its range."""
    if compaction.digest == "done":
        return "abstractive"
    return "extractive" if compaction.is_committed and compaction.plan.folded else None


def _count_kept(compaction: Compaction) -> int:
    return compaction.plan.groups.count("kept") if compaction.report is None else compaction.report.kept_count


def _list_digests(detail: CompactionDetail) -> list[Digest]:
    return [digest for digest in (detail.digest, detail.provisional, detail.rollup) if digest is not None]


CompactionSchema = project(
    "Compaction",
    CostedCompaction,
    "id=compaction.id session_id=compaction.session_id ordinal=compaction.ordinal state=compaction.state digest_state=compaction.digest "
    "extraction_state=compaction.extraction is_committed=compaction.is_committed trigger first_seq=compaction.plan.first_seq "
    "last_seq=compaction.plan.last_seq folded_count kept_count folded_later_count joined_through=compaction.plan.join_through "
    "begun_at=compaction.begun_at ended_at=compaction.ended_at not_before attempts=compaction.attempts digest_kind tokens_before "
    "tokens_after cost_usd cache_breaks error focus=compaction.plan.focus revises=compaction.revises",
    "One compaction of one session.",
    words={
        "session_id": "Whose it is: a branch has those of its parent too.",
        "last_seq": "Below `first_seq` for one that only exchanges a digest.",
        "cost_usd": "Of its calls, as far as prices are known.",
    },
    trigger=(str, lambda one: one.compaction.plan.trigger, "Why it was begun."),
    folded_count=(
        int,
        lambda one: (
            len(one.compaction.plan.folded) if one.compaction.report is None else one.compaction.report.folded_count
        ),
        "",
    ),
    kept_count=(int, lambda one: _count_kept(one.compaction), ""),
    folded_later_count=(
        int,
        lambda one: (
            len(one.compaction.plan.leaving)
            if one.compaction.report is None
            else one.compaction.report.folded_later_count
        ),
        "",
    ),
    not_before=(
        datetime | None,
        lambda one: one.compaction.lease_until if one.compaction.state == "pending" else None,
        "When a failed one is tried again at the earliest.",
    ),
    digest_kind=(
        str | None,
        lambda one: _name_maker(one.compaction),
        "Whose digest stands: `extractive` or `abstractive`; null where there is none.",
    ),
    tokens_before=(
        int,
        lambda one: (one.compaction.counted_report or one.compaction.plan).tokens_before,
        "The window less its fixed part.",
    ),
    tokens_after=(
        int | None,
        lambda one: one.compaction.counted_report and one.compaction.counted_report.tokens_after,
        "Null until it is in force.",
    ),
    cache_breaks=(
        many(CacheBreakPlaceSchema),
        lambda one: _list_cache_breaks(one.compaction),
        "The cache break that it made.",
    ),
    error=(str | None, lambda one: one.compaction.problem or None, "What went wrong with the last attempt."),
)
CompactionPageSchema = wrap(
    "CompactionPage", "The compactions of a session.", compactions=many(CompactionSchema), next_cursor=str | None
)
CoveredSchema = project(
    "Covered",
    Covered,
    "seq group content_hash digest_id",
    words={"content_hash": "SHA-256 of the stored bytes; empty of an erased one."},
    digest_id=(str | None, lambda one: one.digest_id or None, "The digest that read it."),
)
CertificateSchema = project(
    "Certificate",
    Certificate,
    "first_seq last_seq covered folded_later digests rollup_last_seq total_hash",
    covered=CoveredSchema,
    folded_later=CoveredSchema,
    digests=(dict[str, str], lambda one: dict(one.digests), "The hash of each digest's text, by its id."),
)
CallSchema = project(
    "Call",
    ModelCall,
    "id model answered_by purpose compaction_id call_number started_at secs outcome input_tokens cached_tokens output_tokens "
    "cost_usd",
    answered_by=(str | None, lambda one: one.answered_by or None, "As the provider names it; null when none did."),
    secs=(float, lambda one: one.duration_ms / 1000, "How long it took."),
)
CallPageSchema = wrap(
    "CallPage",
    "What was asked of models for a session, in the order of recording.",
    calls=many(CallSchema),
    next_cursor=str | None,
)
CompactionDetailSchema = project(
    "CompactionDetail",
    CompactionDetail,
    "report=compaction.counted_report digest provisional_digest digests calls certificate=compaction.certificate",
    "One compaction with all that is stored of it.",
    base=CompactionSchema,
    report=CompactionReportSchema,
    certificate=CertificateSchema,
    calls=CallSchema,
    digest=(str | None, lambda one: one.digest and one.digest.text, "The text that stands for its range."),
    provisional_digest=(
        str | None,
        lambda one: one.provisional and one.provisional.text,
        "What stood there until the model's digest came; null where nothing else did.",
    ),
    digests=(many(DigestSchema), _list_digests, "All of them: final, provisional, rollups."),
)
CancelledSchema = wrap(
    "Cancelled",
    "What was cancelled: a pending compaction, and those after it.",
    cancelled=(list[str], "The last one first."),
)
DigestsSchema = wrap("Digests", "The digests that the window shows now, by range.", digests=many(DigestSchema))
NoteSchema = wrap(
    "Note", "The continuity note that the next turn shows.", note=(str, "Empty where nothing is on its way.")
)
StripSchema = project(
    "Strip",
    DatedStrip,
    "compaction_id ordinal trigger at last_seq runs",
    words={"compaction_id": "Null for now."},
    runs=(
        list[tuple[str, int]],
        lambda one: one.strip.runs,
        "What became of messages, and of how many, from message 1 on.",
    ),
)
StripsSchema = project("Strips", LogStrips, "last_seq strips", strips=StripSchema)
