"""When to compact, and what a compaction keeps and folds.

Theory of operation. The log is cut at the watermark. Everything after it, the tail, is shown as it is; everything up to
it has been decided about. A compaction moves the watermark forward over whole units, and assigns every message that
it passes to a group. It folds from the oldest end until the window is at the target, never the newest unit, never the
user message of the running turn. It may fold older kept messages too: then every range that they lie in joins
the rollup, which has read them.

Source: DESIGN sections 3.1, 3.2 and 3.5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from everfold.core.compaction.layout import APART, HeldMessage, Layout, ShownRange, split_held
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.messages import Note
from everfold.core.log.state import Awaited, SessionState
from everfold.core.text.frames import EARLIER_TEXT, NOTE_TOKENS, name_earlier
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens

Trigger = Literal["tokens", "overflow", "turns", "rows", "cadence", "gap", "manual", "late_digest"]
"""Why a compaction was begun. late_digest: a model's digest replaces the extractive one of an earlier compaction."""

Asked = Literal["manual", "cadence", "gap"]
Group = Literal["fixed", "head", "kept", "folded", "refresh", "erased"]

LEAVE_RATIO = 0.8
"""A slice that is over lets its oldest go down to this share of it. Source: DESIGN section 3.1."""

DIGEST_CAP_TOKENS = 2048
FIRST_DIGEST_RATIO = 1 / 3
DIGEST_SHARE_RATIO = 0.25
"""What one digest may take of the digest slice: DESIGN 3.4 allows a third, which the first one takes; the later
ones take a quarter, so that two stand side by side and the rollup before them changes at every second compaction.
Measured on 3,000 messages of the endless log at a budget of 8,000: 0.767 of the prefix stays cached, 0.760 with a third
for all, 0.774 with a fifth."""

DIGESTS_SLICE_RATIO = 0.6
DIGESTS_JOIN_RATIO = 0.3
"""Digests may take 0.6 of their slice (DESIGN 3.4); when they are over, the oldest join the rollup down to
0.3, so that they leave in a batch."""

ROLLUP_SLICE_RATIO = 0.4
SMALLEST_DIGEST_TOKENS = 48
"""A digest below this could not even name its range and carry one line."""

EARLIER_TOKENS = estimate_text_tokens(EARLIER_TEXT)

BREAKER_COUNT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A compaction that was asked for, by a person or by an occasion.

    Leaves the newest messages and prefers lines about the focus.
    """

    keep_recent: int
    focus: str | None = None
    trigger: Asked = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What one compaction will do, as data.

    The range is `[first_seq, last_seq]`; it is empty (`last_seq` = `first_seq` - 1) when only older messages leave.

    Attributes:
        groups: The group of every message of the range, in order.
        held: All messages that are held afterwards, by sequence number.
        leaving: Messages of older ranges that leave the window.
        join_through: The last message of the ranges that join the rollup; 0 when none does.
        tokens_before: The window less its fixed part, before.
        replaced_tokens: What the layout and the range count for refreshes that the window does not show any more.
    """

    trigger: Trigger
    first_seq: int
    last_seq: int
    groups: tuple[Group, ...]
    held: tuple[HeldMessage, ...]
    leaving: tuple[int, ...]
    join_through: int
    digest_cap_tokens: int
    rollup_cap_tokens: int
    standing_cap_tokens: int
    tokens_before: int
    sum_tokens: int
    turns_count: int
    replaced_tokens: int = 0
    focus: str | None = None

    @property
    def folded(self) -> tuple[int, ...]:
        """The messages of the range that a digest will represent."""
        return tuple(self.first_seq + i for i, group in enumerate(self.groups) if group == "folded")


def measure_body(layout: Layout) -> int:
    """Tokens of everything that the window shows of the past, frames included. O(held); a layout remembers it."""
    tokens = sum(held.tokens for held in layout.held)
    for shown, kept in zip(layout.ranges, split_held(layout.held, layout.ranges), strict=True):
        tokens += measure_frame([held.seq for held in kept]) + shown.digest_tokens
    return tokens + layout.standing_tokens + (MESSAGE_OVERHEAD_TOKENS if layout.standing_text else 0)


