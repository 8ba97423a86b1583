"""The state row: what is kept of it, and what older releases kept."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.growth import STEADY, Growth
from everfold.core.log.state import (
    REMEMBERED_CACHE_BREAKS,
    Answered,
    Awaited,
    KnownRefresh,
    OpenStep,
    SessionState,
    know_refreshes,
    state_from_bytes,
    state_to_bytes,
)
from everfold.testing.kit.builders import minute

BUSY = SessionState(
    revision=7,
    last_seq=40,
    open_step=OpenStep(first_seq=39, pending=("a",), answered=("b",)),
    compaction_id="evt_2",
    compactions_count=2,
    pending_compactions=("evt_3", "evt_4"),
    awaited=(Awaited("evt_1", 1, 10), Awaited("evt_2", 11, 20, is_patient=True)),
    active_at=minute(3),
    away_since=minute(1),
    gap_seq=31,
    cadence_turns=12,
    refreshes=(KnownRefresh(17, 300, 4000), KnownRefresh(31, 220, 5000, 300)),
    answered=(Answered("calendar://work", minute(2)),),
    succeeded_at=minute(4),
    growth=Growth(tokens=12.5, at=minute(3), digest_secs=4.25),
    cache_breaks=(("compaction: tokens", 90),),
    epoch=3,
)
NEW_FIELDS = (
    "pending_compactions",
    "awaited",
    "active_at",
    "away_since",
    "gap_seq",
    "cadence_turns",
    "refreshes",
    "answered",
    "succeeded_at",
    "growth",
)


@pytest.mark.parametrize("state", [SessionState(), BUSY], ids=["new", "busy"])
def test_a_state_reads_back_equal(state: SessionState) -> None:
    """Every field comes back but the revision, which is kept beside it."""
    assert state_from_bytes(state_to_bytes(state), revision=9) == replace(state, revision=9)


def test_an_older_row_still_loads() -> None:
    """A row without the fields of background work is a session for which nothing is on its way."""
    value = json.loads(state_to_bytes(BUSY))
    for name in NEW_FIELDS:
        del value[name]
    value["refreshed_at"] = 7
    old = state_from_bytes(json.dumps(value).encode(), revision=7)
    assert old == replace(
        BUSY,
        pending_compactions=(),
        awaited=(),
        active_at=None,
        away_since=None,
        gap_seq=0,
        cadence_turns=0,
        refreshes=(),
        answered=(),
        succeeded_at=None,
        growth=STEADY,
    )
    assert not old.has_work


def test_what_is_work() -> None:
    """Held events are work, and so is what stands under a continuity note."""
    assert replace(SessionState(), pending_compactions=("evt_1",)).has_work
    assert replace(SessionState(), awaited=(Awaited("evt_1", 1, 2),)).has_work
    assert not SessionState().has_work


def test_the_newest_breaks_are_remembered() -> None:
    """However many breaks no window reports, so many of the newest are kept, in order."""
    state = SessionState()
    for number in range(REMEMBERED_CACHE_BREAKS + 5):
        state = state.with_cache_break(f"break {number}", number)
    assert [cost for _, cost in state.cache_breaks] == list(range(5, REMEMBERED_CACHE_BREAKS + 5))
    assert state.breaks_count == REMEMBERED_CACHE_BREAKS + 5


@pytest.mark.parametrize(("count", "left"), [(0, "bc"), (1, "bc"), (2, "c"), (3, "")])
def test_what_is_reported_twice_takes_no_other_break(count: int, left: str) -> None:
    """Of all breaks those up to a count are reported; what is so already stays so."""
    state = SessionState(reported_count=1, cache_breaks=(("b", 1), ("c", 1)))
    after = state.with_reported(count)
    assert [reason for reason, _ in after.cache_breaks] == list(left)
    assert after.breaks_count == state.breaks_count


@pytest.mark.parametrize(("reported_count", "reasons"), [(0, "abcd"), (1, "bcd"), (2, "bcd"), (3, "bcd"), (4, "bc")])
def test_what_was_not_reported_after_all_comes_before_what_is_new(reported_count: int, reasons: str) -> None:
    """Breaks that count as reported, and that no window was given with, are to be reported again, each once, in order."""
    older = SessionState(reported_count=1, cache_breaks=(("b", 1), ("c", 1)))
    left = tuple((reason, 1) for reason in "abcd"[reported_count:])
    after = SessionState(reported_count=reported_count, cache_breaks=left).with_unreported(older)
    assert "".join(reason for reason, _ in after.cache_breaks) == reasons
    assert after.breaks_count == 4


def test_refreshes_of_an_older_row_are_summed_up() -> None:
    """A row that did not say what the refreshes before one cost reads as one that does."""
    value = json.loads(state_to_bytes(BUSY))
    value["refreshes"] = [row[:3] for row in value["refreshes"]]
    assert state_from_bytes(json.dumps(value).encode(), revision=7) == BUSY


@given(
    costs=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 500)), max_size=12),
    known_count=st.integers(0, 12),
    passed_seq=st.integers(0, 60),
    after_seq=st.integers(0, 110),
    through_seq=st.integers(0, 110),
)
def test_what_replaced_refreshes_cost_is_the_sum_of_their_tokens(
    costs: list[tuple[int, int]], known_count: int, passed_seq: int, after_seq: int, through_seq: int
) -> None:
    """However they came to be known, and whatever compaction has passed: all of a stretch but the newest of the log."""
    found: list[tuple[int, int, int]] = []
    for gap, tokens in costs:
        found.append((found[-1][0] + gap if found else gap, tokens, 0))
    known = know_refreshes(know_refreshes((), found[:known_count]), found[known_count:])
    state = SessionState(refreshes=known).without_replaced(passed_seq)
    replaced = [one for one in state.refreshes[:-1] if after_seq < one.seq <= through_seq]
    assert state.measure_replaced(after_seq, through_seq) == sum(one.tokens for one in replaced)
