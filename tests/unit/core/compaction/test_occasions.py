"""Occasions: told from the state alone, met once each."""

from dataclasses import replace

import pytest

from everfold.core.compaction.occasions import ask_fold, find_occasion, meet_occasion
from everfold.core.compaction.planning import BREAKER_COUNT
from everfold.core.log.budget import Policy
from everfold.core.log.state import SessionState
from everfold.testing.kit.builders import minute

GAP = Policy(gap_secs=600.0)
CADENCE = Policy(continuous_interval=5)
BACK = SessionState(turn_seq=9, turns_count=3, away_since=minute(0), active_at=minute(10))


@pytest.mark.parametrize(
    ("away_minutes", "policy", "is_gap"),
    [(10, GAP, True), (9, GAP, False), (10**6, Policy(), False)],
    ids=["as long as asked", "shorter", "off"],
)
def test_a_gap_is_as_long_as_asked(away_minutes: int, policy: Policy, *, is_gap: bool) -> None:
    """A gap is there from exactly so many seconds between two messages of the user on, and never where it is off."""
    state = replace(BACK, active_at=minute(away_minutes))
    assert find_occasion(state, policy) == ("gap" if is_gap else None)


@pytest.mark.parametrize("missing", ["away_since", "active_at"])
def test_a_first_message_ends_no_gap(missing: str) -> None:
    """Before the second message of the user there was no time in between."""
    state = replace(BACK, **{missing: None})  # type: ignore[arg-type]  # parametrised
    assert find_occasion(state, GAP) is None


def test_a_gap_is_met_once_a_turn() -> None:
    """Met, it is none any more within its turn; the next turn after a gap has one of its own."""
    met = meet_occasion("gap", BACK)
    assert met.revision == BACK.revision + 1
    assert find_occasion(met, GAP) is None
    assert find_occasion(replace(met, turn_seq=12, away_since=minute(10), active_at=minute(99)), GAP) == "gap"


def test_cadence_counts_finished_turns() -> None:
    """Every so many exchanges it is time; the running turn is not one of them, and a met one counts from there."""
    state = SessionState()
    fired: list[int] = []
    for turns_count in range(1, 20):
        state = replace(state, turns_count=turns_count)
        if find_occasion(state, CADENCE) == "cadence":
            fired.append(turns_count - 1)
            state = meet_occasion("cadence", state)
    assert fired == [5, 10, 15]


def test_a_person_goes_first() -> None:
    """Where both have come it is the gap, and meeting it meets the cadence too."""
    state, policy = replace(BACK, turns_count=8), Policy(gap_secs=600.0, continuous_interval=5)
    assert find_occasion(state, policy) == "gap"
    assert find_occasion(meet_occasion("gap", state), policy) is None


def test_no_occasion_folds_what_must_not_be_folded() -> None:
    """While automatic compaction is off or latched an occasion asks for no fold; else for one that keeps the newest."""
    assert ask_fold("gap", BACK, replace(GAP, enabled=False)) is None
    assert ask_fold("cadence", replace(BACK, stuck_count=BREAKER_COUNT), GAP) is None
    demand = ask_fold("cadence", BACK, replace(GAP, keep_recent=7))
    assert demand is not None
    assert (demand.keep_recent, demand.trigger) == (7, "cadence")