def measure_frame(kept_seqs: Sequence[int]) -> int:
    """Tokens of what surrounds one range: its message, and the lines before and after its kept messages."""
    return MESSAGE_OVERHEAD_TOKENS + (
        EARLIER_TOKENS + estimate_text_tokens(name_earlier(kept_seqs)) if kept_seqs else 0
    )


def measure_window(state: SessionState, layout: Layout) -> int:
    """Tokens of the window less its fixed part, with the reserve for the continuity note while one is due.

    An open step is withheld and does not count.
    """
    tokens = layout.body_tokens + state.safe_sum_tokens - layout.sum_tokens
    if state.refreshes:
        tokens -= measure_replaced(state, layout)
    return tokens + measure_note(state.awaited, layout)


def measure_replaced(state: SessionState, layout: Layout, *, through: int | None = None) -> int:
    """Tokens that a layout, and the log after it up to a message, count for refreshes that are no longer shown."""
    shown_seq = state.refresh_seq
    held = sum([it.tokens for it in layout.held_refreshes if it.seq != shown_seq])
    return held + state.measure_replaced(layout.watermark, state.last_seq if through is None else through)


def list_noted(awaited: Sequence[Awaited], layout: Layout) -> list[Awaited]:
    """The awaited ranges that the continuity note names, oldest first: those whose own digest is still shown."""
    fine = {(shown.first_seq, shown.last_seq) for shown in layout.ranges if shown.kind == "digest"}
    return sorted([one for one in awaited if (one.first_seq, one.last_seq) in fine], key=lambda one: one.first_seq)


def measure_note(awaited: Sequence[Awaited], layout: Layout) -> int:
    """What is reserved in the dynamic suffix for the continuity note; 0 while nothing is on its way."""
    return NOTE_TOKENS if awaited and list_noted(awaited, layout) else 0


def project_layout(plan: CompactionPlan, layout: Layout) -> Layout:
    """What the layout will be at most once a pending compaction is committed: its digests at their caps.

    Source: DESIGN section 3.2, plan on the projected window.
    """
    ranges = [shown for shown in layout.ranges if shown.last_seq > plan.join_through]
    if plan.join_through:
        ranges.insert(0, _projected(1, plan.join_through, "rollup", plan.rollup_cap_tokens))
    if plan.groups:
        ranges.append(_projected(plan.first_seq, plan.last_seq, "digest", plan.digest_cap_tokens))
    layout = replace(
        layout,
        watermark=plan.last_seq,
        sum_tokens=plan.sum_tokens,
        turns_count=plan.turns_count,
        held=plan.held,
        ranges=tuple(ranges),
    )
    return replace(layout, body_tokens=measure_body(layout))


def _projected(first_seq: int, last_seq: int, kind: Literal["digest", "rollup"], tokens: int) -> ShownRange:
    return ShownRange(first_seq=first_seq, last_seq=last_seq, digest_id="", kind=kind, digest_tokens=tokens)


def measure_floor(state: SessionState, layout: Layout) -> int:
    """Tokens that no compaction can fold: the head, the running user message, the newest refresh and block."""
    tokens = state.newest_block_tokens
    if state.turn_seq and state.turn_seq < state.newest_block_seq:
        tokens += state.turn_tokens
    if state.refresh_seq < state.newest_block_seq:
        tokens += sum([it.tokens for it in state.refreshes[-1:]])
    head = layout.head
    return tokens + (head.tokens if head and head.seq != state.turn_seq else 0)


def find_trigger(
    state: SessionState, layout: Layout, policy: Policy, budget: UsableBudget, *, tokens: int | None = None
) -> Trigger | None:
    """Why a compaction is due now, or None. The strongest reason wins; the circuit breaker silences all but an overflow."""
    tokens = measure_window(state, layout) if tokens is None else tokens
    if tokens > budget.hard_limit_tokens:
        return "overflow"
    if not policy.enabled or state.stuck_count >= BREAKER_COUNT:
        return None
    if tokens >= budget.trigger_tokens:
        return "tokens"
    if state.turns_count - layout.turns_count > policy.turn_backstop + policy.turn_slack:
        return "turns"
    if state.safe_seq - layout.watermark > policy.row_window + policy.row_headroom:
        return "rows"
    return None


