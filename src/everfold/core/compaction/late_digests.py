"""Revising: a model's digest replaces the extractive digest of an earlier compaction.

A revision is a compaction of its own, over no new message: its layout is the one in force with one digest replaced, and
its certificate states, for every message that the replaced digest had read, which digest reads it now. So no committed
row ever changes, and an older branch keeps its digests.

Source: DESIGN section 3.2, overflow; G4.
"""

from dataclasses import replace

from everfold.core.compaction.certificate import Certificate, Covered, seal_certificate
from everfold.core.compaction.folding import Digest, Fold, make_abstractive, report_fold
from everfold.core.compaction.layout import Layout, ShownRange
from everfold.core.compaction.planning import CompactionPlan, measure_body
from everfold.core.digests.drafts import Draft


def find_shown(layout: Layout, first_seq: int, last_seq: int) -> ShownRange | None:
    """The range of one compaction, if the window still shows its digest."""
    for shown in layout.ranges:
        if (shown.kind, shown.first_seq, shown.last_seq) == ("digest", first_seq, last_seq):
            return shown
    return None


def plan_late_digest(revised: CompactionPlan, layout: Layout, *, tokens_before: int) -> CompactionPlan:
    """The plan of a revision: it moves nothing."""
    return replace(
        revised,
        trigger="late_digest",
        first_seq=layout.watermark + 1,
        last_seq=layout.watermark,
        groups=(),
        held=layout.held,
        leaving=(),
        join_through=0,
        tokens_before=tokens_before,
        sum_tokens=layout.sum_tokens,
        turns_count=layout.turns_count,
        replaced_tokens=0,
    )


def fold_late_digest(
    plan: CompactionPlan, layout: Layout, draft: Draft, before: Digest, certificate: Certificate, *, compaction_id: str
) -> Fold:
    """Exchange one digest of the window.

    Args:
        plan: What `plan_late_digest` gave for this layout.
        layout: The layout in force, which shows the digest.
        draft: The model's digest.
        before: The digest that it takes the place of.
        certificate: That of the compaction which committed the range.
        compaction_id: The revision's own compaction.
    """
    digest = make_abstractive(
        draft, compaction_id=compaction_id, first_seq=before.first_seq, last_seq=before.last_seq, reads=before.reads
    )
    ranges = tuple(
        replace(shown, digest_id=digest.id, digest_tokens=digest.tokens) if shown.digest_id == before.id else shown
        for shown in layout.ranges
    )
    after = replace(layout, ranges=ranges)
    after = replace(after, body_tokens=measure_body(after))
    hashes = {covered.seq: covered.content_hash for covered in certificate.covered}
    read_again = tuple(
        Covered(seq=seq, group="folded", content_hash=hashes[seq], digest_id=digest.id) for seq in before.reads
    )
    sealed = seal_certificate(
        Certificate(
            compaction_id=compaction_id,
            first_seq=plan.first_seq,
            last_seq=plan.last_seq,
            covered=(),
            folded_later=read_again,
            digests=((digest.id, digest.content_hash),),
        )
    )
    return Fold(digests=(digest,), layout=after, certificate=sealed, report=report_fold(plan, layout, after, (digest,)))
