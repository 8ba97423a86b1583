"""What an append does to a log, decided before anything is written.

Theory of operation. A log is a row of *blocks*: a step (one assistant message with its calls and all their results) or
any other single message. While a step waits for results it is *open*; the log may be cut only where no step is open.
Each message that arrives is one of three things for the open step: an answer to one of its calls, a message of another
kind (which closes it, the calls without a result getting a fixed synthetic one when they are shown), or a result that
belongs to no waiting call. The last is *late* when its id was known before, and refused when it never was. Ids are
compared within the open step only, because real logs use the same id again and again.

The visible forms of a step's results are decided together when the step closes, smallest first, so the messages of a
step may be rewritten in their derived columns until then. Nothing else about a stored message ever changes.

A batch is estimated, read for lines and placed slice by slice, each for all messages of a slice before the next, and
indexed at the end: what a stage needs stays in the processor's caches, which saves an eighth of the time of a message in a
batch of 1,000.

Source: DESIGN sections 3 and 3.1; our measurement, `bench/batch_import.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import NamedTuple

from everfold.core.log.activity import is_said_by_user
from everfold.core.log.budget import UsableBudget
from everfold.core.log.growth import Growth
from everfold.core.log.lines import find_lines
from everfold.core.log.messages import Cut, Kind, Message, MessageView, TextPart
from everfold.core.log.state import REMEMBERED_CALLS, OpenStep, SessionState, know_refreshes
from everfold.core.log.visible import INTERRUPTED_TOKENS, choose_cuts, estimate_view_tokens, fill_smallest_first
from everfold.core.memory.records import TurnRecall
from everfold.core.primitives.json_values import JsonObject
from everfold.core.primitives.origins import Origin, Source
from everfold.core.primitives.stepwise import Steps, finish
from everfold.core.statements.extracts import ExtractLine
from everfold.core.text.frames import FENCE_TOKENS, SYSTEM_NOTE_TOKENS
from everfold.core.text.searching import BEFORE_COUNT, SearchText, index_text
from everfold.errors import InvalidInputError

KEEP_MARK = "[[keep]]"
STEP_COUNT = 24
"""So many messages at most are taken between two pauses: some milliseconds."""
STEP_BYTES = 8_000
"""After so many bytes of messages comes a pause too: 435 kB of prose held the event loop for 32 ms at most, 220 without. Source: own
measurement, on a machine three times slower than that of bench/RESULTS.md."""
NOT_INDEXED = SearchText(own="", before="")
"""The row of a message that no search finds."""
MARK_REACH_CHARS = 64
"""How far into a message the mark may begin, after blanks."""


class Incoming(NamedTuple):
    """A message on its way into the log: read and checked, not yet placed.

    A tuple, as `Appended`: both are made for every message, in a fifth of the time of a frozen dataclass. The last two are
    of a message that is placed again: what the log was when it arrived can no longer be seen from the messages before it.

    Attributes:
        kind: `late` or `retracted`, where it was that; the log decides about any other.
        ends_step: The log could be cut directly after it, so a step that is still open was closed there.
    """

    wire: JsonObject
    content: bytes
    content_hash: str
    view: MessageView
    origin: Origin
    source: Source
    said_at: datetime
    client_id: str | None = None
    line: int | None = None
    kind: Kind | None = None
    ends_step: bool = False


class Appended(NamedTuple):
    """One new message with all that is stored beside it.

    `search_text` is what the plain index reads, `context_text` what was said before it (empty for results).
    """

    message: Message
    content: bytes
    client_id: str | None
    sum_tokens: int
    turn_seq: int
    turns_count: int
    search_text: str
    context_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPlan:
    """What one append writes, all or nothing: new messages, settled messages of a step that closed, the state after.

    `settled` holds messages that were stored before and their prefix sums. `recall` is what the turn that goes on shows
    beside the log, where that is to be stored too.
    """

    appended: tuple[Appended, ...]
    settled: tuple[tuple[Message, int], ...]
    state: SessionState
    recall: TurnRecall | None = None


def plan_append(
    state: SessionState,
    incoming: Sequence[Incoming],
    budget: UsableBudget,
    *,
    step: Mapping[int, Message],
    session: str,
) -> AppendPlan:
    """Place messages at the end of a log.

    Args:
        state: The state that the log is in.
        incoming: The messages, in their order.
        budget: The shares of the session's own limit: they decide the visible forms.
        step: The stored messages of the open step by sequence number; empty when none is open.
        session: The session, for errors.

    Raises:
        InvalidInputError: a result answers no call that the session knows.
    """
    return finish(plan_append_stepwise(state, incoming, budget, step=step, session=session))


def plan_append_stepwise(
    state: SessionState,
    incoming: Sequence[Incoming],
    budget: UsableBudget,
    *,
    step: Mapping[int, Message],
    session: str,
) -> Steps[AppendPlan]:
    """`plan_append`, with a pause after every few messages or kilobytes."""
    placing = _Placing(state=state, budget=budget, session=session, step=step)
    for at, end in _list_slices(incoming):
        slice_ = incoming[at:end]
        tokens = [estimate_view_tokens(item.view) for item in slice_]
        lines = [
            () if item.source == "refresh" else find_lines(item.view, seq=seq, origin=item.origin, said_at=item.said_at)
            for seq, item in enumerate(slice_, state.last_seq + 1 + at)
        ]
        for item, item_tokens, item_lines in zip(slice_, tokens, lines, strict=True):
            placing.place(item, item_tokens, item_lines)
        if end < len(incoming):
            yield
    return (yield from placing.plan_stepwise())


def _list_slices(incoming: Sequence[Incoming]) -> Iterator[tuple[int, int]]:
    """Where the slices of a batch begin and end: at most so many messages, and none behind so many bytes."""
    start = size = 0
    for at, item in enumerate(incoming):
        size += len(item.content)
        if size >= STEP_BYTES or at - start == STEP_COUNT - 1:
            yield start, at + 1
            start, size = at + 1, 0
    if start < len(incoming):
        yield start, len(incoming)


@dataclass(slots=True)
class _LogEnd:
    """The part of a session's state that an append moves, while it moves."""

    revision: int
    last_seq: int
    sum_tokens: int
    safe_seq: int
    safe_sum_tokens: int
    newest_block_seq: int
    newest_block_tokens: int
    turn_seq: int
    turn_tokens: int
    turns_count: int
    answered_count: int
    gap_seq: int
    head_seq: int
    head_tokens: int
    fixed_seq: int
    fixed_tokens: int
    open_step: OpenStep | None
    closed_calls: tuple[str, ...]
    said_before: tuple[str, ...]
    active_at: datetime | None
    away_since: datetime | None
    growth: Growth


