"""When to compact: the plan of a compaction as data, what the window measures, and the triggers.

The log is cut at the watermark. Everything after it, the tail, is shown as it is; everything up to it has been decided
about. What a compaction keeps and folds is chosen in `core/compaction/choosing.py`.

Source: DESIGN sections 3.1, 3.2 and 3.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from everfold.core.compaction.layout import HeldMessage, Layout, ShownRange, split_held
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.messages import Note
from everfold.core.log.state import Awaited, SessionState
from everfold.core.text.frames import EARLIER_TEXT, NOTE_TOKENS, name_earlier
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens

Trigger = Literal["tokens", "overflow", "turns", "rows", "cadence", "gap", "manual", "late_digest"]
"""Why a compaction was begun. late_digest: a model's digest replaces the extractive one of an earlier compaction."""

Asked = Literal["manual", "cadence", "gap"]
Group = Literal["fixed", "head", "kept", "folded", "refresh", "erased", "retracted"]
GONE: Final[frozenset[Group]] = frozenset(("erased", "retracted"))
"""The groups of messages that need no words."""

EARLIER_TOKENS = estimate_text_tokens(EARLIER_TEXT)

BREAKER_COUNT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A compaction that was asked for, by a person or by an occasion.

    Leaves the newest messages and prefers lines about the focus. A plan folds none of the last `keep_recent` numbers.
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
        standing_cap_tokens: For strong standing instructions, with their frame; weaker ones have a cap of their own.
        tokens_before: The window less its fixed part, before.
        replaced_tokens: What the layout and the range count for refreshes that the window does not show, less what the
            layout afterwards counts for them.
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
    weak_standing_cap_tokens: int = 0
    replaced_tokens: int = 0
    focus: str | None = None

    @property
    def folded(self) -> tuple[int, ...]:
        """The messages of the range that a digest will represent."""
        return tuple(self.first_seq + i for i, group in enumerate(self.groups) if group == "folded")


def name_gone(note: Note) -> Group:
    """The group of a message that is in the log no more."""
    return "retracted" if note.kind == "retracted" else "erased"


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


def measure_let_go(state: SessionState, layout: Layout, held: Sequence[HeldMessage], *, through: int) -> int:
    """Tokens that a layout, and the range of a compaction behind it, count for refreshes that are not shown.

    Less what the compaction's own layout, which holds the given messages, counts for them again.
    """
    kept = sum([it.tokens for it in held if it.hold == "refresh" and it.seq != state.refresh_seq])
    return measure_replaced(state, layout, through=through) - kept


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
        ranges.insert(0, project_range(1, plan.join_through, "rollup", plan.rollup_cap_tokens))
    if plan.groups:
        ranges.append(project_range(plan.first_seq, plan.last_seq, "digest", plan.digest_cap_tokens))
    layout = replace(
        layout,
        watermark=plan.last_seq,
        sum_tokens=plan.sum_tokens,
        turns_count=plan.turns_count,
        held=plan.held,
        ranges=tuple(ranges),
    )
    return replace(layout, body_tokens=measure_body(layout))


def project_range(first_seq: int, last_seq: int, kind: Literal["digest", "rollup"], tokens: int) -> ShownRange:
    """A range as it will be shown by a digest that is not written yet."""
    return ShownRange(first_seq=first_seq, last_seq=last_seq, digest_id="", kind=kind, digest_tokens=tokens)


def measure_floor(state: SessionState, layout: Layout) -> int:
    """Tokens that no compaction can fold: the head, the running user message, the newest refresh and block."""
    tokens = state.newest_block_tokens
    if state.turn_seq and state.turn_seq < state.newest_block_seq:
        tokens += state.turn_tokens
    if state.refresh_seq < state.newest_block_seq:
        tokens += sum([it.tokens for it in state.refreshes[-1:]])
    if state.head_seq != state.turn_seq and state.head_seq < state.newest_block_seq:
        tokens += state.head_tokens or (layout.head.tokens if layout.head else 0)  # states of before did not hold it
    return tokens


def measure_trigger(state: SessionState, policy: Policy, budget: UsableBudget) -> int:
    """From how many tokens on a compaction is due.

    Where a model's digest is awaited, earlier when the log grows so fast that it would pass the hard limit meanwhile;
    half of the way from the target to the trigger is left.

    Source: DESIGN section 3.2.
    """
    if not policy.awaits_model:
        return budget.trigger_tokens
    least = (budget.target_tokens + budget.trigger_tokens) // 2
    return min(budget.trigger_tokens, max(budget.hard_limit_tokens - state.growth.expected_tokens, least))


def find_trigger(
    state: SessionState, layout: Layout, policy: Policy, budget: UsableBudget, *, tokens: int | None = None
) -> Trigger | None:
    """Why a compaction is due now, or None. The strongest reason wins; the circuit breaker silences all but an overflow."""
    tokens = measure_window(state, layout) if tokens is None else tokens
    if tokens > budget.hard_limit_tokens:
        return "overflow"
    if not policy.enabled or state.stuck_count >= BREAKER_COUNT:
        return None
    if tokens >= measure_trigger(state, policy, budget):
        return "tokens"
    turns_count, rows_count = state.turns_count - layout.turns_count, state.safe_seq - layout.watermark
    if policy.turn_backstop is not None and turns_count > policy.turn_backstop + policy.turn_slack:
        return "turns"
    if policy.row_window is not None and rows_count > policy.row_window + policy.row_headroom:
        return "rows"
    return None
