"""Refreshing: the questions to context sources, and the message with their answers.

Each source is asked for the time since it answered last, no longer than the look-back: one that failed is asked for the
same time again. The answers become one message of external origin with a part for each source, cut within its share
and fenced when it is shown; the newest refresh replaces the one before it.

Source: DESIGN section 3.5; REQUIREMENTS OF-64 to OF-67, U-110 to U-112.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal

from everfold.core.compaction.layout import Layout
from everfold.core.compaction.planning import measure_window
from everfold.core.log.budget import Policy, UsableBudget
from everfold.core.log.extras import ASKED_KEY
from everfold.core.log.messages import Message, TextPart
from everfold.core.log.sessions import SessionRecord
from everfold.core.log.state import Answered, KnownRefresh, SessionState
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.text.frames import FENCE_TOKENS, fence_untrusted, name_refresh
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens, truncate_to_tokens

Cause = Literal["gap", "cadence", "manual", "late"]
"""Why a refresh is made. late: an answer came after the deadline, and joins the others in the next turn."""

SOURCE_KEY: Final = "context_source"
"""Where a part of a refresh names the source that said it."""

CUT_MARK: Final = "[... {count:,} more characters left out]"
_MARK_TOKENS: Final = 16
"""What the mark costs. Source: our estimate for a count of seven digits, 13, and reserve."""
_HEADER_TOKENS: Final = 24 + FENCE_TOKENS + MESSAGE_OVERHEAD_TOKENS
"""The line of a refresh and its message. Source: our estimate of the line, 19, and reserve; a fence is counted for every
text from outside, for this line too."""
_NAME: Final = re.compile(r"[a-z][a-z0-9+.-]{0,19}://[\w.@-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedSource:
    """An allowed context source, and its prompt."""

    name: str
    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one source is asked: what happened from one moment to another, in so many tokens."""

    source: str
    prompt: str
    from_at: datetime
    to_at: datetime
    budget_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a source said to a question; not empty."""

    question: Question
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """A context refresh that is ready to be stored.

    Attributes:
        wire: The message, in OpenAI chat form.
        answered: Up to when each source that answered has answered now.
        sources_count: How many sources it shows, those of the refresh that it goes on from included.
        tokens: What its parts cost in a window, fences included.
        left_out: Sources whose answers no longer fit under the cap; they are not counted as answered.
    """

    wire: JsonObject
    answered: tuple[Answered, ...]
    sources_count: int
    tokens: int
    left_out: tuple[str, ...] = ()


def find_cap(cap_tokens: int, budget: UsableBudget) -> int:
    """The cap of a refresh in tokens: at most what the window shows of one message. A cap of 0 means that bound."""
    most = budget.visible_tokens - _HEADER_TOKENS
    return max(min(cap_tokens, most) if cap_tokens else most, 0)


def share_cap(cap_tokens: int, floor_tokens: int, sources_count: int) -> int:
    """What one of so many sources may say, its fence left out.

    Source: REQUIREMENTS OF-66.
    """
    share_tokens = min(max(floor_tokens, cap_tokens // max(sources_count, 1)), cap_tokens)
    return max(share_tokens - FENCE_TOKENS, 1)


def plan_questions(
    sources: Sequence[AllowedSource],
    state: SessionState,
    record: SessionRecord,
    policy: Policy,
    *,
    cause: Cause,
    now: datetime,
    cap_tokens: int,
    floor_tokens: int,
) -> tuple[Question, ...]:
    """What each source is asked now, in the order of the settings.

    Args:
        sources: The allowed ones.
        state: The session's state: it knows up to when each has answered.
        record: The session.
        policy: How far back a refresh looks.
        cause: After a gap a source that never answered is asked from when the user left.
        now: The end of the stretch.
        cap_tokens: See `find_cap`.
        floor_tokens: The least share of it that a source gets.
    """
    if not sources:
        return ()
    earliest = now - timedelta(seconds=policy.gap_max_lookback_secs)
    known = dict(state.answered)
    begun = (_find_absence(state) if cause == "gap" else None) or record.created_at
    budget_tokens = share_cap(cap_tokens, floor_tokens, len(sources))
    return tuple(
        Question(
            source=source.name,
            prompt=source.prompt,
            from_at=min(max(known.get(source.name, begun), earliest), now),
            to_at=now,
            budget_tokens=budget_tokens,
        )
        for source in sources
    )


def _find_absence(state: SessionState) -> datetime | None:
    """When the user left: before the message to come where its gap is met ahead of it, else before the newest one."""
    return state.active_at if state.gap_seq > state.turn_seq else state.away_since


def list_untold(answers: Iterable[Answer], state: SessionState) -> tuple[Answer, ...]:
    """The answers that go on from what is stored: no later question to their source was answered meanwhile."""
    known = dict(state.answered)
    return tuple(
        one for one in answers if one.question.source not in known or one.question.to_at > known[one.question.source]
    )


def list_told(refresh: Message) -> tuple[TextPart, ...]:
    """What sources said in a stored refresh, without the line of its time; nothing of an erased one."""
    line = name_refresh(refresh.said_at)
    return tuple(part for part in refresh.view.parts if isinstance(part, TextPart) and part.text != line)


def compose_refresh(
    answers: Sequence[Answer],
    *,
    at: datetime,
    cap_tokens: int,
    before: Message | None = None,
) -> Refresh | None:
    """The message of what sources said, or None where nothing of it fits.

    Args:
        answers: In the order in which they are shown; those that no longer fit are left out whole.
        at: When the message is stored.
        cap_tokens: What all of them may cost together, fences included.
        before: The refresh that it takes the place of and that stays shown, before the answers; a new answer of the same
            source replaces what it says.
    """
    new = {answer.question.source for answer in answers}
    told = list_told(before) if before else ()
    kept = [(part.text, find_source(part)) for part in told if find_source(part) not in new]
    used = sum(estimate_text_tokens(text) + FENCE_TOKENS for text, _ in kept)
    parts: list[JsonValue] = [{"type": "text", "text": name_refresh(at)}]
    parts += [{"type": "text", "text": text, SOURCE_KEY: source} for text, source in kept]
    asked = read_asked(before) if before else {}
    since = {source: from_at.isoformat() for source, from_at in asked.items() if source not in new}
    answered: list[Answered] = []
    left_out: list[str] = []
    for answer in answers:
        text = cut_answer(answer.text, answer.question.budget_tokens)
        tokens = estimate_text_tokens(text) + FENCE_TOKENS
        if not text or used + tokens > cap_tokens:
            left_out.append(answer.question.source)
            continue
        used += tokens
        parts.append({"type": "text", "text": text, SOURCE_KEY: answer.question.source})
        since[answer.question.source] = answer.question.from_at.isoformat()
        answered.append(Answered(answer.question.source, answer.question.to_at))
    if not answered:
        return None
    return Refresh(
        wire={"role": "user", "content": parts, ASKED_KEY: {**since}},
        answered=tuple(answered),
        sources_count=len(parts) - 1,
        tokens=used,
        left_out=tuple(left_out),
    )


def cut_answer(text: str, budget_tokens: int) -> str:
    """An answer within its budget: cut from its end, at a line's end where one is near, with a mark that counts."""
    text = text.strip()
    if estimate_text_tokens(text) <= budget_tokens:
        return text
    kept = truncate_to_tokens(text, max(budget_tokens - _MARK_TOKENS, 0), head_share=1.0)[0].rstrip()
    return f"{kept}\n{CUT_MARK.format(count=len(text) - len(kept))}" if kept else ""


