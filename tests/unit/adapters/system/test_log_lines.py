"""Log lines: one for each event, in figures, at a level that says whether a person should look."""

import logging

import pytest

from everfold.adapters.system.log_lines import LogLines
from everfold.core.compaction.folding import CompactionReport
from everfold.core.observation.events import (
    BreakerOpened,
    CompactionCommitted,
    Event,
    HookFailed,
    MessagesAppended,
    Recovered,
    WorkFailed,
)
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import StoreUnavailableError

SESSION = SessionId("ses_1")
SECRET = "the door code is 4711"
REPORT = CompactionReport(
    trigger="tokens",
    first_seq=1,
    last_seq=40,
    kept_count=3,
    folded_count=37,
    folded_later_count=0,
    joined_through=0,
    tokens_before=5000,
    tokens_after=3000,
    own_digest_tokens=400,
    rollup_tokens=0,
    standing_tokens=60,
    cache_break_after_tokens=0,
    resent_tokens=3000,
)
COMMITTED = CompactionCommitted(
    session_id=SESSION,
    compaction_id=CompactionId("evt_1"),
    generator="abstractive",
    report=REPORT,
    elapsed_secs=1.23456789,
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
        "compaction_committed session_id=ses_1 compaction_id=evt_1 generator=abstractive trigger=tokens first_seq=1"
    )
    figures = record.__dict__["everfold"]
    assert figures["kind"] == "compaction_committed"
    assert (figures["tokens_before"], figures["tokens_after"], figures["elapsed_secs"]) == (5000, 3000, 1.234568)
    assert "cost_usd" not in figures


@pytest.mark.parametrize(
    ("event", "level"),
    [
        (COMMITTED, logging.INFO),
        (Recovered(found_count=0, sessions_count=0), logging.INFO),
        (FAILED, logging.WARNING),
        (BreakerOpened(session_id=SESSION, window_tokens=900, trigger_tokens=800), logging.WARNING),
    ],
)
def test_a_warning_is_what_somebody_should_look_at(caplog: pytest.LogCaptureFixture, event: Event, level: int) -> None:
    """A failed hook and a set latch are warnings, the ordinary course of things is information."""
    caplog.set_level(logging.INFO, logger="everfold")
    LogLines().take(event)
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


def test_what_is_heard_follows_the_level(caplog: pytest.LogCaptureFixture) -> None:
    """Information is heard where it is written, what may be a warning always, and a change never."""
    lines = LogLines()
    caplog.set_level(logging.WARNING, logger="everfold")
    assert [lines.hears(kind) for kind in (Recovered, HookFailed, MessagesAppended)] == [False, True, False]
    caplog.set_level(logging.INFO, logger="everfold")
    assert [lines.hears(kind) for kind in (Recovered, HookFailed, MessagesAppended)] == [True, True, False]


@pytest.mark.parametrize(
    ("error", "level"), [(StoreUnavailableError("busy"), logging.WARNING), (KeyError("mast"), logging.ERROR)]
)
def test_failed_work_is_a_line(caplog: pytest.LogCaptureFixture, error: Exception, level: int) -> None:
    """Work that ended with an error of ours is a warning; any other is an error, with its traceback."""
    LogLines().take(WorkFailed(name="evt_1", reason="busy", error=error))
    (record,) = caplog.records
    assert (record.getMessage(), record.levelno) == ("work_failed name=evt_1 reason=busy", level)
    assert record.__dict__["everfold"] == {"kind": "work_failed", "name": "evt_1", "reason": "busy"}
    assert bool(record.exc_info) is (level == logging.ERROR)
