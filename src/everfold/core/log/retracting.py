"""Retracting: the newest messages leave a log that goes on, and their numbers are not given again.

Theory of operation. A retracted message keeps its number, its time and its content; everything else of the log is as if
it had never been said. So it has no tokens, no lines, no calls and no turn, its prefix sum is that of the message before
it, and the state of the session is the one that the log had before it, but for the numbers. Where that lies inside a
step, the step waits for its results again. A step that was closed without all of them stays closed.

What had been learnt in between is kept: calibration, growth, compactions. The epoch rises as with an erase, so that what
any handle or worker has read is read again.

Source: DESIGN G2; docs/adr/0034-retracting.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everfold.core.log.appending import said_text
from everfold.core.log.messages import Message, Note
from everfold.core.log.state import OpenStep, SessionState
from everfold.core.memory.records import MemoryChange
from everfold.core.primitives.ids import SessionId
from everfold.core.text.searching import BEFORE_COUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """Everything that one retraction writes, all or nothing.

    Attributes:
        session_id: The one session whose log holds the messages.
        first_seq: The first retracted message; all after it are retracted too.
        sum_tokens: The prefix sum of each of them from now on; the next two likewise as in `Note`.
        is_boundary: Whether the log may be cut after each of them.
        state: The new state; its revision is one more than expected.
        memory: What it changes of memory; a conflict refuses the whole retraction.
    """

    session_id: SessionId
    first_seq: int
    last_seq: int
    sum_tokens: int
    turn_seq: int
    turns_count: int
    is_boundary: bool
    state: SessionState
    memory: tuple[MemoryChange, ...] = ()


def plan_retraction(
    state: SessionState,
    first_seq: int,
    notes: Sequence[Note],
    messages: Sequence[Message],
    *,
    session_id: SessionId,
    turn_tokens: int,
    fixed_tokens: int,
) -> Retraction:
    """Take back the messages from one on.

    Args:
        state: The state that the log is in.
        first_seq: The first message to be retracted; behind what was compacted.
        notes: Those of the messages before it, up to it without a gap, from before the last boundary on; empty where it
            is the first.
        messages: The messages of these notes, without erased and retracted ones.
        session_id: The session.
        turn_tokens: The visible tokens of the user message of the turn before it.
        fixed_tokens: What the leading system messages before it cost.
    """
    last = notes[-1] if notes else None
    boundary = next((note for note in reversed(notes) if note.is_boundary), None)
    open_step = _reopen(notes, messages, after_seq=boundary.seq if boundary else 0)
    safe = last if open_step is None else boundary
    safe_seq = safe.seq if safe else 0
    unit = _find_last_unit([note for note in notes if note.seq <= safe_seq and note.kind != "retracted"])
    said = [text for message in reversed(messages) if (text := said_text(message))]
    turns_count = last.turns_count if last else 0
    new = replace(
        state,
        revision=state.revision + 1,
        epoch=state.epoch + 1,
        sum_tokens=last.sum_tokens if last else 0,
        safe_seq=state.last_seq if open_step is None else safe_seq,
        safe_sum_tokens=safe.sum_tokens if safe else 0,
        newest_block_seq=unit[0].seq if unit else 0,
        newest_block_tokens=sum(note.tokens for note in unit),
        turn_seq=last.turn_seq if last else 0,
        turn_tokens=turn_tokens,
        turns_count=turns_count,
        answered_count=min(state.answered_count, turns_count - (not _is_answered(notes))),
        head_seq=state.head_seq if state.head_seq < first_seq else 0,
        head_tokens=state.head_tokens if state.head_seq < first_seq else 0,
        fixed_seq=state.last_seq if first_seq <= state.fixed_seq + 1 else state.fixed_seq,
        fixed_tokens=fixed_tokens,
        open_step=open_step,
        said_before=tuple(said[:BEFORE_COUNT]),
        gap_seq=min(state.gap_seq, last.turn_seq if last else 0),
        cadence_turns=min(state.cadence_turns, turns_count),
        refreshes=tuple(one for one in state.refreshes if one.seq < first_seq),
    )
    return Retraction(
        session_id=session_id,
        first_seq=first_seq,
        last_seq=state.last_seq,
        sum_tokens=new.sum_tokens,
        turn_seq=new.turn_seq,
        turns_count=turns_count,
        is_boundary=open_step is None,
        state=new,
    )


def _reopen(notes: Sequence[Note], messages: Sequence[Message], *, after_seq: int) -> OpenStep | None:
    """The step that begins after a boundary and is not ended; none where its calls are erased: it can wait for no result."""
    step = [message for message in messages if message.seq > after_seq]
    head = next((note for note in notes if note.seq > after_seq and note.kind != "retracted"), None)
    if head is None or head.is_erased:
        return None
    calls = [call.id for call in step[0].view.calls]
    answered: list[str] = []
    for message in step[1:]:
        ids = {result.call_id for result in message.view.results} if message.kind == "result" else set[str]()
        answered += [call for call in calls if call in ids and call not in answered]
    pending = tuple(call for call in calls if call not in answered)
    return OpenStep(first_seq=step[0].seq, pending=pending, answered=tuple(answered))


def _find_last_unit(notes: Sequence[Note]) -> Sequence[Note]:
    """The messages of the unit that ends with the last of these."""
    start = max(len(notes) - 1, 0)
    while start > 0 and not notes[start - 1].is_boundary:
        start -= 1
    return notes[start:]


def _is_answered(notes: Sequence[Note]) -> bool:
    """Whether the newest turn has an answer of the assistant, as far as these notes show."""
    for note in reversed(notes):
        if note.kind == "assistant" and not note.calls:
            return True
        if note.kind == "user":
            return False
    return True
