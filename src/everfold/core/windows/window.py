"""The window: the list of what the model is shown next, with a report of what is in it and why.

Order, which is also the order of how long each stays the same: fixed, head, body (kept messages and digests by range),
standing instructions, snapshot of memory, the newest context refresh once it is past, tail, dynamic suffix.

Source: DESIGN section 3, "The way of a message".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from everfold.core.compaction.layout import Asked, Layout, split_held
from everfold.core.digests.answers import show_asked
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.messages import Message
from everfold.core.log.prompts import Prompt
from everfold.core.log.state import SessionState
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.entries import Entry, MessageEntry, RangeEntry, Slice, TextEntry
from everfold.core.windows.rendering import render
from everfold.core.windows.reports import WindowReport, count_report, list_held, measure_slices, report_window
from everfold.core.windows.suffixes import list_suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What the model is shown next.

    Attributes:
        report: What is in it, in the provider's tokens.
        estimate: The same in tokens of the fixed estimate, which planning goes by.
        calibration: What makes the one of the other.
        fence_key: Keys the marks around text from outside.
    """

    session: str
    prompt: Prompt
    entries: tuple[Entry, ...]
    report: WindowReport
    estimate: WindowReport
    calibration: Calibration
    fence_key: str

    @property
    def is_empty(self) -> bool:
        """Whether the log has no message."""
        return not (self.report.last_seq or self.report.withheld_seqs)

    def render(self, provider: Literal["openai", "anthropic", "responses"]) -> JsonObject:
        """The window as a request: `messages`, with `system` (Anthropic) and `tools` where the session has them.

        Every call makes new objects; what is done with them changes nothing here.

        Raises:
            InvalidInputError: the provider's form is unknown.
        """
        return render(self, provider)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The past as a layout shows it. It stays the same from one compaction to the next.

    `by_slice` has the tokens of its slices; `message_count` counts the messages that are shown word for word.
    """

    layout: Layout
    snapshot: str
    refresh_seq: int
    entries: tuple[Entry, ...]
    by_slice: Mapping[Slice, int]
    message_count: int


def build_body(
    layout: Layout,
    messages: Mapping[int, Message],
    digests: Mapping[str, str],
    *,
    snapshot: str = "",
    refresh_seq: int = 0,
    before: Body | None = None,
) -> Body:
    """What a layout shows. O(what it shows); O(1) where the window before showed the same.

    Args:
        layout: What is shown of the past.
        messages: Every message that the layout holds or quotes, by sequence number; tombstones for the erased ones.
        digests: The text of every digest that the layout shows, by id.
        snapshot: What is remembered of the user; empty for nothing.
        refresh_seq: The newest context refresh; another one that is held was replaced, and is not shown.
        before: What was shown before, with nothing erased since; None for none.
    """
    if (
        before is not None
        and before.layout is layout
        and (before.snapshot, before.refresh_seq) == (snapshot, refresh_seq)
    ):
        return before
    by_slice = measure_slices(layout, snapshot=snapshot, refresh_seq=refresh_seq)
    return Body(
        layout=layout,
        snapshot=snapshot,
        refresh_seq=refresh_seq,
        entries=tuple(_body_entries(layout, messages, digests, snapshot, refresh_seq)),
        by_slice=by_slice,
        message_count=sum(not messages[held.seq].is_erased for held in list_held(layout, refresh_seq)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The tail as a window shows it, up to `last_seq`. `message_count` counts the messages that are shown."""

    first_seq: int
    last_seq: int
    replaced_seq: int = 0
    entries: tuple[MessageEntry, ...] = ()
    message_count: int = 0


def build_tail(state: SessionState, layout: Layout, messages: Mapping[int, Message], *, before: Tail | None) -> Tail:
    """The tail of a session's window. O(what is new), where the tail of the window before only grew.

    Args:
        state: The session's state.
        layout: What is shown of the past.
        messages: Every message of the tail, by sequence number; tombstones for the erased ones.
        before: An earlier tail of the same log under the same layout, with nothing erased since; None for none.
    """
    first_seq, last_seq = max(layout.watermark, state.fixed_seq) + 1, state.safe_seq
    replaced_seq = state.replaced_seq
    if (
        before is None
        or (before.first_seq, before.replaced_seq) != (first_seq, replaced_seq)
        or before.last_seq > last_seq
    ):
        before = Tail(first_seq=first_seq, last_seq=first_seq - 1, replaced_seq=replaced_seq)
    elif before.last_seq == last_seq:
        return before
    new = [
        MessageEntry(message=message, slice="tail")
        for message in _stretch(messages, before.last_seq + 1, last_seq)
        if message.source != "refresh" or message.seq > replaced_seq
    ]
    return Tail(
        first_seq=first_seq,
        last_seq=last_seq,
        replaced_seq=replaced_seq,
        entries=before.entries + tuple(new),
        message_count=before.message_count + sum([not entry.message.is_erased for entry in new]),
    )


