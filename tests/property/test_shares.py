"""Shares: whatever the log and the limit, the parts of a window never sum above the target, and the tail has its least."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.sizes import examples

from everfold.core.compaction.choosing import plan_compaction
from everfold.core.compaction.folding import fold
from everfold.core.compaction.layout import EMPTY_LAYOUT, HeldMessage, Layout
from everfold.core.compaction.planning import measure_body, measure_floor, measure_window
from everfold.core.compaction.shares import Wanted, share_parts
from everfold.core.digests.pools import RollupPool
from everfold.core.log.budget import (
    LEAST_KEPT_TOKENS,
    MOST_DIGESTS_TOKENS,
    MOST_KEPT_TOKENS,
    MOST_STANDING_TOKENS,
    MOST_WEAK_STANDING_TOKENS,
    Policy,
    UsableBudget,
    fit_target,
    share_budget,
)
from everfold.core.log.calibration import Calibration
from everfold.core.log.messages import Kind, Note
from everfold.core.log.state import SessionState
from everfold.core.statements.extracts import ExtractLine
from everfold.testing.kit.builders import minute

LIMITS = (4_000, 16_000, 128_000, 1_000_000)
KINDS: Sequence[Kind] = ("user", "assistant", "assistant", "user", "assistant", "system")
MOST_MESSAGES = 400

tokens = st.integers(0, 300_000)
wanted_parts = st.builds(
    Wanted,
    given=st.integers(0, 40_000),
    strong=tokens,
    weak=tokens,
    kept=tokens,
    digests=tokens,
    folded=tokens,
    is_first=st.booleans(),
)


def make_budget(limit_tokens: int, policy: Policy | None = None) -> UsableBudget:
    """The shares of a limit."""
    return share_budget(limit_tokens, policy or Policy(suffix_ratio=0), calibration=Calibration())


@given(wanted_parts, st.sampled_from(LIMITS))
@settings(max_examples=examples(800), deadline=None)
def test_the_parts_share_the_target(wanted: Wanted, limit: int) -> None:
    """Nothing passes its share or the target, the tail has its own, and who yields is kept, then weaker, then digests."""
    budget = make_budget(limit)
    wanted = replace(wanted, given=min(wanted.given, int(budget.usable_tokens * 0.08)))
    shares = share_parts(wanted, budget)
    total = shares.given + shares.strong + shares.weak + shares.kept + shares.digests + shares.tail
    assert total <= budget.target_tokens + 1
    assert shares.tail >= budget.tail_tokens - 1
    assert shares.strong <= min(wanted.strong, budget.standing_tokens, MOST_STANDING_TOKENS)
    assert shares.weak <= min(wanted.weak, budget.weak_standing_tokens, MOST_WEAK_STANDING_TOKENS)
    assert shares.digests <= shares.slice <= max(budget.digest_tokens, 96)
    assert shares.digests <= MOST_DIGESTS_TOKENS
    assert shares.kept <= min(wanted.kept, MOST_KEPT_TOKENS)
    assert not budget.kept_tokens or shares.kept in {0, wanted.kept} or shares.kept >= LEAST_KEPT_TOKENS
    if shares.digests < min(wanted.digests, budget.least_digest_tokens):
        assert not shares.weak
    if shares.digests < shares.slice:
        return  # what digests leave goes to kept messages, whatever the others lack
    if shares.weak < min(wanted.weak, budget.weak_standing_tokens):
        assert not shares.kept
    if shares.strong < min(wanted.strong, budget.standing_tokens):
        assert (shares.weak, shares.kept) == (0, 0)


@pytest.mark.parametrize("limit", LIMITS)
def test_what_one_part_leaves_goes_to_kept_messages_first(limit: int) -> None:
    """Without digests and standing lines to fill the target, kept messages pass their share, up to their cap."""
    budget = make_budget(limit)
    shares = share_parts(Wanted(kept=10**6), budget)
    free = budget.target_tokens - budget.tail_tokens
    assert shares.kept == (min(free, MOST_KEPT_TOKENS) if budget.kept_tokens else 0)
    assert shares.tail == budget.target_tokens - shares.kept


class Log:
    """A log of made-up notes that grows and is folded, without a store."""

    def __init__(self, policy: Policy, budget: UsableBudget) -> None:
        self.policy, self.full = policy, budget
        self.notes: list[Note] = []
        self.layout: Layout = EMPTY_LAYOUT
        self.pool: RollupPool | None = None
        self.state = SessionState()

    def append(self, kind: Kind, size: int, *, is_standing: bool, keep: bool) -> None:
        """One more message, a unit of its own."""
        seq, state = len(self.notes) + 1, self.state
        is_user = kind == "user"
        line = ExtractLine(
            seq=seq,
            origin="user" if is_user else "assistant",
            kind="constraint",
            score=80,
            quote=f"Never send parcel {seq} of shelf {seq % 7} to harbour {seq % 5} before the Monday after."[
                : size * 3
            ],
            start=0,
            standing=is_user and is_standing,
            said_at=minute(seq),
        )
        head_seq = state.head_seq or (seq if is_user and size <= self.full.message_cap_tokens else 0)
        self.state = replace(
            state,
            last_seq=seq,
            safe_seq=seq,
            sum_tokens=state.sum_tokens + size,
            safe_sum_tokens=state.sum_tokens + size,
            newest_block_seq=seq,
            newest_block_tokens=size,
            turn_seq=seq if is_user else state.turn_seq,
            turn_tokens=size if is_user else state.turn_tokens,
            turns_count=state.turns_count + is_user,
            head_seq=head_seq,
            head_tokens=size if head_seq == seq else state.head_tokens,
        )
        self.notes.append(
            Note(
                seq=seq,
                kind=kind,
                origin=line.origin,
                name=None,
                said_at=minute(seq),
                tokens=size,
                raw_tokens=size,
                is_boundary=True,
                keep=keep and is_user,
                content_hash=f"{seq:064x}",
                sum_tokens=self.state.sum_tokens,
                turn_seq=self.state.turn_seq,
                turns_count=self.state.turns_count,
                lines=(line,),
            )
        )

    def compact(self) -> bool:
        """Fold once where that is due; the parts are checked."""
        budget = fit_target(self.full, self.policy, measure_floor(self.state, self.layout))
        plan = plan_compaction(self.state, self.layout, self.notes[self.layout.watermark :], self.policy, budget)
        if plan is None:
            return False
        done = fold(
            plan, self.layout, {note.seq: note for note in self.notes}, self.pool, compaction_id=f"c{plan.last_seq}"
        )
        self.layout = done.layout
        for digest in done.digests:
            self.pool = digest.pool or self.pool
        self.check(budget)
        return True

    def check(self, budget: UsableBudget) -> None:
        """What the window shows now is within its shares."""
        layout, unit = self.layout, max(note.tokens for note in self.notes)
        assert measure_body(layout) == layout.body_tokens
        tail = self.state.safe_sum_tokens - layout.sum_tokens + _sum(layout.held, "running", "refresh")
        kept, pinned = _sum(layout.held, "slice"), _sum(layout.held, "pin", "system")
        digests = sum(shown.digest_tokens for shown in layout.ranges)
        assert measure_window(self.state, layout) <= budget.target_tokens
        assert tail >= budget.tail_tokens - unit - 1 or budget.target_tokens > self.full.target_tokens
        assert _sum(layout.held, "head") <= budget.message_cap_tokens
        assert pinned <= budget.pinned_tokens
        assert pinned + layout.standing_tokens <= budget.standing_tokens + budget.weak_standing_tokens + 48
        assert kept <= (MOST_KEPT_TOKENS if budget.kept_tokens else 0)
        assert all(held.tokens <= budget.kept_tokens // 2 for held in layout.held if held.hold == "slice")
        assert digests <= max(budget.digest_tokens, 2 * 48)
        again = plan_compaction(self.state, layout, self.notes[layout.watermark :], self.policy, budget)
        assert again is None, "G12: directly after a compaction planning gives something to do"


def _sum(held: Sequence[HeldMessage], *holds: str) -> int:
    return sum(message.tokens for message in held if message.hold in holds)


@given(
    st.sampled_from(LIMITS),
    st.sampled_from([0.95, 0.8]),
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.floats(0.0005, 0.05), st.booleans(), st.booleans()),
        min_size=6,
        max_size=40,
    ),
)
@settings(max_examples=examples(240), deadline=None)
def test_after_a_compaction_the_parts_are_within_their_shares(
    limit: int, trigger_ratio: float, sizes: list[tuple[Kind, float, bool, bool]]
) -> None:
    """At every limit a log that grows is folded to its target, and directly afterwards nothing is due."""
    policy = Policy(suffix_ratio=0, trigger_ratio=trigger_ratio, awaits_model=trigger_ratio < 0.9)
    budget = make_budget(limit, policy)
    log = Log(policy, budget)
    compactions_count = 0
    while compactions_count < 4 and len(log.notes) < MOST_MESSAGES:
        for kind, share, is_standing, keep in sizes:
            log.append(kind, max(int(share * budget.usable_tokens), 8), is_standing=is_standing, keep=keep)
            while log.compact():
                compactions_count += 1
