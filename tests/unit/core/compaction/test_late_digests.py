"""A revision: one digest of the window exchanged, and everything else as it was. Continuity notes over digests."""

from dataclasses import replace

import pytest

from everfold.core.compaction.certificate import (
    Certificate,
    Covered,
    certificate_from_text,
    certificate_to_text,
    check_certificate,
    check_never_neither,
    hash_text,
    seal_certificate,
)
from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.late_digests import find_shown, fold_late_digest, plan_late_digest
from everfold.core.compaction.layout import HeldMessage, Layout, ShownRange
from everfold.core.compaction.planning import (
    CompactionPlan,
    list_noted,
    measure_body,
    measure_note,
    measure_window,
    project_layout,
)
from everfold.core.digests.drafts import Draft
from everfold.core.log.state import Awaited, SessionState
from everfold.core.text.frames import NOTE_TOKENS

HEAD = HeldMessage(seq=1, tokens=30, hold="head")
RUNNING = HeldMessage(seq=12, tokens=11, hold="running")


def sliced(seq: int) -> HeldMessage:
    """A kept message."""
    return HeldMessage(seq=seq, tokens=20, hold="slice")


def shown(first_seq: int, last_seq: int, digest_id: str, kind: str = "digest", tokens: int = 100) -> ShownRange:
    """A range with its digest."""
    return ShownRange(
        first_seq=first_seq,
        last_seq=last_seq,
        digest_id=digest_id,
        kind=kind,  # type: ignore[arg-type]  # one of the two
        digest_tokens=tokens,
    )


def measured(layout: Layout) -> Layout:
    """A layout that knows its size."""
    return replace(layout, body_tokens=measure_body(layout))


COARSE, FIRST, SECOND = (
    shown(1, 4, "evt_1.rollup", "rollup", 200),
    shown(5, 8, "evt_2.digest"),
    shown(9, 12, "evt_3.digest"),
)
LAYOUT = measured(
    Layout(
        watermark=12,
        sum_tokens=900,
        turns_count=4,
        held=(HEAD, sliced(6), sliced(10), RUNNING),
        ranges=(COARSE, FIRST, SECOND),
        standing_text="Never sail.",
        standing_tokens=9,
    )
)
PLAN = CompactionPlan(
    trigger="overflow",
    first_seq=5,
    last_seq=8,
    groups=("folded", "kept", "folded", "folded"),
    held=(HEAD, sliced(6)),
    leaving=(3,),
    join_through=4,
    digest_cap_tokens=300,
    rollup_cap_tokens=250,
    standing_cap_tokens=50,
    tokens_before=2000,
    sum_tokens=600,
    turns_count=3,
)
BEFORE = Digest(
    id="evt_2.digest",
    compaction_id="evt_2",
    kind="digest",
    generator="extractive",
    first_seq=5,
    last_seq=8,
    text="quotes",
    tokens=100,
    content_hash=hash_text("quotes"),
    reads=(5, 7, 8),
)
DRAFT = Draft(text="what a model wrote", tokens=140)
AWAITED = (Awaited("evt_2", 5, 8), Awaited("evt_1", 1, 4), Awaited("evt_9", 6, 8))


def certify(compaction_id: str, first_seq: int, last_seq: int, digest_id: str) -> Certificate:
    """The certificate of a range of which one digest read everything that is not kept."""
    covered = tuple(
        Covered(
            seq=seq,
            group="kept" if seq in LAYOUT.held_seqs else "folded",
            content_hash=hash_text(str(seq)),
            digest_id="" if seq in LAYOUT.held_seqs else digest_id,
        )
        for seq in range(first_seq, last_seq + 1)
    )
    return seal_certificate(
        Certificate(
            compaction_id=compaction_id,
            first_seq=first_seq,
            last_seq=last_seq,
            covered=covered,
            folded_later=(),
            digests=(),
        )
    )


FIRST_CERTIFICATE = certify("evt_2", 5, 8, "evt_2.digest")


def revise() -> Fold:
    """The revision of the first fine range."""
    plan = plan_late_digest(PLAN, LAYOUT, tokens_before=1500)
    return fold_late_digest(plan, LAYOUT, DRAFT, BEFORE, FIRST_CERTIFICATE, compaction_id="evt_4")


def test_a_revision_moves_nothing() -> None:
    """Its plan has an empty range behind the watermark, and leaves what is held, and the sums, as they stand."""
    plan = plan_late_digest(PLAN, LAYOUT, tokens_before=1500)
    assert (plan.trigger, plan.first_seq, plan.last_seq, plan.groups) == ("late_digest", 13, 12, ())
    assert (plan.held, plan.leaving, plan.join_through) == (LAYOUT.held, (), 0)
    assert (plan.sum_tokens, plan.turns_count, plan.tokens_before) == (900, 4, 1500)
    assert plan.folded == ()


