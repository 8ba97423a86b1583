"""Held messages: which messages of the past stay in the window word for word.

Source: DESIGN sections 3.1 and G3.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from everfold.core.compaction.layout import APART, Asked, HeldMessage, Hold, Quotes
from everfold.core.digests.answers import find_asked, show_asked
from everfold.core.digests.rule_objects import list_objects, show_object
from everfold.core.digests.standing import is_strong
from everfold.core.log.budget import UsableBudget
from everfold.core.log.messages import Note
from everfold.core.log.state import SessionState
from everfold.core.primitives.stepwise import Steps
from everfold.core.replacement.replacement import is_marked
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import measure_strength, read_rows_ahead
from everfold.core.statements.substance import measure_substance
from everfold.core.text.tokens import estimate_text_tokens

LEAVE_RATIO: Final = 0.8
"""A slice that is over lets its oldest go down to this share of it. Source: DESIGN section 3.1."""

QUOTE_TOKENS: Final = 12
"""Date, number and line break of a line of the standing instructions. Source: our estimate of the longest, 11."""

_LINES_PER_STEP: Final = 10
"""About 5 ms where nothing of them was read before. Source: own measurement, a talk of 1,000 lines to remember."""

_ELEMENTS: Final = re.compile(r"(?:\s*<([\w-]+)>[^<>]*</\1>|\s*</?[\w-]+>)+\s*")
"""A line of elements and tags alone, such as the exit code and the empty output that some harnesses send as the user."""
LEAST_SUBSTANCE: Final = 3
"""How many telling words a message must have to stand alone; one is enough for what binds. Below it stands an answer such as
"The blue one" or an order such as "Do it.", which tells nothing without what came before.

Source: the same measure as in `core/digests/extractive.py`.
"""


def settle_running(held: HeldMessage, state: SessionState) -> HeldMessage:
    """A held message as it counts now: what was running and is no longer becomes an ordinary one."""
    if held.hold == "head":
        return held
    if held.seq == state.turn_seq:
        return replace(held, hold="running")
    if held.hold == "running":
        shown = held.asked.tokens if held.asked else 0
        return replace(held, hold="pin" if held.keep else "slice", tokens=held.tokens + shown)
    return held


def offer_note(
    note: Note, state: SessionState, budget: UsableBudget, *, before: Note | None = None
) -> HeldMessage | None:
    """How a message would be held once the watermark has passed it, or None when it can only fold.

    Args:
        note: The message.
        state: The session's state.
        budget: The shares of the limit.
        before: The message before it, whose question it may answer.
    """
    asked = _find_asked(note, before)
    hold = _find_hold(note, state, budget, is_answer=asked is not None)
    if hold is None:
        return None
    return HeldMessage(
        seq=note.seq,
        tokens=note.tokens + (asked.tokens if asked and hold not in APART else 0),
        hold=hold,
        keep=note.keep and note.kind == "user",
        quotes=measure_note_quotes(note, before),
        asked=None if hold == "head" else asked,
    )


def _find_asked(note: Note, before: Note | None) -> Asked | None:
    """The question that a user's short message stands with."""
    if note.kind != "user" or before is None or before.kind != "assistant":
        return None
    question = find_asked(note.lines, before.lines)
    if question is None:
        return None
    tokens = estimate_text_tokens(show_asked(question.seq, question.quote))
    return Asked(question.seq, question.start, len(question.quote), tokens)


def _find_hold(note: Note, state: SessionState, budget: UsableBudget, *, is_answer: bool) -> Hold | None:
    if note.is_erased:
        return None
    if note.seq == state.head_seq:
        return "head"
    if note.seq == state.turn_seq:
        return "running"
    if note.kind == "notice" and any(note.seq == known.seq for known in state.refreshes):
        return "refresh"
    if note.kind == "system":
        return "system"
    if note.kind == "user" and note.keep:
        return "pin"
    is_kept = note.kind == "user" and note.raw_tokens <= budget.kept_message_tokens
    return "slice" if is_kept and (is_answer or stands_alone(note)) else None


