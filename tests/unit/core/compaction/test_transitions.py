"""The tables of transitions are whole, and fit each other."""

from itertools import product
from typing import get_args

import pytest

from everfold.core.compaction.transitions import (
    COMPACTION,
    DIGEST,
    ENDED_STATES,
    EXTRACTION,
    LAYOUT,
    OPEN_STATES,
    Cause,
    CompactionState,
    Ending,
    JobCause,
    WorkState,
    find_ending,
    find_next,
    move_digest,
    move_extraction,
)
from everfold.errors import ConflictError
from everfold.testing.contract.transitions import PATHS, Position, list_causes

JOB_STATES: tuple[WorkState, ...] = get_args(WorkState)


def test_every_cause_has_its_rows() -> None:
    """Each cause is in both tables of a compaction, and each cause of a job in the table of one job at least."""
    assert set(COMPACTION) == set(LAYOUT) == set(get_args(Cause))
    assert set(DIGEST) | set(EXTRACTION) == set(get_args(JobCause))


def test_every_state_can_be_reached() -> None:
    """No state is listed that no compaction comes to."""
    assert {position.state for position in PATHS} == set(get_args(CompactionState)) == OPEN_STATES | ENDED_STATES


@pytest.mark.parametrize("position", [it for it in PATHS if it.state in OPEN_STATES], ids="-".join)
def test_every_open_event_can_end(position: Position) -> None:
    """From each open position at least one ending is listed: a held event is cancelled, a committed one settled."""
    endings = {ending for ending in get_args(Ending) if find_next(position.state, position.layout, ending)}
    assert endings == ({"cancelled"} if position.layout == "held" else {"done", "degraded"})


@pytest.mark.parametrize("position", [it for it in PATHS if it.state in ENDED_STATES], ids="-".join)
def test_only_a_retry_leads_out_of_an_ended_state(position: Position) -> None:
    """What has ended stays so, but for a degraded event that a person reopens."""
    causes = {cause for cause in list_causes() if find_next(position.state, position.layout, cause)}
    assert causes == ({"reopen"} if position.state == "degraded" else set())


@pytest.mark.parametrize(("digest", "extraction"), list(product(JOB_STATES, JOB_STATES)))
def test_an_event_ends_as_its_jobs_did(digest: WorkState, extraction: WorkState) -> None:
    """It goes on while a job is pending, is degraded when one failed, and else done."""
    jobs = {digest, extraction}
    expected = None if "pending" in jobs else "degraded" if "failed" in jobs else "done"
    assert find_ending(digest, extraction) == expected


@pytest.mark.parametrize("cause", get_args(JobCause))
def test_a_job_refuses_what_its_table_does_not_list(cause: JobCause) -> None:
    """Each listed pair gives the listed state, and each other pair is a conflict."""
    for table, move in ((DIGEST, move_digest), (EXTRACTION, move_extraction)):
        for state in (None, *JOB_STATES):
            after = table.get(cause, {}).get(state)
            if after is None:
                with pytest.raises(ConflictError, match=cause):
                    move(state, cause)
            else:
                assert move(state, cause) == after
