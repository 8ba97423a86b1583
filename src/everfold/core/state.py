"""The state of a session: the one row that a turn reads besides what it shows."""

import json
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import NamedTuple

from everfold.core.calibration import Calibration
from everfold.core.growth import STEADY, Growth

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

UNCALIBRATED = Calibration()

WHOLE_WINDOW = -1
REMEMBERED_BREAKS = 32

REMEMBERED_CALLS = 32
"""How many closed call ids a session remembers, to tell a late result from one that never had a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep:
    """An assistant message whose calls are not all answered.

    `pending` and `answered` are call ids in the order of the calls; together they are all calls of the step.
    """

    first_seq: int
    pending: tuple[str, ...]
    answered: tuple[str, ...] = ()


class Awaited(NamedTuple):
    """A range that left the window under its extractive digest, while the model's or the extraction is on its way.

    A patient one is revised when the request's prefix breaks anyway; any other as soon as its digest is there.
    """

    event_id: str
    first_seq: int
    last_seq: int
    is_patient: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What planning needs to know of a log without reading it. A new one is written with every append.

    Attributes:
        revision: Grows by one with every write; the value that a writer expects.
        last_seq: The newest message; 0 for an empty log.
        sum_tokens: Visible tokens of all messages up to `last_seq` (a prefix sum).
        safe_seq: The newest message after which the log may be cut; what follows it is an open step.
        safe_sum_tokens: The prefix sum at `safe_seq`.
        newest_block_seq: The first message of the newest finished block.
        newest_block_tokens: What that block costs in the window.
        turn_seq: The user message that the running turn began with; 0 before the first.
        turn_tokens: Its visible tokens.
        turns_count: How many turns the log has.
        head_seq: The first user message within the cap; 0 before it.
        fixed_seq: The last of the leading system messages; 0 when the log has none.
        fixed_tokens: What they cost; part of the fixed part.
        open_step: The step that is still waiting for results.
        closed_calls: Call ids of the steps closed last, oldest first, at most `REMEMBERED_CALLS`.
        said_before: Index texts of what was said last, for the context row of the next message.
        event_id: The compaction event whose layout is in force; empty before the first.
        events_count: The ordinal of that event; the next one has one more.
        held_events: Events that were begun and not committed, in the order in which they will be: hold and swap.
        awaited: Ranges that stand under a continuity note.
        active_at: When the user spoke last; None before.
        away_since: When the user had spoken before that; None before the second message.
        gap_seq: The turn whose gap was dealt with last.
        cadence_turns: How many exchanges had finished when the cadence ran last.
        succeeded_at: When a compaction was committed last.
        growth: How fast the log grows and how long a digest takes.
        stuck_count: Compactions in a row that did not get below the trigger.
        breaks: Breaks of the request's prefix that no window has reported yet: reason, and what it costs in tokens
            (`WHOLE_WINDOW` where nothing of the window stays). At most `REMEMBERED_BREAKS`, the newest.
        calibration: The provider's count against our estimate.
        epoch: Raised by every erase of a message of this log; what was read in an older one may hold erased words.
    """

    revision: int = 0
    last_seq: int = 0
    sum_tokens: int = 0
    safe_seq: int = 0
    safe_sum_tokens: int = 0
    newest_block_seq: int = 0
    newest_block_tokens: int = 0
    turn_seq: int = 0
    turn_tokens: int = 0
    turns_count: int = 0
    head_seq: int = 0
    fixed_seq: int = 0
    fixed_tokens: int = 0
    open_step: OpenStep | None = None
    closed_calls: tuple[str, ...] = ()
    said_before: tuple[str, ...] = ()
    event_id: str = ""
    events_count: int = 0
    held_events: tuple[str, ...] = ()
    awaited: tuple[Awaited, ...] = ()
    active_at: datetime | None = None
    away_since: datetime | None = None
    gap_seq: int = 0
    cadence_turns: int = 0
    succeeded_at: datetime | None = None
    growth: Growth = STEADY
    stuck_count: int = 0
    breaks: tuple[tuple[str, int], ...] = ()
    calibration: Calibration = UNCALIBRATED
    epoch: int = 0

    def with_break(self, reason: str, cost_tokens: int) -> "SessionState":
        """The state with one more break to report; its revision stays."""
        return replace(self, breaks=(*self.breaks, (reason, cost_tokens))[-REMEMBERED_BREAKS:])


def state_to_bytes(state: SessionState) -> bytes:
    """The state as JSON, without its revision, which the store keeps beside it. Keeps every code point."""
    step = state.open_step
    value = {name: getattr(state, name) for name in _PLAIN_FIELDS}
    value["open_step"] = None if step is None else [step.first_seq, step.pending, step.answered]
    value["calibration"] = [state.calibration.factor, state.calibration.samples_count]
    growth = state.growth
    value["growth"] = [growth.tokens, _to_text(growth.at), growth.digest_secs]
    for name in _TIMES:
        value[name] = _to_text(getattr(state, name))
    return _ENCODER.encode(value).encode("utf-8", "surrogatepass")


def state_from_bytes(content: bytes, *, revision: int) -> SessionState:
    """The state that `state_to_bytes` wrote."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    step, calibration = value.pop("open_step"), value.pop("calibration")
    tokens, at, digest_secs = value.pop("growth", (0.0, None, 0.0))
    return SessionState(
        revision=revision,
        open_step=None
        if step is None
        else OpenStep(first_seq=step[0], pending=tuple(step[1]), answered=tuple(step[2])),
        calibration=Calibration(factor=calibration[0], samples_count=calibration[1]),
        closed_calls=tuple(value.pop("closed_calls")),
        breaks=tuple((reason, cost) for reason, cost in value.pop("breaks")),
        said_before=tuple(value.pop("said_before")),
        held_events=tuple(value.pop("held_events", ())),
        awaited=tuple(Awaited(*row) for row in value.pop("awaited", ())),
        growth=Growth(tokens=tokens, at=_from_text(at), digest_secs=digest_secs),
        active_at=_from_text(value.pop("active_at", None)),
        away_since=_from_text(value.pop("away_since", None)),
        succeeded_at=_from_text(value.pop("succeeded_at", None)),
        **value,
    )


def _to_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _from_text(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


_TIMES = ("active_at", "away_since", "succeeded_at")


_PLAIN_FIELDS = tuple(
    field.name
    for field in fields(SessionState)
    if field.name not in {"revision", "open_step", "calibration", "growth", *_TIMES}
)