def show_answer(answer: Answer, *, at: datetime, key: str) -> str:
    """What a model sees of a refresh that holds this answer alone: the line, and the cut answer in its fence.

    Args:
        answer: What the source said.
        at: When the refresh would be stored.
        key: What the marks of the fence are made with; each session has its own.
    """
    text = cut_answer(answer.text, answer.question.budget_tokens)
    return f"{name_refresh(at)}\n{fence_untrusted(text, source=_name_source(answer.question.source), key=key)}"


def note_answers(state: SessionState, answered: Iterable[Answered]) -> SessionState:
    """The state that knows up to when sources have answered; its revision stays."""
    known = {**dict(state.answered), **dict(answered)}
    return replace(state, answered=tuple(Answered(source, known[source]) for source in sorted(known)))


def ask_again(
    state: SessionState, gone: Sequence[Message], shown: Message | None, *, active_at: datetime | None
) -> SessionState:
    """The state of a log that went back behind refreshes, whose sources are asked again for what these alone said.

    So that the user's return brings it, the user was there last when the log was where it is now. The revision stays.

    Args:
        state: It knows up to when the sources had answered in the log that was.
        gone: The refreshes that the log has no longer, oldest first.
        shown: The one that is shown now; what it says was not said by the others alone.
        active_at: When the last user message that is left was said.
    """
    known = dict(state.answered)
    held = read_asked(shown) if shown else {}
    for refresh in reversed(gone):
        asked = read_asked(refresh)
        for source in (asked.keys() or {find_source(part) for part in list_told(refresh)}) & known.keys():
            if source not in asked:  # of an earlier form
                del known[source]
            elif asked[source] != held.get(source):
                known[source] = asked[source]
    answered = tuple(Answered(source, known[source]) for source in sorted(known))
    away_since = state.away_since if state.active_at == active_at else None
    return replace(state, answered=answered, active_at=active_at, away_since=away_since)