_MOVING = tuple(field.name for field in fields(_LogEnd))

_Placed = tuple[Incoming, tuple[str, ...], int, int]
"""A message that was placed, what was said before it, and the turn that it belongs to: its number and place."""


class _Placing:
    """A batch being placed, message by message, at the end of a log."""

    def __init__(self, *, state: SessionState, budget: UsableBudget, session: str, step: Mapping[int, Message]) -> None:
        self.first_new_seq = state.last_seq + 1
        self.before = state
        self.end = _LogEnd(**{name: getattr(state, name) for name in _MOVING})
        self.budget = budget
        self.session = session
        self.messages: dict[int, Message] = dict(step)
        self.sums: dict[int, int] = {}
        self.settled_seqs: set[int] = set()
        self.placed: dict[int, _Placed] = {}

    def place(self, item: Incoming, view_tokens: int, lines: tuple[ExtractLine, ...]) -> None:
        if item.kind == "retracted":
            self._pass_over(item, view_tokens)
        else:
            self._take(item, view_tokens, lines)
        if item.ends_step and self.end.open_step is not None:
            self._close_step(self.end.open_step)

    def _take(self, item: Incoming, view_tokens: int, lines: tuple[ExtractLine, ...]) -> None:
        """Place a message that counts."""
        view = item.view
        ids = [result.call_id for result in view.results]
        kind = self._kind_of(item, ids)
        if kind not in {"result", "late"} and self.end.open_step is not None:
            self._close_step(self.end.open_step)
        calls = view.calls
        step = self.end.open_step
        ends_block = step is None and not calls
        is_boundary = ends_block or (kind == "result" and step is not None and set(ids).issuperset(step.pending))
        message = self._new_message(item, kind, view_tokens, lines, is_boundary=is_boundary)
        self._append(item, message)
        if kind == "result" and step is not None:
            self._answer(step, ids)
        elif calls:
            self.end.open_step = OpenStep(first_seq=message.seq, pending=tuple([call.id for call in calls]))
        elif ends_block:
            self._end_block(message.seq, message)

    def _pass_over(self, item: Incoming, view_tokens: int) -> None:
        """Give a retracted message its number, and go on as if it were not there."""
        end = self.end
        if end.fixed_seq == end.last_seq:
            end.fixed_seq += 1
        end.last_seq += 1
        is_boundary = end.open_step is None
        if is_boundary:
            end.safe_seq = end.last_seq
        self.messages[end.last_seq] = Message(
            seq=end.last_seq,
            kind="retracted",
            origin=item.origin,
            source=item.source,
            said_at=item.said_at,
            wire=item.wire,
            view=item.view,
            tokens=0,
            raw_tokens=view_tokens,
            is_boundary=is_boundary,
            content_hash=item.content_hash,
        )
        self.sums[end.last_seq] = end.sum_tokens
        self.placed[end.last_seq] = (item, (), end.turn_seq, end.turns_count)

    def plan_stepwise(self) -> Steps[AppendPlan]:
        made: list[Appended] = []
        for _, end in _list_slices([placed[0] for placed in self.placed.values()]):
            seqs = range(self.first_new_seq + len(made), self.first_new_seq + end)
            made += [self._appended(seq, self.placed[seq]) for seq in seqs]
            yield
        appended = tuple(made)
        before = sorted(seq for seq in self.settled_seqs if seq < self.first_new_seq) if self.settled_seqs else ()
        settled = tuple([(self.messages[seq], self.sums[seq]) for seq in before])
        self.end.revision += 1
        for seq, placed in self.placed.items():
            self.end.growth = self.end.growth.grown(self.messages[seq].tokens, placed[0].said_at)
        state = replace(self.before, **{name: getattr(self.end, name) for name in _MOVING})
        new = [it for it in appended if it.message.source == "refresh" and not it.message.is_retracted]
        if new:
            found = [(it.message.seq, it.message.tokens, it.sum_tokens) for it in new]
            state = replace(state, refreshes=know_refreshes(state.refreshes, found))
        return AppendPlan(appended=appended, settled=settled, state=state)

    def _appended(self, seq: int, placed: "_Placed") -> Appended:
        item, said_before, turn_seq, turns_count = placed
        message = self.messages[seq]
        search = NOT_INDEXED if message.is_retracted else index_message(message, said_before=said_before)
        return Appended(
            message,
            item.content,
            item.client_id,
            self.sums[seq],
            turn_seq,
            turns_count,
            search.own,
            search.before,
        )

    def _kind_of(self, item: Incoming, ids: Sequence[str]) -> Kind:
        """What a message is, which answers the calls with these ids."""
        match item.view.role:
            case "system":
                return "fixed" if self.end.last_seq == self.end.fixed_seq else "system"
            case "user":
                return "user" if is_said_by_user(item.origin, item.source, item.view.text) else "notice"
            case "assistant":
                return "assistant"
            case "tool":
                return self._kind_of_result(item, ids)

    def _kind_of_result(self, item: Incoming, ids: Sequence[str]) -> Kind:
        if item.kind == "late":
            return "late"
        step = self.end.open_step
        if step is not None and not set(ids).isdisjoint(step.pending):
            return "result"
        known = {*self.end.closed_calls, *(step.answered if step else ())}
        for id_ in ids:
            if id_ not in known:
                waiting = ", ".join(step.pending) if step else "none"
                raise InvalidInputError(
                    f"session {self.session}: a tool result names the unknown call {id_!r}; "
                    f"waiting: {waiting}. Append the assistant message with its calls first",
                    session=self.session,
                    call_id=id_,
                    **({"line": item.line} if item.line is not None else {}),
                )
        return "late"

    def _new_message(
        self, item: Incoming, kind: Kind, view_tokens: int, lines: tuple[ExtractLine, ...], *, is_boundary: bool
    ) -> Message:
        seq = self.end.last_seq + 1
        waiting = self.end.open_step.pending if self.end.open_step else ()
        frame_tokens = measure_own_frame(item.view, kind=kind, origin=item.origin, waiting=waiting)
        raw_tokens = view_tokens + frame_tokens
        cuts: tuple[Cut, ...] = ()
        tokens = raw_tokens
        if kind == "fixed":
            tokens = 0
        elif raw_tokens > self.budget.visible_tokens:
            cuts, tokens = choose_cuts(item.view, seq=seq, cap_tokens=self.budget.visible_tokens - frame_tokens)
            tokens += frame_tokens
        return Message(
            seq=seq,
            kind=kind,
            origin=item.origin,
            source=item.source,
            said_at=item.said_at,
            wire=item.wire,
            view=item.view,
            tokens=tokens,
            raw_tokens=raw_tokens,
            is_boundary=is_boundary,
            content_hash=item.content_hash,
            keep=kind == "user" and item.view.text[:MARK_REACH_CHARS].lstrip().startswith(KEEP_MARK),
            cuts=cuts,
            lines=lines,
        )

    def _append(self, item: Incoming, message: Message) -> None:
        end, seq = self.end, message.seq
        said_before = end.said_before
        end.last_seq = seq
        end.sum_tokens += message.tokens
        end.said_before = remember_said(message, said_before)
        if message.kind == "fixed":
            end.fixed_seq = seq
            end.fixed_tokens += message.raw_tokens
        elif message.kind == "user":
            self._begin_turn(message)
        elif message.kind == "assistant" and not message.view.calls:
            end.answered_count = end.turns_count
        self.messages[seq] = message
        self.sums[seq] = end.sum_tokens
        self.placed[seq] = (item, said_before, end.turn_seq, end.turns_count)

    def _begin_turn(self, message: Message) -> None:
        end = self.end
        is_met = end.gap_seq > end.turn_seq
        is_going_on = end.turn_seq == end.newest_block_seq and end.gap_seq < end.turn_seq
        if not is_going_on or end.active_at is None or end.away_since is None:
            end.away_since = end.active_at  # else no answer came yet: both messages end the same absence
        end.active_at = message.said_at
        end.turn_seq, end.turn_tokens = message.seq, message.tokens
        if is_met:  # ahead of this message, which ends the absence
            end.gap_seq = message.seq
        end.turns_count += 1
        if not end.head_seq and message.raw_tokens <= self.budget.message_cap_tokens:
            end.head_seq, end.head_tokens = message.seq, message.tokens

    def _answer(self, step: OpenStep, ids: Sequence[str]) -> None:
        """Take the results of some calls of the open step, and close it with the last one."""
        pending = tuple([id_ for id_ in step.pending if id_ not in ids])
        answered = (*step.answered, *[id_ for id_ in step.pending if id_ in ids])
        step = OpenStep(first_seq=step.first_seq, pending=pending, answered=answered)
        self.end.open_step = step
        if not pending:
            self._close_step(step)

    def _close_step(self, step: OpenStep) -> None:
        """Settle the visible forms of the step's results together, and make its last message a boundary.

        Most steps need neither, and then nothing of what is stored is written again: only a message that changes, and
        the prefix sums behind one that changes its size.
        """
        end = self.end
        seqs = range(step.first_seq, end.last_seq + 1)
        before = [self.messages[seq] for seq in seqs]
        self._settle_results(before)
        if step.pending:
            tokens = before[0].tokens + INTERRUPTED_TOKENS * len(step.pending)
            self.messages[step.first_seq] = replace(before[0], tokens=tokens)
        if not (last := self.messages[end.last_seq]).is_boundary:
            self.messages[end.last_seq] = replace(last, is_boundary=True)
        end.sum_tokens = end.safe_sum_tokens
        has_moved = False
        for seq, old in zip(seqs, before, strict=True):
            new = self.messages[seq]
            end.sum_tokens += new.tokens
            self.sums[seq] = end.sum_tokens
            has_moved = has_moved or new.tokens != old.tokens
            if has_moved or new is not old:
                self.settled_seqs.add(seq)
        end.closed_calls = (*end.closed_calls, *step.answered, *step.pending)[-REMEMBERED_CALLS:]
        end.open_step = None
        self._end_block(step.first_seq, self.messages[end.last_seq])

    def _settle_results(self, step: Sequence[Message]) -> None:
        """Fill the smallest results first, so that the step stays within its visible share."""
        cap = self.budget.step_visible_tokens - step[0].tokens
        sizes = [message.tokens for message in step[1:]]
        if sum(sizes) <= cap:
            return
        shares = fill_smallest_first(sizes, cap)
        for message, share in zip(step[1:], shares, strict=True):
            if message.tokens > share:
                frame_tokens = max(message.raw_tokens - estimate_view_tokens(message.view), 0)
                cuts, tokens = choose_cuts(message.view, seq=message.seq, cap_tokens=share - frame_tokens)
                self.messages[message.seq] = replace(message, cuts=cuts, tokens=tokens + frame_tokens)

    def _end_block(self, first_seq: int, last: Message) -> None:
        end = self.end
        end.newest_block_seq = first_seq
        end.newest_block_tokens = end.sum_tokens - end.safe_sum_tokens
        end.safe_seq, end.safe_sum_tokens = last.seq, end.sum_tokens


