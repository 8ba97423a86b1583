"""The standing instructions: exact quotes of what the user said that binds beyond its moment.

Source: DESIGN G3, 3.4.
"""

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from everfold.core.digests.rows import Estimate, name_day, name_range, neutralise
from everfold.core.digests.rule_objects import find_object, show_object
from everfold.core.primitives.stepwise import Steps, finishing, map_stepwise
from everfold.core.replacement.supersession import has_ended, list_current_stepwise
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import STRONG, measure_line
from everfold.core.statements.substance import measure_substance

POOL_LINES: Final = 160
"""How many standing lines wait for room at most, beside those that are shown. The weakest and oldest leave first.
Source: DESIGN 3.4; 160 quotes are about 4,000 tokens, more than what a log of a year says that binds."""

_LINES_PER_STEP: Final = 20
_FRAME: Final = ("=== standing: the user's own words, strongest first ===", "=== end standing ===")
_SHORT_FRAME: Final = ("=== standing: the user's words ===", "")
_FRAME_SHARE: Final = 30
"""The frame takes at most one part in so many of the room, as it does from a usable budget of 4,000 tokens on; below it the
short one stands, and lines without dates. Source: own measurement, `python -m bench.worth spread`: at 16 % 39 of 51 rules
stand, with one in 15 37; at 10 % 27 either way, with the long one always 22."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Standing instructions that are neither shown nor superseded: how many, and the range of their messages."""

    count: int = 0
    first_seq: int = 0
    last_seq: int = 0

    def plus(self, seqs: Sequence[int]) -> "LeftOut":
        """The same with one statement more for each of these messages."""
        if not seqs:
            return self
        span = [*seqs, *((self.first_seq, self.last_seq) if self.count else ())]
        return LeftOut(count=self.count + len(seqs), first_seq=min(span), last_seq=max(span))


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingInstructions:
    """The standing instructions: their text, what they show, and what they have no room for.

    Attributes:
        lines: What the text shows, strongest first, newest first within a strength; each with the sentence of the message
            before that names its object, where it needs one, behind it as a line that does not bind.
        waiting: What it has no room for, in the same order, at most `POOL_LINES`: the next compaction chooses again.
        dropped: How many left the pool for good; they can be read from history.
        left_out: How many are not shown, those that wait and those that were dropped.
    """

    text: str
    tokens: int
    lines: tuple[ExtractLine, ...]
    waiting: tuple[ExtractLine, ...]
    dropped: LeftOut
    left_out: LeftOut


def compose_standing_stepwise(
    lines: Sequence[ExtractLine],
    *,
    cap_tokens: int,
    weak_cap_tokens: int,
    estimate: Estimate,
    left_out: LeftOut | None = None,
    as_of: datetime | None = None,
    beside: Sequence[ExtractLine] = (),
    settled: Sequence[ExtractLine] = (),
) -> Steps[StandingInstructions]:
    """Exact quotes of the standing instructions, strongest first; superseded ones left out, a repeat shown once.

    One that tells nothing ("You're right, let's do that."), also with the sentence that names its object, is counted, not
    shown. What ended by its own words before `as_of`, the newest line's moment where it is not given, is neither.

    Args:
        lines: The standing lines whose messages are not shown, those that waited for room too, in any order; those that do
            not bind are what `rule_objects.list_objects` found for them.
        cap_tokens: For the frame and what binds strongly.
        weak_cap_tokens: For decisions and preferences, which take none of the room that the others leave.
        estimate: Tokens of a text.
        left_out: What left the pool before; it stays counted.
        as_of: The moment of the compaction.
        beside: Lines of messages that are shown word for word: they supersede others and are not quoted.
        settled: Those of the lines that were chosen from together before: none of them supersedes another.
    """
    objects = index_objects(lines)
    lines = [line for line in lines if line.standing]
    walked = yield from list_current_stepwise([*lines, *beside], settled={(line.seq, line.start) for line in settled})
    as_of = as_of or max((line.said_at for line in lines), default=None)
    ranked = yield from _rank(lines, walked, objects, as_of)
    telling = [line for line in ranked if measure_substance(line.quote) or find_object(line, objects)]
    told = {(line.seq, line.start) for line in telling}
    dropped = (left_out or LeftOut()).plus([line.seq for line in ranked if (line.seq, line.start) not in told])
    is_short = estimate("\n".join(_FRAME)) * _FRAME_SHARE > cap_tokens
    block = _Block(telling, objects, dropped, estimate, _SHORT_FRAME if is_short else _FRAME)
    strong = block.fit((), [line for line in telling if is_strong(line)], cap_tokens)
    if strong is None:
        return block.close((), "")
    cap = estimate(block.write(strong)) + weak_cap_tokens
    shown = block.fit(strong, [line for line in telling if not is_strong(line)], cap) or strong
    return block.close(shown, block.write(shown))


compose_standing_instructions: Final = finishing(compose_standing_stepwise)


def is_strong(line: ExtractLine) -> bool:
    """Whether a standing line is an explicit rule, an order or a limit."""
    return measure_line(line) >= STRONG


def measure_weak_rows(lines: Sequence[ExtractLine], *, estimate: Estimate) -> int:
    """Tokens of those of the shown lines that bind weakly, at most, their numbers and dates included."""
    weak = [line for line in lines if line.standing and not is_strong(line)]
    return estimate("\n".join(_write_rows(weak, index_objects(lines)))) if weak else 0


