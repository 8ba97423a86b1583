"""The window: the list of what the model is shown next, with a report of what is in it and why.

Order, which is also the order of how long each stays the same: fixed, head, body (kept messages and digests by range),
standing instructions, snapshot of memory, the newest context refresh once it is past, tail, dynamic suffix.

Source: DESIGN section 3, "The way of a message".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from everfold.core.compaction.layout import Asked, Layout, split_held
from everfold.core.compaction.planning import measure_note, measure_window
from everfold.core.digests.answers import show_asked
from everfold.core.digests.standing import LeftOut
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.calibration import Calibration, count_parts, count_tokens
from everfold.core.log.messages import Message
from everfold.core.log.prompts import Prompt
from everfold.core.log.state import WHOLE_WINDOW, SessionState
from everfold.core.primitives.json_values import JsonObject
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.core.windows.entries import Entry, MessageEntry, RangeEntry, Slice, TextEntry
from everfold.core.windows.rendering import render
from everfold.core.windows.suffixes import list_suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBreakPlace:
    """One change of a request before its end.

    Attributes:
        reason: `compaction: ` with its trigger, `prompt` (system prompt or tools changed), `erase`, `session`, `retract`
            (the newest messages were taken back; nothing is sent again), `refresh` (a context refresh took the place of
            an older one), `memory` (its snapshot was written again for an erase in it, or was turned on), or `suffix` (what was recalled for the turn fits no longer; nothing is sent again).
        resent_tokens: What can no longer come from the provider's cache.
    """

    reason: str
    resent_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReport:
    """What is in a window and why.

    Token counts are the provider's, as far as they are known: our estimate times the session's calibration, which is 1
    before the provider has counted a request. The limit and the budget are exact.

    Attributes:
        tokens: The whole window, fixed part included, without the reserve for the dynamic suffix that is not used.
        by_slice: The tokens of each slice.
        message_count: Messages of the log that are shown verbatim or in their visible form.
        digest_count: Digests that are shown.
        watermark: The last message that compaction has decided about.
        last_seq: The newest message that is shown.
        withheld_seqs: Messages of an open step, which wait for their results.
        standing_left_out: Standing instructions that there is no room for, counted and named by range.
        cache_breaks: Why the beginning of this request differs from that of the window before, and what the provider's cache
            must read again for it; empty when the request only grew at its end.
        full_slices: Slices that are at their bound, when the window could not come down to its trigger.
        memory: What of memory is shown and why, a line for each part.
    """

    limit_tokens: int
    budget_tokens: int
    fixed_tokens: int
    usable_tokens: int
    tokens: int
    by_slice: Mapping[Slice, int]
    message_count: int
    digest_count: int
    watermark: int
    last_seq: int
    withheld_seqs: tuple[int, ...]
    standing_left_out: LeftOut
    cache_breaks: tuple[CacheBreakPlace, ...] = ()
    full_slices: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()


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

    `by_slice` has the tokens of its slices, `tokens` their sum; `message_count` counts the messages that are shown word for
    word, `digest_count` the digests.
    """

    layout: Layout
    snapshot: str
    refresh_seq: int
    entries: tuple[Entry, ...]
    by_slice: Mapping[Slice, int]
    tokens: int
    message_count: int
    digest_count: int


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
    by_slice: dict[Slice, int] = {}
    held_of: dict[str, Slice] = {"head": "head", "running": "running", "refresh": "refresh"}
    shown = [held for held in layout.held if held.hold != "refresh" or held.seq == refresh_seq]
    for held in shown:
        name = held_of.get(held.hold, "kept")
        by_slice[name] = by_slice.get(name, 0) + held.tokens
    by_slice["standing"] = layout.standing_tokens
    by_slice["digest"] = layout.body_tokens - layout.standing_tokens - sum(held.tokens for held in layout.held)
    if snapshot:
        by_slice["snapshot"] = estimate_text_tokens(snapshot) + MESSAGE_OVERHEAD_TOKENS
    return Body(
        layout=layout,
        snapshot=snapshot,
        refresh_seq=refresh_seq,
        entries=tuple(_body_entries(layout, messages, digests, snapshot, refresh_seq)),
        by_slice=by_slice,
        tokens=sum(by_slice.values()),
        message_count=sum(not messages[held.seq].is_erased for held in shown),
        digest_count=sum(bool(shown_range.digest_id) for shown_range in layout.ranges),
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
    report = _report(state, body, policy, budget, message_count=said + body.message_count, suffix=ending, why=why)
    window = Window(
        session=session,
        prompt=prompt,
        entries=(*fixed, *body.entries) + tail.entries + tuple(ending),  # noqa: RUF005 - the tail is copied once
        report=_count(report, budget, state.calibration),
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
    held = [held.seq for held in layout.held]
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


def _report(
    state: SessionState,
    body: Body,
    policy: Policy,
    budget: UsableBudget,
    *,
    message_count: int,
    suffix: Sequence[TextEntry],
    why: tuple[str, ...],
) -> WindowReport:
    layout = body.layout
    reserved_tokens = measure_note(state.awaited, layout)
    tokens = measure_window(state, layout) - reserved_tokens
    snapshot_tokens = body.by_slice.get("snapshot", 0)
    suffix_tokens = sum([estimate_text_tokens(entry.text) + MESSAGE_OVERHEAD_TOKENS for entry in suffix])
    by_slice: dict[Slice, int] = {
        "fixed": budget.prompt_tokens,
        **body.by_slice,
        "tail": tokens - body.tokens + snapshot_tokens,
        "suffix": suffix_tokens,
    }
    return WindowReport(
        limit_tokens=budget.limit_tokens,
        budget_tokens=budget.budget_tokens,
        fixed_tokens=budget.fixed_tokens,
        usable_tokens=budget.usable_tokens,
        tokens=budget.prompt_tokens + snapshot_tokens + tokens + suffix_tokens,
        by_slice=by_slice,
        message_count=message_count,
        digest_count=body.digest_count,
        watermark=layout.watermark,
        last_seq=state.safe_seq,
        withheld_seqs=tuple(range(state.safe_seq + 1, state.last_seq + 1)),
        standing_left_out=layout.standing_left_out,
        cache_breaks=tuple(
            [
                CacheBreakPlace(
                    reason=reason, resent_tokens=budget.prompt_tokens + tokens if cost == WHOLE_WINDOW else cost
                )
                for reason, cost in state.cache_breaks
            ]
        ),
        full_slices=find_full_slices(by_slice, budget, policy)
        if tokens + reserved_tokens >= budget.trigger_tokens
        else (),
        memory=why,
    )


def _count(report: WindowReport, budget: UsableBudget, calibration: Calibration) -> WindowReport:
    """A report in the provider's tokens: its slices sum to its tokens."""
    if calibration.factor == 1:
        return report
    counted = budget.count(calibration)
    by_slice = dict(zip(report.by_slice, count_parts(calibration, list(report.by_slice.values())), strict=True))
    return replace(
        report,
        budget_tokens=counted.budget_tokens,
        fixed_tokens=counted.fixed_tokens,
        usable_tokens=counted.usable_tokens,
        tokens=count_tokens(calibration, report.tokens),
        by_slice=by_slice,
        cache_breaks=tuple(
            [
                CacheBreakPlace(reason=one.reason, resent_tokens=count_tokens(calibration, one.resent_tokens))
                for one in report.cache_breaks
            ]
        ),
    )


def find_full_slices(by_slice: Mapping[Slice, int], budget: UsableBudget, policy: Policy) -> tuple[str, ...]:
    """The slices that fill a window that is above its trigger with nothing left to fold."""
    bounds: dict[Slice, float] = {
        "head": budget.message_cap_tokens * 0.5,
        "kept": budget.kept_tokens * 0.8,
        "digest": budget.digest_tokens * 0.8,
        "standing": budget.standing_tokens * 0.8,
        "running": budget.visible_tokens * 0.5,
        "tail": budget.usable_tokens * policy.visible_ratio,
    }
    return tuple(name for name, bound in bounds.items() if by_slice.get(name, 0) >= bound)
