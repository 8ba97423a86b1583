"""Events are read by other processes as they were."""

import json
from dataclasses import fields, replace
from typing import get_args

import pytest

from everfold.core.compaction.folding import CompactionReport
from everfold.core.observation.events import (
    CompactionCommitted,
    DigestJudged,
    Event,
    MemoryChanged,
    MessagesAppended,
    WorkFailed,
)
from everfold.core.observation.telling import event_to_bytes, find_event
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId

SESSION, COMPACTION = SessionId("ses_1"), CompactionId("evt_1")
EVENTS: list[Event] = [
    MessagesAppended(session_id=SESSION, first_seq=1, last_seq=2, messages_count=2),
    MemoryChanged(user_id=UserId("ada"), agent_id=AgentId("guide"), parts=("items", "topics")),
    DigestJudged(session_id=SESSION, compaction_id=COMPACTION, is_accepted=True, calls_count=2, faults=("empty",)),
    CompactionCommitted(
        session_id=SESSION,
        compaction_id=COMPACTION,
        generator="extractive",
        report=CompactionReport(
            **{one.name: 1 for one in fields(CompactionReport) if one.init} | {"trigger": "manual"}
        ),
        elapsed_secs=0.5,
    ),
]

TOLD = """
{"session_id": "ses_1", "compaction_id": "evt_1", "generator": "extractive", "elapsed_secs": 0.5, "cost_usd": null,
"kind": "compaction_committed", "report": {"trigger": "budget", "first_seq": 1, "last_seq": 40,
"kept_count": 3, "folded_count": 37, "joined_through": 0, "tokens_before": 5000, "tokens_after": 3000, "own_digest_tokens": 400,
"rollup_tokens": 0, "standing_tokens": 60, "cache_break_after_tokens": 100, "resent_tokens": 2900,
"calibration": 1.0, "left_count": 2}}
"""
"""A compaction as the release before tells it."""


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_reads_back_equal(event: Event) -> None:
    """What is read is the event that was written, lists and reports too."""
    assert find_event(json.loads(event_to_bytes(event))) == event


def test_a_compaction_is_told_under_the_names_of_the_last_release() -> None:
    """Releases that run together, as in an upgrade, read each other's compactions: the report has the names it always had."""
    event = find_event(json.loads(TOLD))
    assert isinstance(event, CompactionCommitted)
    assert event.report.folded_later_count == 2
    assert json.loads(event_to_bytes(event)) == json.loads(TOLD)


def test_every_kind_is_known() -> None:
    """Each class of events has a kind of its own by which it is found."""
    kinds = [field.default for kind in get_args(Event) for field in fields(kind) if field.name == "kind"]
    assert len(set(kinds)) == len(get_args(Event))


def test_an_error_stays_in_its_process() -> None:
    """What was raised may quote a message: it is not written."""
    event = WorkFailed(name="ses_1", reason="model_reply", error=ValueError("the vault opens at nine"))
    written = event_to_bytes(event)
    assert b"vault" not in written
    assert find_event(json.loads(written)) == replace(event, error=None)


def test_what_another_release_tells_is_passed_over() -> None:
    """An unknown kind, and a known one with fields that are not, are no events here."""
    assert find_event({"kind": "moon_risen"}) is None
    assert find_event({"kind": "work_failed", "name": "a", "reason": "b", "moon": 1}) is None
