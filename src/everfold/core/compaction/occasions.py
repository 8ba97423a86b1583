"""Occasions: when a session is compacted and refreshed whether or not its window is full.

Both are computed from the session's state alone, so they survive a restart; if neither is configured they cost two
comparisons.
A turn begins with a message that the user said, so ticks and injections are no activity.

Source: DESIGN section 3.5, cadence and gap.
"""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from everfold.core.compaction.planning import BREAKER_COUNT, Demand
from everfold.core.log.budget import Policy
from everfold.core.log.state import SessionState

Occasion = Literal["gap", "cadence"]


def find_occasion(state: SessionState, policy: Policy) -> Occasion | None:
    """The occasion that is due and was not met yet. A gap comes first, since its user waits."""
    if policy.gap_secs and state.turn_seq > state.gap_seq and _measure_gap(state) >= policy.gap_secs:
        return "gap"
    if policy.continuous_interval and count_exchanges(state) - state.cadence_turns >= policy.continuous_interval:
        return "cadence"
    return None


def is_return(state: SessionState, policy: Policy, said_at: datetime) -> bool:
    """Whether a message that the user is about to send ends a gap that was not met yet."""
    if not policy.gap_secs or state.active_at is None or state.gap_seq > state.turn_seq:
        return False
    return (said_at - state.active_at).total_seconds() >= policy.gap_secs


def claim_return(state: SessionState) -> SessionState:
    """The next state, in which the gap before the next message is met: the handle that writes it does what it asks for."""
    return replace(state, revision=state.revision + 1, gap_seq=state.last_seq + 1, cadence_turns=count_exchanges(state))


def _measure_gap(state: SessionState) -> float:
    """How long the user was away before the newest message, in seconds; 0 before the second one."""
    if state.active_at is None or state.away_since is None:
        return 0.0
    return (state.active_at - state.away_since).total_seconds()


def count_exchanges(state: SessionState) -> int:
    """How many turns have finished: all but the last, and the last once it is answered."""
    return max(state.turns_count - 1, state.answered_count, 0)


def ask_fold(occasion: Occasion, state: SessionState, policy: Policy) -> Demand | None:
    """The compaction that an occasion needs; None while automatic ones are off or paused."""
    if not policy.enabled or state.stuck_count >= BREAKER_COUNT:
        return None
    return Demand(keep_recent=policy.keep_recent, trigger=occasion)


def meet_occasion(occasion: Occasion, state: SessionState) -> SessionState:
    """The next state, in which the occasion is met. Only the caller that writes it does the work."""
    met = replace(state, revision=state.revision + 1, cadence_turns=count_exchanges(state))
    return replace(met, gap_seq=state.turn_seq) if occasion == "gap" else met