def index_objects(lines: Iterable[ExtractLine]) -> dict[int, ExtractLine]:
    """Those of the lines that do not bind, by message: what rules of the message behind speak of."""
    return {line.seq: line for line in lines if not line.standing}


class _Block:
    """The text of the standing instructions over one ranking: what is not shown is counted in it."""

    def __init__(
        self,
        ranked: Sequence[ExtractLine],
        objects: Mapping[int, ExtractLine],
        dropped: LeftOut,
        estimate: Estimate,
        frame: tuple[str, str],
    ) -> None:
        self._ranked = ranked
        self._objects = objects
        self._dropped = dropped
        self._estimate = estimate
        self._frame = frame

    def fit(
        self, shown: Sequence[ExtractLine], more: Sequence[ExtractLine], cap_tokens: int
    ) -> tuple[ExtractLine, ...] | None:
        """What is shown with as much of the next lines as the cap allows; None where the frame alone passes it."""
        free = cap_tokens - (self._estimate(self.write(shown)) if shown else 0)
        bound = _bound_count(more, free, self._estimate)

        def passes(count: int) -> bool:
            return self._estimate(self.write((*shown, *more[:count]))) > cap_tokens

        # Each line makes the text longer, but for the last, after which there may be nothing left to count.
        count = bound if not passes(bound) else bisect_left(range(bound), True, key=passes) - 1
        return (*shown, *more[:count]) if count >= 0 else None

    def write(self, shown: Sequence[ExtractLine]) -> str:
        """The text that shows these lines; empty where there is nothing to show or to count."""
        missing = self._dropped.plus([line.seq for line in self._list_rest(shown)])
        if not shown and not missing.count:
            return ""
        head, tail = self._frame
        is_short = not tail
        return "\n".join(
            [head, *_write_rows(shown, self._objects, is_short=is_short), *_point_to(missing, is_short=is_short), tail]
        ).rstrip("\n")

    def close(self, shown: Sequence[ExtractLine], text: str) -> StandingInstructions:
        """What is stored of it."""
        rest = self._list_rest(shown)
        dropped = self._dropped.plus([line.seq for line in rest[POOL_LINES:]])
        return StandingInstructions(
            text=text,
            tokens=self._estimate(text),
            lines=_add_objects(shown, self._objects),
            waiting=_add_objects(rest[:POOL_LINES], self._objects),
            dropped=dropped,
            left_out=self._dropped.plus([line.seq for line in rest]),
        )

    def _list_rest(self, shown: Sequence[ExtractLine]) -> list[ExtractLine]:
        keys = {(line.seq, line.start) for line in shown}
        return [line for line in self._ranked if (line.seq, line.start) not in keys]


def _add_objects(lines: Iterable[ExtractLine], objects: Mapping[int, ExtractLine]) -> tuple[ExtractLine, ...]:
    """The lines, each with its object behind it."""
    pairs = [(line, find_object(line, objects)) for line in lines]
    return tuple(dict.fromkeys(one for pair in pairs for one in pair if one is not None))


def _rank(
    lines: Sequence[ExtractLine],
    current: Sequence[ExtractLine],
    objects: Mapping[int, ExtractLine],
    as_of: datetime | None,
) -> Steps[list[ExtractLine]]:
    """Those of the lines that are current and hold, strongest first, newest first within a strength, each text once."""
    offered = {(line.seq, line.start) for line in lines}
    current = [line for line in current if (line.seq, line.start) in offered]
    holding = [line for line in current if line.standing and not (as_of and has_ended(line, as_of))]
    holding.sort(key=lambda line: (line.seq, -line.start))
    unique = {(" ".join(line.quote.lower().split()), find_object(line, objects)): line for line in holding}
    strengths = yield from map_stepwise(measure_line, [*unique.values()], count=_LINES_PER_STEP)
    rated = list(zip(strengths, unique.values(), strict=True))
    rated.sort(key=lambda one: (-one[0], -one[1].seq, one[1].start))
    return [line for strength, line in rated if strength]


def _bound_count(lines: Sequence[ExtractLine], cap_tokens: int, estimate: Estimate) -> int:
    """How many lines can fit at the very most; the quotes alone, with some slack for an estimator that rounds up."""
    sizes = itertools.accumulate(estimate(neutralise(line.quote)) for line in lines)
    return sum(1 for _ in itertools.takewhile(lambda size: size <= cap_tokens + cap_tokens // 4, sizes))


def _point_to(missing: LeftOut, *, is_short: bool) -> list[str]:
    if not missing.count:
        return []
    span = name_range(missing.first_seq, missing.last_seq)
    return [f"{missing.count} more not shown, messages {span}{'' if is_short else ': read them from history.'}"]


def _write_rows(
    shown: Sequence[ExtractLine], objects: Mapping[int, ExtractLine], *, is_short: bool = False
) -> list[str]:
    rows: list[str] = []
    day: date | None = None
    for line in shown:
        dated = "" if is_short else name_day(line.said_at.date(), day)
        day = line.said_at.date()
        named = find_object(line, objects)
        rows.append(f"{dated}#{line.seq} {neutralise(line.quote)}{show_object(named) if named else ''}")
    return rows