def plan_compaction(
    state: SessionState,
    layout: Layout,
    notes: Sequence[Note],
    policy: Policy,
    budget: UsableBudget,
    *,
    demand: Demand | None = None,
) -> CompactionPlan | None:
    """Choose what the next compaction keeps and folds, or None when nothing is due or nothing would be gained.

    Args:
        state: The session's state.
        layout: What the window shows of the past now.
        notes: The messages directly after the watermark, ending at a boundary; at least one compaction's worth.
        policy: How the session compacts.
        budget: The shares of the limit that the window must fit, its slices fitted to the floor.
        demand: A compaction that was asked for.

    Never cuts inside a step. Ties keep more. O(notes + held).
    """
    tokens = measure_window(state, layout)
    trigger = demand.trigger if demand else find_trigger(state, layout, policy, budget, tokens=tokens)
    if trigger is None:
        return None
    walk = _Walk(state, layout, policy, budget, trigger, tokens)
    last_foldable = state.newest_block_seq - 1
    if demand:
        last_foldable = min(last_foldable, state.last_seq - demand.keep_recent)
    best = walk.candidate()
    for block in _blocks(notes):
        if block[-1].seq > last_foldable or (not demand and walk.is_enough(best)):
            break
        if walk.passed and len(walk.passed) + len(block) > policy.rows_per_digest:
            break
        walk.pass_block(block)
        if walk.may_be_enough():
            best = walk.candidate()
    best = best if best.passed_count == len(walk.passed) else walk.candidate()
    has_more = bool(walk.passed) and walk.passed[-1].seq < last_foldable
    is_cut_short = has_more and (demand is not None or not walk.is_enough(best))
    return walk.finish(best, demand, is_cut_short=is_cut_short)


def _blocks(notes: Sequence[Note]) -> Iterable[Sequence[Note]]:
    start = 0
    for index, note in enumerate(notes):
        if note.is_boundary:
            yield notes[start : index + 1]
            start = index + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """What the window would be if the fold ended here."""

    passed_count: int
    passed_tokens: int
    turns: int
    held: tuple[HeldMessage, ...]
    kept_tokens: int
    digest_tokens: int
    tokens_after: int


