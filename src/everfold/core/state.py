"""The state of a session: the one row that a turn reads besides what it shows."""

import json
from dataclasses import asdict, dataclass
from typing import cast

from everfold.core.calibration import Calibration
from everfold.core.json_values import JsonObject

UNCALIBRATED = Calibration()

REMEMBERED_CALLS = 64
"""How many closed call ids a session remembers, to tell a late result from one that never had a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep:
    """An assistant message whose calls are not all answered.

    `pending` and `answered` are call ids in the order of the calls; together they are all calls of the step.
    """

    first_seq: int
    pending: tuple[str, ...]
    answered: tuple[str, ...] = ()


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
        stuck_count: Compactions in a row that did not get below the trigger.
        calibration: The provider's count against our estimate.
        epoch: The epoch of the user that this state was read in.
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
    stuck_count: int = 0
    calibration: Calibration = UNCALIBRATED
    epoch: int = 0


def state_to_text(state: SessionState) -> str:
    """The state as JSON text, without its revision, which the store keeps beside it."""
    value = asdict(state)
    del value["revision"]
    return json.dumps(value, separators=(",", ":"))


def state_from_text(text: str, *, revision: int) -> SessionState:
    """The state that `state_to_text` wrote."""
    value = cast("JsonObject", json.loads(text))
    step = cast("dict[str, list[str] | int] | None", value.pop("open_step"))
    open_step = None
    if step is not None:
        open_step = OpenStep(
            first_seq=cast("int", step["first_seq"]),
            pending=tuple(cast("list[str]", step["pending"])),
            answered=tuple(cast("list[str]", step["answered"])),
        )
    calibration = Calibration(**cast("dict[str, float | int]", value.pop("calibration")))  # type: ignore[arg-type]
    closed = tuple(cast("list[str]", value.pop("closed_calls")))
    said = tuple(cast("list[str]", value.pop("said_before")))
    return SessionState(
        revision=revision,
        open_step=open_step,
        calibration=calibration,
        closed_calls=closed,
        said_before=said,
        **cast("dict[str, int]", value),  # type: ignore[arg-type]
    )
