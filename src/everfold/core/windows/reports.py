"""The report of a window: what is in it and why, by arithmetic over state and layout, without reading a message."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from everfold.core.compaction.layout import HeldMessage, Layout
from everfold.core.compaction.planning import measure_note, measure_window
from everfold.core.digests.standing import LeftOut
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.calibration import Calibration, count_parts, count_tokens
from everfold.core.log.state import WHOLE_WINDOW, SessionState
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.core.windows.entries import Slice, TextEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBreakPlace:
    """One change of a request before its end.

    Attributes:
        reason: `compaction: ` with its trigger, `prompt` (system prompt or tools changed), `erase`, `session`, `retract`
            (the newest messages were taken back; nothing is sent again but what stands behind a context refresh that is
            shown again), `refresh` (a context refresh took the place of an older one), `memory` (its snapshot was written again for an erase in it, or was turned on), or `suffix` (what was recalled for the turn fits no longer; nothing is sent again).
        resent_tokens: What can no longer come from the provider's cache.
    """

    reason: str
    resent_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReport:
    """What is in a window and why.

    Token counts are the provider's, as far as they are known: our estimate times the session's calibration, which is 1
    before the provider has counted a request. The limit and the budget are exact.

    Attributes:
        tokens: The whole window, fixed part included, without the reserve for the dynamic suffix that is not used.
        by_slice: The tokens of each slice.
        message_count: Messages of the log that are shown verbatim or in their visible form.
        digest_count: Digests that are shown.
        compacted_through: The last message that compaction has decided about.
        last_seq: The newest message that is shown.
        withheld_seqs: Messages of an open step, which wait for their results.
        standing_left_out: Standing instructions that there is no room for, counted and named by range.
        cache_breaks: Why the beginning of this request differs from that of the window before, and what the provider's cache
            must read again for it; empty when the request only grew at its end.
        full_slices: Slices that are at their bound, when the window could not come down to its trigger.
        memory: What of memory is shown and why, a line for each part.
    """

    limit_tokens: int
    budget_tokens: int
    fixed_tokens: int
    usable_tokens: int
    tokens: int
    by_slice: Mapping[Slice, int]
    message_count: int
    digest_count: int
    compacted_through: int
    last_seq: int
    withheld_seqs: tuple[int, ...]
    standing_left_out: LeftOut
    cache_breaks: tuple[CacheBreakPlace, ...] = ()
    full_slices: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()


def list_held(layout: Layout, refresh_seq: int) -> list[HeldMessage]:
    """What a layout shows word for word; a refresh that a newer one replaced is not shown."""
    return [held for held in layout.held if held.hold != "refresh" or held.seq == refresh_seq]


def measure_slices(layout: Layout, *, snapshot: str = "", refresh_seq: int = 0) -> dict[Slice, int]:
    """The tokens of each slice of the past that a layout shows. O(what it shows).

    Args:
        layout: What is shown of the past.
        snapshot: What is remembered of the user; empty for nothing.
        refresh_seq: The newest context refresh.
    """
    by_slice: dict[Slice, int] = {}
    held_of: dict[str, Slice] = {"head": "head", "running": "running", "refresh": "refresh"}
    for held in list_held(layout, refresh_seq):
        name = held_of.get(held.hold, "kept")
        by_slice[name] = by_slice.get(name, 0) + held.tokens
    by_slice["standing"] = layout.standing_tokens
    by_slice["digest"] = layout.body_tokens - layout.standing_tokens - sum(held.tokens for held in layout.held)
    if snapshot:
        by_slice["snapshot"] = estimate_text_tokens(snapshot) + MESSAGE_OVERHEAD_TOKENS
    return by_slice


def count_shown(state: SessionState, layout: Layout, *, refreshes: Sequence[int], gone: Collection[int]) -> int:
    """How many messages a window shows. O(what the layout shows, refreshes and erased messages).

    Args:
        state: The session's state.
        layout: What is shown of the past.
        refreshes: The context refreshes of the log that are not gone.
        gone: The erased and the retracted messages of the log.
    """
    first_tail = max(layout.watermark, state.fixed_seq) + 1
    held_count = sum(held.seq not in gone for held in list_held(layout, state.refresh_seq))
    gone_count = sum(seq <= state.fixed_seq or first_tail <= seq <= state.safe_seq for seq in gone)
    replaced_count = sum(first_tail <= seq <= min(state.replaced_seq, state.safe_seq) for seq in refreshes)
    return state.fixed_seq + held_count + max(state.safe_seq - first_tail + 1, 0) - gone_count - replaced_count


def report_window(
    state: SessionState,
    layout: Layout,
    policy: Policy,
    budget: UsableBudget,
    *,
    by_slice: Mapping[Slice, int],
    message_count: int,
    suffix: Sequence[TextEntry] = (),
    why: tuple[str, ...] = (),
) -> WindowReport:
    """What a window says of itself, in tokens of the fixed estimate. O(what the layout shows).

    Args:
        state: The session's state.
        layout: What is shown of the past.
        policy: How the session compacts.
        budget: The shares of the limit.
        by_slice: The tokens of the past, as `measure_slices` gives them.
        message_count: How many messages are shown.
        suffix: The end of this request.
        why: What of memory is shown.
    """
    reserved_tokens = measure_note(state.awaited, layout)
    tokens = measure_window(state, layout) - reserved_tokens
    snapshot_tokens = by_slice.get("snapshot", 0)
    suffix_tokens = sum([estimate_text_tokens(entry.text) + MESSAGE_OVERHEAD_TOKENS for entry in suffix])
    slices: dict[Slice, int] = {
        "fixed": budget.prompt_tokens,
        **by_slice,
        "tail": tokens - sum(by_slice.values()) + snapshot_tokens,
        "suffix": suffix_tokens,
    }
    return WindowReport(
        limit_tokens=budget.limit_tokens,
        budget_tokens=budget.budget_tokens,
        fixed_tokens=budget.fixed_tokens,
        usable_tokens=budget.usable_tokens,
        tokens=budget.prompt_tokens + snapshot_tokens + tokens + suffix_tokens,
        by_slice=slices,
        message_count=message_count,
        digest_count=sum(bool(shown_range.digest_id) for shown_range in layout.ranges),
        compacted_through=layout.watermark,
        last_seq=state.safe_seq,
        withheld_seqs=tuple(range(state.safe_seq + 1, state.last_seq + 1)),
        standing_left_out=layout.standing_left_out,
        cache_breaks=tuple(
            [
                CacheBreakPlace(
                    reason=reason, resent_tokens=budget.prompt_tokens + tokens if cost == WHOLE_WINDOW else cost
                )
                for reason, cost in state.cache_breaks
            ]
        ),
        full_slices=find_full_slices(slices, budget, policy)
        if tokens + reserved_tokens >= budget.trigger_tokens
        else (),
        memory=why,
    )


def count_report(report: WindowReport, budget: UsableBudget, calibration: Calibration) -> WindowReport:
    """A report in the provider's tokens: its slices sum to its tokens."""
    if calibration.factor == 1:
        return report
    counted = budget.count(calibration)
    by_slice = dict(zip(report.by_slice, count_parts(calibration, list(report.by_slice.values())), strict=True))
    return replace(
        report,
        budget_tokens=counted.budget_tokens,
        fixed_tokens=counted.fixed_tokens,
        usable_tokens=counted.usable_tokens,
        tokens=count_tokens(calibration, report.tokens),
        by_slice=by_slice,
        cache_breaks=tuple(
            [
                CacheBreakPlace(reason=one.reason, resent_tokens=count_tokens(calibration, one.resent_tokens))
                for one in report.cache_breaks
            ]
        ),
    )


def find_full_slices(by_slice: Mapping[Slice, int], budget: UsableBudget, policy: Policy) -> tuple[str, ...]:
    """The slices that fill a window that is above its trigger with nothing left to fold."""
    bounds: dict[Slice, float] = {
        "head": budget.message_cap_tokens * 0.5,
        "kept": budget.kept_tokens * 0.8,
        "digest": budget.digest_tokens * 0.8,
        "standing": budget.standing_tokens * 0.8,
        "running": budget.visible_tokens * 0.5,
        "tail": budget.usable_tokens * policy.visible_ratio,
    }
    return tuple(name for name, bound in bounds.items() if by_slice.get(name, 0) >= bound)