class _Walk:
    """Moves the watermark block by block and keeps what each stop would give."""

    def __init__(
        self, state: SessionState, layout: Layout, policy: Policy, budget: UsableBudget, trigger: Trigger, tokens: int
    ) -> None:
        self.state = state
        self.layout = layout
        self.policy = policy
        self.budget = budget
        self.trigger = trigger
        self.tokens = tokens
        self.passed: list[Note] = []
        self.passed_tokens = 0
        self.turns = 0
        shown = [held for held in layout.held if held.hold != "refresh" or held.seq == state.refresh_seq]
        self.offered: list[HeldMessage] = [settle_running(held, state) for held in shown]
        self.replaced = {one.seq for one in state.refreshes[:-1]}
        self.digests_now = sum(shown.digest_tokens for shown in layout.ranges)
        self.held_now = sum(held.tokens for held in shown)
        held_tokens = sum(held.tokens for held in layout.held)
        self.body_rest = layout.body_tokens - self.digests_now - held_tokens
        self.tail = tokens - layout.body_tokens + held_tokens - self.held_now

    def pass_block(self, block: Sequence[Note]) -> None:
        for note in block:
            self.passed.append(note)
            self.passed_tokens += 0 if note.seq in self.replaced else note.tokens
            self.turns += note.kind == "user"
            offered = offer_note(note, self.state, self.budget)
            if offered is not None:
                self.offered.append(offered)

    def may_be_enough(self) -> bool:
        """Whether a candidate is worth making here: false while not even letting go of all that can leave would do.

        The kept slice never falls below `LEAVE_RATIO` of itself by less than one message.
        """
        least_held = int(self.budget.kept_tokens * LEAVE_RATIO) - self.budget.message_cap_tokens
        gain = self.passed_tokens + max(self.held_now - max(least_held, 0), 0)
        return self.trigger in {"turns", "rows"} or self.tokens - gain <= self.budget.target_tokens

    def candidate(self) -> _Candidate:
        held = choose_held(self.offered, self.budget)
        held_tokens = sum(message.tokens for message in held)
        folded_tokens = self.passed_tokens - max(held_tokens - self.held_now, 0)
        digests = min(
            self.digests_now + digest_cap(folded_tokens, self.budget, is_first=not self.layout.ranges),
            self.budget.digest_tokens,
        )
        rest = self.body_rest + (MESSAGE_OVERHEAD_TOKENS * 6 if self.passed else 0)
        after = rest + held_tokens + digests + self.tail - self.passed_tokens
        return _Candidate(
            passed_count=len(self.passed),
            passed_tokens=self.passed_tokens,
            turns=self.turns,
            held=held,
            kept_tokens=held_tokens,
            digest_tokens=digests,
            tokens_after=after,
        )

    def is_enough(self, best: _Candidate) -> bool:
        watermark = self.layout.watermark + best.passed_count
        return (
            best.tokens_after <= self.budget.target_tokens
            or (self.trigger in {"turns", "rows"} and self.tokens < self.budget.trigger_tokens)
        ) and (
            self.state.turns_count - self.layout.turns_count - best.turns <= self.policy.turn_backstop
            and self.state.safe_seq - watermark <= self.policy.row_window
        )

    def finish(self, best: _Candidate, demand: Demand | None, *, is_cut_short: bool) -> CompactionPlan | None:
        passed = self.passed[: best.passed_count]
        held_seqs = {message.seq for message in best.held}
        leaving = tuple(it.seq for it in self.layout.held if it.hold != "refresh" and it.seq not in held_seqs)
        groups = tuple(self._group(note, held_seqs) for note in passed)
        folded_tokens = sum(note.tokens for note, group in zip(passed, groups, strict=True) if group == "folded")
        cap = (
            digest_cap(folded_tokens, self.budget, is_first=not self.layout.ranges)
            if folded_tokens or "folded" in groups
            else 0
        )
        join_through = self._join_through(leaving, cap)
        if not passed and not leaving and not join_through:
            return None
        if not self._is_worth_it(best, folded_tokens, leaving, is_cut_short=is_cut_short):
            return None
        last_seq = self.layout.watermark + len(passed)
        return CompactionPlan(
            trigger=self.trigger,
            first_seq=self.layout.watermark + 1,
            last_seq=last_seq,
            groups=groups,
            held=best.held,
            leaving=leaving,
            join_through=join_through,
            digest_cap_tokens=cap,
            rollup_cap_tokens=self._rollup_cap(),
            standing_cap_tokens=self.budget.standing_tokens,
            tokens_before=self.tokens,
            sum_tokens=passed[-1].sum_tokens if passed else self.layout.sum_tokens,
            turns_count=self.layout.turns_count + best.turns,
            replaced_tokens=measure_replaced(self.state, self.layout, through=last_seq),
            focus=demand.focus if demand else None,
        )

    def _group(self, note: Note, held_seqs: set[int]) -> Group:
        if note.is_erased:
            return "erased"
        if note.kind == "fixed":
            return "fixed"
        if note.seq == self.state.head_seq:
            return "head"
        if note.seq in self.replaced or note.seq == self.state.refresh_seq:
            return "refresh"
        return "kept" if note.seq in held_seqs else "folded"

    def _join_through(self, leaving: Sequence[int], cap_tokens: int) -> int:
        """How far the rollup must reach: over every range that loses a message, and the fine ones too many."""
        ranges = self.layout.ranges
        through = 0
        for shown in ranges:
            if any(shown.first_seq <= seq <= shown.last_seq for seq in leaving):
                through = shown.last_seq
        fine = [shown for shown in ranges if shown.kind == "digest" and shown.last_seq > through]
        total = sum(shown.digest_tokens for shown in fine) + cap_tokens
        if total > self.budget.digest_tokens * DIGESTS_SLICE_RATIO:
            for shown in fine:
                if total <= max(self.budget.digest_tokens * DIGESTS_JOIN_RATIO, cap_tokens):
                    break
                total -= shown.digest_tokens
                through = shown.last_seq
        rollup = self.layout.rollup
        if not through and rollup and rollup.digest_tokens > self._rollup_cap() * 1.05:
            through = rollup.last_seq
        return through

    def _rollup_cap(self) -> int:
        return max(int(self.budget.digest_tokens * ROLLUP_SLICE_RATIO), SMALLEST_DIGEST_TOKENS)

    def _is_worth_it(self, best: _Candidate, folded_tokens: int, leaving: Sequence[int], *, is_cut_short: bool) -> bool:
        """No automatic fold but an overflow is smaller than the least one, or makes the window larger.

        A compaction that ends before its fold is enough may gain nothing (a run of short user messages, all kept): the
        next one goes on from there.
        """
        if self.trigger in {"overflow", "manual"}:
            return bool(folded_tokens or leaving or best.tokens_after < self.tokens or is_cut_short)
        if self.trigger in {"turns", "rows", "cadence", "gap"}:
            return best.passed_tokens >= self.budget.min_fold_tokens
        return self.tokens - best.tokens_after >= self.budget.min_fold_tokens