class Built(NamedTuple):
    """A window, with the two parts of it that the next one goes on from."""

    window: Window
    body: Body
    tail: Tail


def build_window(  # noqa: PLR0913 - each is a part of the window
    state: SessionState,
    layout: Layout,
    messages: Mapping[int, Message],
    digests: Mapping[str, str],
    *,
    session: str,
    prompt: Prompt,
    policy: Policy,
    budget: UsableBudget,
    snapshot: str = "",
    suffix: str | None = None,
    note: str = "",
    why: tuple[str, ...] = (),
    body: Body | None = None,
    tail: Tail | None = None,
) -> Built:
    """Build the window of a session. O(head and tail), and O(what the layout shows) for the first one under it.

    Args:
        state: The session's state.
        layout: What is shown of the past.
        messages: Every message that the window shows, by sequence number; tombstones for the erased ones.
        digests: The text of every digest that the layout shows, by id.
        session: The session's id; it also keys the fences.
        prompt: System prompt and tools.
        policy: How the session compacts.
        budget: The shares of the limit.
        snapshot: What is remembered of the user; empty for nothing.
        suffix: Text for the end of this request only; cut to the space that there is for it.
        note: The continuity note of the turn, which comes before it and has a reserve of its own; left out where a
            turn that goes on without anything on its way has no room for it any more.
        why: What of memory is shown, for the report.
        body: What an earlier window showed of the past, with nothing erased since; None for none.
        tail: What it showed after that, under the same layout.
    """
    body = build_body(layout, messages, digests, snapshot=snapshot, refresh_seq=state.refresh_seq, before=body)
    tail = build_tail(state, layout, messages, before=tail)
    fixed = [MessageEntry(message=message, slice="fixed") for message in _stretch(messages, 1, state.fixed_seq)]
    ending = list_suffix(state, layout, budget, suffix=suffix or "", note=note)
    said = sum([not entry.message.is_erased for entry in fixed]) + tail.message_count
    report = report_window(
        state,
        layout,
        policy,
        budget,
        by_slice=body.by_slice,
        message_count=said + body.message_count,
        suffix=ending,
        why=why,
    )
    window = Window(
        session=session,
        prompt=prompt,
        entries=(*fixed, *body.entries) + tail.entries + tuple(ending),  # noqa: RUF005 - the tail is copied once
        report=count_report(report, budget, state.calibration),
        estimate=report,
        calibration=state.calibration,
        fence_key=session,
    )
    return Built(window, body, tail)


def _stretch(messages: Mapping[int, Message], first_seq: int, last_seq: int) -> Iterator[Message]:
    """The messages of a stretch; of tombstones only those of steps, whose calls and results must stay paired."""
    for seq in range(first_seq, last_seq + 1):
        message = messages[seq]
        if not message.is_erased or message.kind in {"assistant", "result"}:
            yield message


def shown_seqs(state: SessionState, layout: Layout) -> list[int]:
    """The sequence numbers of the messages that the window shows, rising."""
    first_tail = max(layout.watermark, state.fixed_seq) + 1
    held = [held.seq for held in list_held(layout, state.refresh_seq)]
    return [*range(1, state.fixed_seq + 1), *held, *range(first_tail, state.safe_seq + 1)]


def needed_seqs(state: SessionState, layout: Layout) -> list[int]:
    """The sequence numbers of the messages that the window is built from: those that it shows, and those that it quotes."""
    return sorted({*shown_seqs(state, layout), *(asked.seq for asked in layout.asked)})


def _body_entries(
    layout: Layout,
    messages: Mapping[int, Message],
    digests: Mapping[str, str],
    snapshot: str,
    refresh_seq: int,
) -> list[Entry]:
    head = layout.head
    entries: list[Entry] = [MessageEntry(message=messages[head.seq], slice="head")] if head else []
    for shown, kept in zip(layout.ranges, split_held(layout.held, layout.ranges), strict=True):
        if kept or shown.digest_id:
            entries.append(
                RangeEntry(
                    shown=shown,
                    kept=tuple(messages[held.seq] for held in kept),
                    digest_text=digests[shown.digest_id] if shown.digest_id else "",
                    asked={
                        held.seq: show_asked(held.asked.seq, quote_asked(held.asked, messages))
                        for held in kept
                        if held.asked
                    },
                )
            )
    if layout.standing_text:
        entries.append(TextEntry(text=layout.standing_text, slice="standing"))
    if snapshot:
        entries.append(TextEntry(text=snapshot, slice="snapshot"))
    entries += [
        MessageEntry(message=messages[held.seq], slice="refresh") for held in layout.held if held.seq == refresh_seq
    ]
    entries += [
        MessageEntry(message=messages[held.seq], slice="running") for held in layout.held if held.hold == "running"
    ]
    return entries


def quote_asked(asked: Asked, messages: Mapping[int, Message]) -> str:
    """The question's own words, from the log."""
    return messages[asked.seq].view.text[asked.start : asked.start + asked.length]