def measure_note_quotes(note: Note, before: Note | None) -> Quotes:
    """The most that a message's lines take in the standing instructions, what they speak of in the message before too."""
    return measure_quotes(note.lines, list_objects(note.lines, before.lines) if before else ())


def measure_quotes(lines: Iterable[ExtractLine], objects: Iterable[ExtractLine] = ()) -> Quotes:
    """The most that these lines take in the standing instructions, with what they speak of. One without strength takes nothing."""
    tokens = {True: sum(estimate_text_tokens(show_object(line)) for line in objects), False: 0}
    for line in lines:
        if line.standing and measure_strength(line.kind, line.quote):
            tokens[is_strong(line)] += estimate_text_tokens(line.quote) + QUOTE_TOKENS
    return Quotes(tokens[True], tokens[False])


def read_ahead(lines: Iterable[ExtractLine]) -> Steps[None]:
    """Read how standing lines bind and what they change, with pauses: it is kept, and a plan then only looks it up."""
    standing = [line for line in lines if line.standing]
    if standing:
        yield from read_rows_ahead()
    for at, line in enumerate(standing, 1):
        if measure_strength(line.kind, line.quote):
            is_marked(line.quote)
        measure_substance(line.quote)
        if at % _LINES_PER_STEP == 0:
            yield


def stands_alone(note: Note) -> bool:
    """Whether a message tells something without the one before it; what a harness wraps in tags is not said."""
    least = 1 if any(line.standing for line in note.lines) else LEAST_SUBSTANCE
    substance = 0
    for line in note.lines:
        substance += 0 if _ELEMENTS.fullmatch(line.quote) else measure_substance(line.quote)
        if substance >= least:
            return True
    return False


def choose_held(
    offered: Sequence[HeldMessage], *, kept_tokens: int, pinned_tokens: int, message_tokens: int
) -> tuple[HeldMessage, ...]:
    """The messages that stay, of those that could: the newest within each share.

    When a share is over it is filled anew, newest first, up to `LEAVE_RATIO` of it, so that a message does not leave at
    every compaction; the newest that fits stays even so. Of the kept share the oldest leave in a batch; a pinned message
    that does not fit is passed over, and system messages take what the pins leave. Head, running message and the newest
    of the refreshes always stay. By sequence number. O(n log n).
    """
    stays = _newest_within([held for held in offered if held.hold == "pin"], pinned_tokens)
    pinned = {held.seq for held in stays}
    plain = [
        held if held.hold == "slice" else replace(held, hold="slice")
        for held in offered
        if held.tokens <= message_tokens and (held.hold == "slice" or (held.hold == "pin" and held.seq not in pinned))
    ]
    left = pinned_tokens - sum([held.tokens for held in stays])
    stays += _newest_within([held for held in offered if held.hold == "system"], left)
    stays += _newest_within(plain, kept_tokens, in_batch=True)
    stays += [held for held in offered if held.hold in {"head", "running"}]
    stays += [held for held in offered if held.hold == "refresh"][-1:]
    return tuple(sorted(stays, key=_by_seq))


def _newest_within(held: Sequence[HeldMessage], cap_tokens: int, *, in_batch: bool = False) -> list[HeldMessage]:
    fitting = [message for message in held if message.tokens <= cap_tokens]
    if sum([message.tokens for message in fitting]) <= cap_tokens:
        return fitting
    stays, taken = fitting[-1:], fitting[-1].tokens
    for message in reversed(fitting[:-1]):
        if taken + message.tokens <= cap_tokens * LEAVE_RATIO:
            stays.append(message)
            taken += message.tokens
        elif in_batch:
            break
    return stays


def _by_seq(held: HeldMessage) -> int:
    return held.seq
