"""Occasions: when a session is to be brought up to date whether or not its window is full.

Both are told from the session's state alone, so they survive a restart; with nothing configured they are two comparisons.
A turn begins with a message that the user said, so ticks and injections are no activity.

Source: DESIGN section 3.5, cadence and gap.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from everfold.core.planning import LATCH_COUNT, Demand
from everfold.core.room import Policy
from everfold.core.sessions import SessionRecord
from everfold.core.state import SessionState

Occasion = Literal["gap", "cadence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRequest:
    """What context sources are asked on an occasion: what happened in a stretch of time.

    Attributes:
        from_at: The end of the stretch that was answered last.
        deadline_secs: How long an answer is waited for.
    """

    session: SessionRecord
    occasion: Occasion
    from_at: datetime
    to_at: datetime
    deadline_secs: float


def find_occasion(state: SessionState, policy: Policy) -> Occasion | None:
    """Which occasion has come and was not met yet. The gap goes first: a person waits."""
    if policy.gap_secs and state.turn_seq > state.gap_seq and _measure_gap(state) >= policy.gap_secs:
        return "gap"
    if policy.continuous_interval and count_exchanges(state) - state.cadence_turns >= policy.continuous_interval:
        return "cadence"
    return None


def _measure_gap(state: SessionState) -> float:
    """How long the user was away before the newest message, in seconds; 0 before the second one."""
    if state.active_at is None or state.away_since is None:
        return 0.0
    return (state.active_at - state.away_since).total_seconds()


def count_exchanges(state: SessionState) -> int:
    """How many turns have finished."""
    return max(state.turns_count - 1, 0)


def ask_fold(occasion: Occasion, state: SessionState, policy: Policy) -> Demand | None:
    """The compaction that an occasion asks for; None while automatic ones are off or paused."""
    if not policy.enabled or state.stuck_count >= LATCH_COUNT:
        return None
    return Demand(keep_recent=policy.keep_recent, trigger=occasion)


def ask_sources(
    occasion: Occasion, record: SessionRecord, state: SessionState, policy: Policy, now: datetime
) -> RefreshRequest:
    """The stretch of time that was not answered yet, no longer than the look-back."""
    earliest = now - timedelta(seconds=policy.gap_max_lookback_secs)
    known = state.refreshed_at or (state.away_since if occasion == "gap" else None) or record.created_at
    return RefreshRequest(
        session=record,
        occasion=occasion,
        from_at=min(max(known, earliest), now),
        to_at=now,
        deadline_secs=policy.gap_deadline_secs,
    )


def meet_occasion(occasion: Occasion, state: SessionState, *, refreshed_at: datetime | None) -> SessionState:
    """The next state, in which the occasion was met. A refresh that failed leaves its stretch to be asked again."""
    met = replace(
        state,
        revision=state.revision + 1,
        cadence_turns=count_exchanges(state),
        refreshed_at=refreshed_at or state.refreshed_at,
    )
    return replace(met, gap_seq=state.turn_seq) if occasion == "gap" else met
