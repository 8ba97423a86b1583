"""How the parts of a window share the target after a compaction.

Theory of operation. The tail has its least share, and what the head, the frames and the pinned messages take is given.
Strong standing instructions take theirs next, but for what digests need at least; then weaker ones, then kept messages;
digests have the rest. So kept messages yield first, weaker standing instructions next, digests last. What is left over
goes to kept messages first, and what they leave to the tail, so the sum is the target and never more.

Source: DESIGN sections 3.1 and 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from everfold.core.compaction.layout import Layout, ShownRange
from everfold.core.log.budget import LEAST_KEPT_TOKENS, MOST_KEPT_TOKENS, UsableBudget

DIGEST_CAP_TOKENS = 4096
FIRST_DIGEST_RATIO = 1 / 3
DIGEST_SHARE_RATIO = 0.25
"""What one digest may take of the digest slice: DESIGN 3.4 allows a third, which the first one takes; the later
ones take a quarter, so that two stand side by side and the rollup before them changes at every second compaction.
Measured on 3,000 messages of the endless log at a budget of 8,000: 0.767 of the prefix stays cached, 0.760 with a third
for all, 0.774 with a fifth."""

DIGESTS_SLICE_RATIO = 0.6
DIGESTS_JOIN_RATIO = 0.3
"""Digests may take 0.6 of their slice (DESIGN 3.4), or what a rollup that stands leaves of it; when they are over, the
oldest join the rollup down to 0.3, so that they leave in a batch."""

ROLLUP_SLICE_RATIO = 0.4
"""What a rollup has at least; it takes what the digests beside it leave, less the room for one more."""

SOURCE_SHARE = 4
"""A digest is at most this part of what it stands for. Source: DESIGN 3.4."""

SMALLEST_DIGEST_TOKENS = 48
"""A digest below this could not even name its range and carry one line."""

LEAST_STANDING_TOKENS = 48
"""What the standing instructions need to count what they do not show. Source: our estimate of that line and its frame, 41."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the parts of a window would take, in tokens.

    Attributes:
        given: The head, the frames and the pinned messages: what takes its tokens before anything is shared.
        pinned: The part of it that is pinned, which counts within the strong standing instructions.
        strong: Strong standing instructions, with the frame of all.
        weak: Weaker ones.
        kept: User messages that could be kept.
        digests: The digests that stand now.
        rollup: The part of them that is the rollup's.
        folded: The source of the digest to come.
        is_first: It is the first of its session.
        joins_all: Whether all digests that stand join the rollup at each compaction.
    """

    given: int = 0
    pinned: int = 0
    strong: int = 0
    weak: int = 0
    kept: int = 0
    digests: int = 0
    rollup: int = 0
    folded: int = 0
    is_first: bool = False
    joins_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What the parts of a window get, in tokens. `slice` is what digests may take, `digests` what they will at most."""

    given: int
    strong: int
    weak: int
    kept: int
    slice: int
    digests: int
    tail: int


def share_parts(wanted: Wanted, budget: UsableBudget) -> Shares:
    """Share the target among the parts. The tail gets less than its own share only where the floors of the others ask for it."""
    free = max(budget.target_tokens - budget.tail_tokens - wanted.given, 0)
    least = max(budget.least_digest_tokens, 2 * SMALLEST_DIGEST_TOKENS) if wanted.folded or wanted.digests else 0
    strong = min(wanted.strong, budget.standing_tokens - wanted.pinned, free - least)
    strong = max(strong, min(wanted.strong, LEAST_STANDING_TOKENS, budget.standing_tokens))
    free = max(free - strong, least)
    weak = min(wanted.weak, budget.weak_standing_tokens, free - least)
    free -= weak
    kept = _drop_small(min(wanted.kept, budget.kept_tokens, free - least), wanted.kept)
    slice_tokens = max(min(free - kept, budget.digest_tokens), least)
    digests = _expect_digests(wanted, slice_tokens)
    if budget.kept_tokens:
        kept = max(kept, _drop_small(min(wanted.kept, MOST_KEPT_TOKENS, free - digests), wanted.kept))
    tail = budget.target_tokens - wanted.given - strong - weak - kept - digests
    return Shares(
        given=wanted.given, strong=strong, weak=weak, kept=kept, slice=slice_tokens, digests=digests, tail=max(tail, 0)
    )


