"""Log lines: one for each happening, in figures, at a level that says whether somebody should look."""

import logging

import pytest

from everfold.adapters.system.log_lines import LogLines
from everfold.core.folding import CompactionReport
from everfold.core.happenings import CompactionCommitted, Happening, HookFailed, LatchSet, Swept
from everfold.core.sessions import EventId, SessionId

SESSION = SessionId("ses_1")
SECRET = "the door code is 4711"
REPORT = CompactionReport(
    trigger="tokens",
    first_seq=1,
    last_seq=40,
    kept_count=3,
    folded_count=37,
    left_count=0,
    joined_through=0,
    tokens_before=5000,
    tokens_after=3000,
    fine_tokens=400,
    coarse_tokens=0,
    standing_tokens=60,
    break_after_tokens=0,
    break_cost_tokens=3000,
)
COMMITTED = CompactionCommitted(
    session_id=SESSION, event_id=EventId("evt_1"), generator="abstractive", report=REPORT, elapsed_secs=1.23456789
)
FAILED = HookFailed(
    session_id=SESSION, plugin="Notes", hook="on_turn_start", error_name="ValueError", error=ValueError(SECRET)
)


def test_a_line_is_the_kind_and_its_figures(caplog: pytest.LogCaptureFixture) -> None:
    """A line begins with the kind, and the record carries the same figures by name, those of a report among them."""
    caplog.set_level(logging.INFO, logger="everfold")
    LogLines().take(COMMITTED)
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "compaction_committed session_id=ses_1 event_id=evt_1 generator=abstractive trigger=tokens first_seq=1"
    )
    figures = record.__dict__["everfold"]
    assert figures["kind"] == "compaction_committed"
    assert (figures["tokens_before"], figures["tokens_after"], figures["elapsed_secs"]) == (5000, 3000, 1.234568)
    assert "cost_usd" not in figures


@pytest.mark.parametrize(
    ("happening", "level"),
    [
        (COMMITTED, logging.INFO),
        (Swept(found_count=0, sessions_count=0), logging.INFO),
        (FAILED, logging.WARNING),
        (LatchSet(session_id=SESSION, window_tokens=900, trigger_tokens=800), logging.WARNING),
    ],
)
def test_a_warning_is_what_somebody_should_look_at(
    caplog: pytest.LogCaptureFixture, happening: Happening, level: int
) -> None:
    """A failed hook and a set latch are warnings, the ordinary course of things is information."""
    caplog.set_level(logging.INFO, logger="everfold")
    LogLines().take(happening)
    assert [record.levelno for record in caplog.records] == [level]


def test_nothing_is_written_below_the_level(caplog: pytest.LogCaptureFixture) -> None:
    """Where only warnings are wanted information is not written."""
    caplog.set_level(logging.WARNING, logger="everfold")
    LogLines().take(COMMITTED)
    LogLines().take(FAILED)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_the_words_of_an_error_stay_out(caplog: pytest.LogCaptureFixture) -> None:
    """What a plug-in raised may quote a message: only its class is written."""
    caplog.set_level(logging.DEBUG, logger="everfold")
    LogLines().take(FAILED)
    (record,) = caplog.records
    assert SECRET not in record.getMessage()
    assert SECRET not in repr(record.__dict__)
    assert "error_name=ValueError" in record.getMessage()


def test_nobody_hears_anything_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    """The logger has a handler that writes nothing, so that Python does not print warnings of its own accord."""
    assert any(isinstance(it, logging.NullHandler) for it in logging.getLogger("everfold").handlers)
    LogLines().take(FAILED)
    assert capsys.readouterr().err == ""