def measure_own_frame(view: MessageView, *, kind: Kind, origin: Origin, waiting: Sequence[str] = ()) -> int:
    """Tokens of the marks that a message of this kind is shown in: a fence, or the line of a system note.

    The results for no call that is waiting are fenced together.
    """
    match kind:
        case "late":
            return FENCE_TOKENS
        case "result":
            awaited_count = len({result.call_id for result in view.results}.intersection(waiting))
            return FENCE_TOKENS if len(view.results) > awaited_count else 0
        case "notice" if origin == "external":
            return FENCE_TOKENS * sum(isinstance(part, TextPart) for part in view.parts)
        case "system":
            return SYSTEM_NOTE_TOKENS
        case _:
            return 0


SAID_CHARS = 480
"""What the state remembers of a said message, from its end, for the context rows after it: the words that they take."""


def said_text(message: Message) -> str | None:
    """The words of a message that the user or the assistant said, shortened for context rows; None for any other."""
    if message.kind not in {"user", "assistant"} or message.source != "said":
        return None
    return "\n".join([part.text for part in message.view.parts if isinstance(part, TextPart)])[-SAID_CHARS:]


def remember_said(message: Message, said_before: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that the next message's context row takes, newest first."""
    text = said_text(message)
    return (text, *said_before)[:BEFORE_COUNT] if text else said_before


def index_message(message: Message, *, said_before: Sequence[str]) -> SearchText:
    """What the search index holds for a message: its own words, and what was said just before it was said."""
    before = said_before if message.kind in {"user", "assistant"} and message.source == "said" else ()
    speaker = message.view.name or message.view.role
    return index_text(message.view.text, speaker=speaker, said_at=message.said_at, before=before)
