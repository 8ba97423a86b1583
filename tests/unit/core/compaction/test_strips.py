"""Strips are what their definition says, message by message, however they are put together."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.compaction.layout import HeldMessage, Hold, Layout, ShownRange
from everfold.core.compaction.strips import Fate, make_strip
from everfold.core.statements.extracts import ExtractLine
from everfold.testing.kit.builders import minute

MOST = 40
SEQS = st.sets(st.integers(1, MOST), max_size=8)
HOLDS: list[Hold] = ["head", "slice", "pin", "running", "system"]


def line(seq: int) -> ExtractLine:
    """A standing line of a message."""
    return ExtractLine(
        seq=seq, origin="user", kind="constraint", score=90, quote="q", start=0, standing=True, said_at=minute(seq)
    )


def judge(
    seq: int,
    layout: Layout,
    *,
    left: set[int],
    fixed_seq: int,
    safe_seq: int,
    refreshes: list[int],
    erased: set[int],
    noted: list[tuple[int, int]],
) -> Fate:
    """The fate of one message, by what the fates mean, in their order of precedence."""
    if seq in erased:
        return "erased"
    if seq <= fixed_seq:
        return "fixed"
    if refreshes and seq == refreshes[-1]:
        return "refresh"
    if seq in refreshes:
        return "replaced"
    if seq > layout.watermark:
        return "tail" if seq <= safe_seq else "open"
    return judge_past(seq, layout, left=left, noted=noted)


def judge_past(seq: int, layout: Layout, *, left: set[int], noted: list[tuple[int, int]]) -> Fate:
    """The same for a message that compaction has decided about."""
    for held in layout.held:
        if held.seq == seq:
            return held.hold if held.hold in {"head", "running"} else "kept"
    if seq in {one.seq for one in layout.standing}:
        return "quote"
    if seq in left:
        return "folded_later"
    if layout.rollup and seq <= layout.rollup.last_seq:
        return "rollup"
    return "note" if any(first <= seq <= last for first, last in noted) else "digest"


@given(data=st.data())
def test_every_message_has_the_fate_of_its_definition(data: st.DataObject) -> None:
    """Run by run a strip gives each message the fate that the definition gives it alone, in runs as long as can be."""
    last_seq = data.draw(st.integers(0, MOST))
    safe_seq = data.draw(st.integers(0, last_seq))
    watermark = data.draw(st.integers(0, safe_seq))
    fixed_seq = data.draw(st.integers(0, safe_seq))
    rollup_last = data.draw(st.integers(0, watermark))
    ranges = [(1, rollup_last, "rollup"), (rollup_last + 1, watermark, "digest")]
    layout = Layout(
        watermark=watermark,
        held=tuple(
            HeldMessage(seq=seq, tokens=1, hold=data.draw(st.sampled_from(HOLDS))) for seq in sorted(data.draw(SEQS))
        ),
        ranges=tuple(
            ShownRange(first_seq=first, last_seq=last, digest_id="d", kind=kind, digest_tokens=1)  # type: ignore[arg-type]  # one of two
            for first, last, kind in ranges
            if first <= last
        ),
        standing=tuple(line(seq) for seq in data.draw(SEQS)),
    )
    left, refreshes, erased = data.draw(SEQS), sorted(data.draw(SEQS)), data.draw(SEQS)
    ends = sorted(data.draw(st.sets(st.integers(1, watermark), max_size=4))) if watermark else []
    noted = list(zip(ends[::2], ends[1::2], strict=False))
    strip = make_strip(
        layout,
        folded_later=left,
        fixed_seq=fixed_seq,
        safe_seq=safe_seq,
        last_seq=last_seq,
        refreshes=refreshes,
        erased=erased,
        noted=noted,
    )
    known = [seq for seq in refreshes if seq <= last_seq]
    assert strip.fates == [
        judge(
            seq,
            layout,
            left=left,
            fixed_seq=fixed_seq,
            safe_seq=safe_seq,
            refreshes=known,
            erased=erased,
            noted=noted,
        )
        for seq in range(1, last_seq + 1)
    ]
    assert all(one[0] != after[0] for one, after in zip(strip.runs, strip.runs[1:], strict=False))
    assert all(count > 0 for _, count in strip.runs)
