"""The dynamic suffix: what it may take at the end of a request, and its text.

It has a reserve, and space beyond it where the window leaves some free. What is made for a turn is sized by the window as of
the turn's own user message, with room left for a step, so that every handle gives it the same bytes, whichever step it
comes to first; a later step that leaves it no space drops it whole.

Source: DESIGN 3.6.
"""

from dataclasses import replace

from everfold.core.compaction.layout import Layout
from everfold.core.compaction.planning import measure_note, measure_window
from everfold.core.log.budget import UsableBudget
from everfold.core.log.state import SessionState
from everfold.core.text.frames import NOTE_TOKENS
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens, truncate_to_tokens
from everfold.core.windows.entries import TextEntry

_STEP_SHARE = 0.5
"""What a step may take of the free space at most, where the largest one is not less: half, the other half is the suffix's.

A choice: how other shares serve was not measured.
"""


def measure_suffix_space(state: SessionState, layout: Layout, budget: UsableBudget, *, note: str = "") -> int:
    """The tokens that there are for the dynamic suffix now, its frame included and the continuity note apart.

    At least the reserve, as long as the window is within its hard limit. The window stays within the budget whatever takes
    them.
    """
    has_note = bool(note) and _has_room(state, layout, budget)
    counted = NOTE_TOKENS - measure_note(state.awaited, layout) if has_note else 0
    taken = budget.prompt_tokens + budget.snapshot_tokens + measure_window(state, layout) + counted
    return max(min(budget.budget_tokens - taken, budget.most_suffix_tokens), 0)


def measure_turn_space(
    state: SessionState, layout: Layout, budget: UsableBudget, *, turn_sum_tokens: int, note: str = "", has_steps: bool
) -> int:
    """The tokens that a turn's suffix is sized by: the space as of its user message, less room for a step where any is made.

    Args:
        state: The log, on whichever step of the turn.
        layout: What compaction has made of it.
        budget: The shares of the limit.
        turn_sum_tokens: The prefix sum at the turn's user message, as its note has it.
        note: The continuity note of the turn.
        has_steps: Whether the session makes steps.
    """
    began = begin_turn(state, layout, turn_sum_tokens)
    space = measure_suffix_space(began, layout, budget, note=note)
    if not has_steps:
        return space
    free = budget.usable_tokens + budget.suffix_tokens - measure_window(began, layout)
    left = free - min(budget.step_visible_tokens, int(free * _STEP_SHARE))
    return min(space, max(left, budget.suffix_tokens))


def begin_turn(state: SessionState, layout: Layout, turn_sum_tokens: int) -> SessionState:
    """The state with the log measured up to the turn's user message, and the refreshes after it; a fold may be past that."""
    begin_seq = max(state.turn_seq, layout.watermark)
    refreshed = sum([one.tokens for one in state.refreshes if one.seq > begin_seq])
    begun = max(turn_sum_tokens, layout.sum_tokens) + refreshed
    return replace(state, safe_sum_tokens=min(begun, state.safe_sum_tokens))


def measure_suffix(text: str) -> int:
    """What a text takes as a suffix, its frame included."""
    return estimate_text_tokens(text) + MESSAGE_OVERHEAD_TOKENS if text else 0


def list_suffix(
    state: SessionState, layout: Layout, budget: UsableBudget, *, suffix: str, note: str
) -> list[TextEntry]:
    """The suffix as an entry, or none: the continuity note where it fits, then the text, cut to its space."""
    space = measure_suffix_space(state, layout, budget, note=note)
    if measure_suffix(suffix) > space:
        suffix = truncate_to_tokens(suffix, max(space - MESSAGE_OVERHEAD_TOKENS, 0), head_share=1.0)[0]
    shown_note = note if _has_room(state, layout, budget) else ""
    text = "\n\n".join(filter(None, (shown_note, suffix)))
    return [TextEntry(text=text, slice="suffix")] if text else []


def _has_room(state: SessionState, layout: Layout, budget: UsableBudget) -> bool:
    """Whether the continuity note fits: always while its reserve counts, later where the window leaves room for it."""
    unreserved = NOTE_TOKENS - measure_note(state.awaited, layout)
    return measure_window(state, layout) + unreserved <= budget.hard_limit_tokens