def _expect_digests(wanted: Wanted, slice_tokens: int) -> int:
    """What digests will take at most: all of their slice where a rollup is written anew."""
    cap = cap_digest(wanted.folded, slice_tokens, is_first=wanted.is_first)
    fine = wanted.digests - wanted.rollup + cap
    is_joined = wanted.digests and (wanted.joins_all or fine > _measure_most(wanted.rollup, slice_tokens))
    return slice_tokens if is_joined else min(wanted.digests + cap, slice_tokens)


def _measure_most(rollup_tokens: int, slice_tokens: int) -> int:
    """What the digests beside a rollup of so many tokens may take before they join it."""
    return slice_tokens - rollup_tokens if rollup_tokens else int(slice_tokens * DIGESTS_SLICE_RATIO)


def _drop_small(kept: int, wanted: int) -> int:
    """A kept slice, or none where it is too small for what would stand in it."""
    return kept if kept >= min(wanted, LEAST_KEPT_TOKENS) else 0


def cap_digest(folded_tokens: int, slice_tokens: int, *, is_first: bool) -> int:
    """The most that a digest of this source may take of a digest slice; 0 where nothing folds. Source: DESIGN section 3.4."""
    if not folded_tokens:
        return 0
    share = FIRST_DIGEST_RATIO if is_first else DIGEST_SHARE_RATIO
    cap = min(DIGEST_CAP_TOKENS, int(slice_tokens * share), folded_tokens // SOURCE_SHARE)
    return max(cap, SMALLEST_DIGEST_TOKENS)


def cap_rollup(layout: Layout, joined_through: int, *, cap_tokens: int, slice_tokens: int, joins_all: bool) -> int:
    """The most that a rollup may take: what the digests beside it leave of the slice, less the room for one more.

    Takes what `choose_joined` takes and gives.
    """
    beside = sum([_count(shown) for shown in layout.ranges if shown.last_seq > joined_through])
    ahead = 0 if joins_all else int(slice_tokens * DIGEST_SHARE_RATIO)
    free = slice_tokens - beside - cap_tokens - ahead
    return max(free, int(slice_tokens * ROLLUP_SLICE_RATIO) if not joins_all else 0, SMALLEST_DIGEST_TOKENS)


def choose_joined(
    layout: Layout, leaving: Sequence[int], *, cap_tokens: int, slice_tokens: int, joins_all: bool = False
) -> int:
    """How far the rollup must reach: over every range that loses a message, and the digests too many; 0 for no rollup.

    Args:
        layout: What is shown now.
        leaving: Messages of its ranges that are shown no longer.
        cap_tokens: The most that the digest to come takes.
        slice_tokens: What all digests may take.
        joins_all: Whether every digest that stands joins, if it is too many or not.
    """
    ranges, rollup = layout.ranges, layout.rollup
    if joins_all:
        return layout.watermark
    last_left = max(leaving, default=0)
    through = max([shown.last_seq for shown in ranges if shown.first_seq <= last_left], default=0)
    fine = [shown for shown in ranges if shown.kind == "digest" and shown.last_seq > through]
    total = sum([_count(shown) for shown in fine]) + cap_tokens
    stands = rollup.digest_tokens if rollup and not through else 0
    if total > _measure_most(stands, slice_tokens):
        for shown in fine:
            if total <= max(slice_tokens * DIGESTS_JOIN_RATIO, cap_tokens):
                break
            total -= _count(shown)
            through = shown.last_seq
    if not through and rollup and stands + total > slice_tokens:
        through = rollup.last_seq
    return through


def _count(shown: ShownRange) -> int:
    """What a range counts among the digests: a digest too small to say anything has a frame like any other."""
    return max(shown.digest_tokens, SMALLEST_DIGEST_TOKENS)