def measure_replacement(before: SessionState, after: SessionState, layout: Layout) -> int | None:
    """What a provider must read again where a refresh takes the place of the one that was shown; None where none does.

    Args:
        before: The state before the append.
        after: The state after it.
        layout: What is shown of the past.
    """
    if not before.refreshes or after.refresh_seq == before.refresh_seq:
        return None
    return _measure_behind(before.refreshes[-1], after, layout)


def measure_return(before: SessionState, after: SessionState, layout: Layout) -> int:
    """What a provider must read again where a retraction shows an earlier refresh again; 0 where it does not.

    Arguments as for `measure_replacement`.
    """
    if not after.refreshes or after.refresh_seq == before.refresh_seq:
        return 0
    return _measure_behind(after.refreshes[-1], after, layout)


def _measure_behind(refresh: KnownRefresh, state: SessionState, layout: Layout) -> int:
    """What a window shows behind the place of a refresh, whether or not that is shown."""
    if refresh.seq > layout.watermark:
        return state.safe_sum_tokens - refresh.sum_tokens
    unshown = sum(held.tokens for held in layout.held_refreshes if held.seq != state.refresh_seq)
    running = sum(held.tokens for held in layout.held if held.hold == "running")
    return measure_window(state, layout) - layout.body_tokens + unshown + running


def find_source(part: TextPart) -> str:
    """The source that a part of a refresh names, as a fence may name it."""
    return _name_source(part.raw.get(SOURCE_KEY) if part.raw is not None else None)


def read_asked(refresh: Message) -> dict[str, datetime]:
    """Since when each source was asked that a stored refresh shows; empty where it is of an earlier form."""
    written = refresh.wire.get(ASKED_KEY)
    found = {source: _read_moment(at) for source, at in written.items()} if isinstance(written, dict) else {}
    return {source: at for source, at in found.items() if at is not None}


def _read_moment(written: JsonValue) -> datetime | None:
    try:
        at = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        return None
    return at if at is not None and at.tzinfo is not None else None


def _name_source(name: object) -> str:
    return name if isinstance(name, str) and _NAME.fullmatch(name) else "outside"