def test_a_revision_exchanges_one_digest() -> None:
    """In the layout one digest and its size are others, the body is as much larger, and all else is equal."""
    done = revise()
    (digest,) = done.digests
    assert (digest.generator, digest.text, digest.reads) == ("abstractive", "what a model wrote", (5, 7, 8))
    assert done.layout == replace(
        LAYOUT,
        ranges=(COARSE, replace(FIRST, digest_id=digest.id, digest_tokens=140), SECOND),
        body_tokens=LAYOUT.body_tokens + 40,
    )
    assert (done.report.tokens_before, done.report.tokens_after) == (1500, 1540)


def test_what_a_revision_reads_is_read_again() -> None:
    """Its certificate covers no new message and says, with their hashes, that its digest reads what the other had."""
    done = revise()
    certificate = certificate_from_text(certificate_to_text(done.certificate))
    assert certificate == done.certificate
    assert certificate.covered == ()
    digest_id = done.digests[0].id
    assert [(one.seq, one.digest_id) for one in certificate.folded_later] == [
        (5, digest_id),
        (7, digest_id),
        (8, digest_id),
    ]
    hashes = {seq: hash_text(str(seq)) for seq in range(1, 13)}
    digests = {digest_id: hash_text("what a model wrote")}
    assert check_certificate(certificate, expected_first_seq=13, message_hashes=hashes, digest_hashes=digests) == []
    changed = check_certificate(
        certificate, expected_first_seq=13, message_hashes=hashes | {7: "0"}, digest_hashes=digests
    )
    assert [problem.seq for problem in changed] == [7]


def test_never_neither_follows_a_revision() -> None:
    """Messages whose digest was exchanged are read by the new one; without the revision's certificate they are not."""
    certificates = [certify("evt_1", 1, 4, ""), FIRST_CERTIFICATE, certify("evt_3", 9, 12, "evt_3.digest")]
    done = revise()
    assert check_never_neither(LAYOUT, certificates, compaction_id="evt_3", last_seq=20) == []
    after = [*certificates, done.certificate]
    assert check_never_neither(done.layout, after, compaction_id="evt_4", last_seq=20) == []
    lost = check_never_neither(done.layout, certificates, compaction_id="evt_4", last_seq=20)
    assert [problem.seq for problem in lost] == [5, 7, 8]
    forged = replace(
        done.certificate, folded_later=tuple(replace(one, digest_id="evt_x") for one in done.certificate.folded_later)
    )
    assert check_never_neither(done.layout, [*certificates, forged], compaction_id="evt_4", last_seq=20) == lost


@pytest.mark.parametrize(
    ("first_seq", "last_seq", "found"), [(5, 8, FIRST), (1, 4, None), (5, 7, None), (13, 14, None)]
)
def test_only_an_events_own_digest_is_found(first_seq: int, last_seq: int, found: ShownRange | None) -> None:
    """A range of exactly an event is found while it stands as a fine one; what was rolled up is not."""
    assert find_shown(LAYOUT, first_seq, last_seq) == found


def test_a_projected_layout_is_at_the_caps() -> None:
    """What a held event will leave: its range at its cap, joined ranges as one at its own, nothing else of the past."""
    layout = measured(Layout(watermark=4, held=(HEAD, sliced(3)), ranges=(shown(1, 4, "evt_1.digest"),)))
    projected = project_layout(PLAN, layout)
    assert [(one.first_seq, one.last_seq, one.kind, one.digest_tokens) for one in projected.ranges] == [
        (1, 4, "rollup", 250),
        (5, 8, "digest", 300),
    ]
    assert (projected.watermark, projected.sum_tokens, projected.turns_count) == (8, 600, 3)
    assert projected.held == PLAN.held
    assert projected.body_tokens == measure_body(projected)


def test_a_projection_without_a_range() -> None:
    """An event over older messages only adds no range."""
    layout = measured(Layout(watermark=4, held=(HEAD, sliced(3)), ranges=(shown(1, 4, "evt_1.digest"),)))
    plan = replace(PLAN, first_seq=5, last_seq=4, groups=(), sum_tokens=0)
    assert [one.kind for one in project_layout(plan, layout).ranges] == ["rollup"]


def test_a_note_names_digests_that_stand() -> None:
    """A note names the awaited ranges whose own digest stands, oldest first, and no other; its reserve is one for all."""
    assert list_noted(AWAITED, LAYOUT) == [AWAITED[0]]
    assert measure_note(AWAITED, LAYOUT) == NOTE_TOKENS
    both = (Awaited("evt_3", 9, 12), *AWAITED)
    assert [one.first_seq for one in list_noted(both, LAYOUT)] == [5, 9]
    assert measure_note(both, LAYOUT) == NOTE_TOKENS
    assert measure_note((), LAYOUT) == 0


def test_a_window_reserves_room_for_its_note() -> None:
    """While something is on its way the window is larger by the reserve, and by it alone; its body is the same."""
    state = SessionState(safe_sum_tokens=1000)
    plain = measure_window(state, LAYOUT)
    assert measure_window(replace(state, awaited=AWAITED), LAYOUT) == plain + NOTE_TOKENS