def digest_cap(folded_tokens: int, budget: UsableBudget, *, is_first: bool) -> int:
    """The most that a digest of this source may take. Source: DESIGN section 3.4."""
    if not folded_tokens:
        return 0
    share = FIRST_DIGEST_RATIO if is_first else DIGEST_SHARE_RATIO
    cap = min(DIGEST_CAP_TOKENS, int(budget.digest_tokens * share), folded_tokens // 4)
    return max(cap, SMALLEST_DIGEST_TOKENS)


def settle_running(held: HeldMessage, state: SessionState) -> HeldMessage:
    """A held message as it counts now: what was running and is no longer becomes an ordinary one."""
    if held.hold == "head":
        return held
    if held.seq == state.turn_seq:
        return replace(held, hold="running")
    if held.hold == "running":
        return replace(held, hold="pin" if held.keep else "slice")
    return held


def offer_note(note: Note, state: SessionState, budget: UsableBudget) -> HeldMessage | None:
    """How a message would be held once the watermark has passed it, or None when it can only fold."""
    if note.is_erased:
        return None
    if note.seq == state.head_seq:
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="head", keep=note.keep)
    if note.seq == state.turn_seq:
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="running", keep=note.keep)
    if note.seq == state.refresh_seq:
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="refresh")
    if note.kind == "system":
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="system")
    if note.kind == "user" and note.keep:
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="pin", keep=True)
    if note.kind == "user" and note.raw_tokens <= budget.message_cap_tokens:
        return HeldMessage(seq=note.seq, tokens=note.tokens, hold="slice")
    return None


def choose_held(offered: Sequence[HeldMessage], budget: UsableBudget) -> tuple[HeldMessage, ...]:
    """The messages that stay, of those that could: pinned ones within their share, then the newest of the rest.

    When a share is over, its oldest leave in a batch, down to `LEAVE_RATIO` of it, so that a message does not leave at
    every compaction. Head, running message and newest refresh always stay. By sequence number. O(offered).
    """
    pins = [held for held in offered if held.hold in {"pin", "system"}]
    stays = _newest_within(pins, budget.pinned_tokens)
    pinned = {held.seq for held in stays}
    plain = [
        replace(held, hold="slice")
        for held in offered
        if held.hold == "slice" or (held.hold == "pin" and held.seq not in pinned)
    ]
    plain = [held for held in plain if held.tokens <= budget.message_cap_tokens]
    left = budget.kept_tokens - sum(held.tokens for held in stays)
    stays += _newest_within(plain, max(left, 0))
    stays += [held for held in offered if held.hold in APART]
    return tuple(sorted(stays, key=lambda held: held.seq))


def _newest_within(held: Sequence[HeldMessage], cap_tokens: int) -> list[HeldMessage]:
    total = sum(message.tokens for message in held)
    if total <= cap_tokens:
        return list(held)
    for index, message in enumerate(held):
        if total <= cap_tokens * LEAVE_RATIO:
            return list(held[index:])
        total -= message.tokens
    return []
