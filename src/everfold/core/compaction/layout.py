"""The layout: what the window shows of the compacted messages, as one compaction committed it.

A layout is immutable and belongs to the compaction that committed it. It covers the messages up to its watermark; all
messages after it are the tail and are shown as they are. A branch takes the layout of its last compaction at or
before its branch point, so nothing of a layout is ever copied or rebuilt.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple, cast

from everfold.core.digests.standing import LeftOut
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, LineKind

Hold = Literal["head", "slice", "pin", "system", "running", "refresh"]
"""Why a message at or below the watermark is still shown.

head: the first user message within the cap. slice: the kept slice holds it. pin: `[[keep]]`. system: a system message
in the middle of the log. running: the user message of the running turn. refresh: the newest context refresh up to the
watermark; where a newer one has replaced it, it is held and not shown, for a log that goes back to before that one.
"""

APART: Final[frozenset[Hold]] = frozenset(("head", "running", "refresh"))
"""What is shown at a place of its own, and not with its range."""


NOTHING_LEFT_OUT = LeftOut()


class Quotes(NamedTuple):
    """What lines would take in the standing instructions, in tokens: the strong ones, and the weaker ones."""

    strong: int = 0
    weak: int = 0


NO_QUOTES: Final = Quotes()


class Asked(NamedTuple):
    """The question that a short message answers: `text[start:start + length]` of the assistant's message before it.

    `tokens` are those of the line that shows it.
    """

    seq: int
    start: int
    length: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMessage:
    """A message at or below the watermark that is shown verbatim.

    `tokens` are those of its visible form, with the line of `asked` where it stands in a range; `keep` tells that it asked
    to be pinned, whatever holds it now; `quotes` is what its standing lines would take in the standing instructions
    (nothing as well where a former version held it); `asked` is the question that it stands with.
    """

    seq: int
    tokens: int
    hold: Hold
    keep: bool = False
    quotes: Quotes = NO_QUOTES
    asked: Asked | None = None

    def without_asked(self) -> "HeldMessage":
        """The same without the question, which is in the log no more."""
        shown = self.asked.tokens if self.asked and self.hold not in APART else 0
        return replace(self, tokens=self.tokens - shown, asked=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRange:
    """A range of the log, both ends included, and the digest that represents its folded messages."""

    first_seq: int
    last_seq: int
    digest_id: str
    kind: Literal["digest", "rollup"]
    digest_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the window shows of everything up to the watermark.

    Attributes:
        watermark: The last message that compaction has decided about.
        sum_tokens: The prefix sum of visible tokens at the watermark.
        turns_count: How many turns had begun at the watermark.
        held: Messages shown verbatim, by sequence number.
        ranges: Contiguous from 1 to the watermark; at most one is the rollup's, and it is the first.
        standing: The lines of the standing instructions, strongest first, newest first within a strength; behind a rule that
            names no object the sentence of the message before that does, as a line that does not bind.
        standing_text: The block as it is shown; empty when there is none.
        standing_left_out: The standing instructions that do not fit their slice, those of the pool and those that left it.
        standing_pool: Those that wait for room, in the same order; the next compaction chooses from them again.
        standing_dropped: Those that left the pool, or were left out before there was one: they are only counted.
        body_tokens: Tokens of all that is shown of the past, frames included.
        held_refreshes: Those of `held` that are context refreshes; every turn asks for them.
    """

    watermark: int = 0
    sum_tokens: int = 0
    turns_count: int = 0
    held: tuple[HeldMessage, ...] = ()
    ranges: tuple[ShownRange, ...] = ()
    standing: tuple[ExtractLine, ...] = ()
    standing_text: str = ""
    standing_tokens: int = 0
    standing_left_out: LeftOut = NOTHING_LEFT_OUT
    standing_pool: tuple[ExtractLine, ...] = ()
    standing_dropped: LeftOut = NOTHING_LEFT_OUT
    body_tokens: int = 0
    held_refreshes: tuple[HeldMessage, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        refreshes = tuple([held for held in self.held if held.hold == "refresh"])
        object.__setattr__(self, "held_refreshes", refreshes)

    @property
    def head(self) -> HeldMessage | None:
        """The head, where compaction has passed it."""
        for held in self.held:  # without a generator, which costs more than the few before the head
            if held.hold == "head":
                return held
        return None

    @property
    def rollup(self) -> ShownRange | None:
        """The range of the rollup, when there is one."""
        return self.ranges[0] if self.ranges and self.ranges[0].kind == "rollup" else None

    @property
    def held_seqs(self) -> frozenset[int]:
        """The messages at or below the watermark that are shown."""
        return frozenset(held.seq for held in self.held)

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions that stand over messages of ranges."""
        return tuple([held.asked for held in self.held if held.asked and held.hold not in APART])


EMPTY_LAYOUT = Layout()
"""Before the first compaction: everything is tail."""


def split_held(held: Sequence[HeldMessage], ranges: Sequence[ShownRange]) -> list[list[HeldMessage]]:
    """The kept messages of each range, those shown apart left out, in the order of the ranges. O(held + ranges)."""
    groups: list[list[HeldMessage]] = [[] for _ in ranges]
    index = 0
    for message in held:
        while index < len(ranges) and message.seq > ranges[index].last_seq:
            index += 1
        if index < len(ranges) and message.hold not in APART:
            groups[index].append(message)
    return groups


def held_to_row(held: HeldMessage) -> list[object]:
    """A held message as a row of JSON."""
    return [held.seq, held.tokens, held.hold, held.keep, *held.quotes, *(held.asked or ())]


def held_from_row(row: Sequence[object]) -> HeldMessage:
    """The held message that `held_to_row` wrote, now or without its question or its quotes."""
    seq, tokens, hold, keep, *rest = row
    more = cast("list[int]", rest)
    quotes, asked = more[: len(NO_QUOTES)], more[len(NO_QUOTES) :]
    return HeldMessage(
        seq=cast("int", seq),
        tokens=cast("int", tokens),
        hold=cast("Hold", hold),
        keep=cast("bool", keep),
        quotes=Quotes(*quotes),
        asked=Asked(*asked) if asked else None,
    )


def layout_to_bytes(layout: Layout) -> bytes:
    """The layout as JSON: compact lists, in the order of the fields. Keeps every code point."""
    value = [
        layout.watermark,
        layout.sum_tokens,
        layout.turns_count,
        [held_to_row(held) for held in layout.held],
        [[r.first_seq, r.last_seq, r.digest_id, r.kind, r.digest_tokens] for r in layout.ranges],
        [_line_to_row(line) for line in layout.standing],
        layout.standing_text,
        layout.standing_tokens,
        _left_out_to_row(layout.standing_left_out),
        layout.body_tokens,
        [_line_to_row(line) for line in layout.standing_pool],
        _left_out_to_row(layout.standing_dropped),
    ]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def layout_from_bytes(content: bytes) -> Layout:
    """The layout that `layout_to_bytes` wrote; one written before there was a pool has all that it left out as dropped."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    watermark, sum_tokens, turns_count, held, ranges, standing, text, standing_tokens, left_out, body_tokens, *more = (
        value
    )
    pool, dropped = more or ((), left_out)
    return Layout(
        watermark=watermark,
        sum_tokens=sum_tokens,
        turns_count=turns_count,
        held=tuple([held_from_row(row) for row in held]),
        ranges=tuple(
            ShownRange(first_seq=first, last_seq=last, digest_id=id_, kind=_KINDS[kind], digest_tokens=tokens)
            for first, last, id_, kind, tokens in ranges
        ),
        standing=tuple(_line(row) for row in standing),
        standing_text=text,
        standing_tokens=standing_tokens,
        standing_left_out=_left_out(left_out),
        standing_pool=tuple(_line(row) for row in pool),
        standing_dropped=_left_out(dropped),
        body_tokens=body_tokens,
    )


_KINDS: Final[Mapping[str, Literal["digest", "rollup"]]] = {
    "digest": "digest",
    "rollup": "rollup",
    "fine": "digest",
    "coarse": "rollup",
}
"""The kinds of ranges as they are stored, with the two names that they had before migration 0015."""


def _line_to_row(line: ExtractLine) -> list[object]:
    return [
        line.seq,
        line.origin,
        line.kind,
        line.score,
        line.quote,
        line.start,
        line.standing,
        line.said_at.isoformat(),
    ]


def _left_out_to_row(left_out: LeftOut) -> list[int]:
    return [left_out.count, left_out.first_seq, left_out.last_seq]


def _left_out(row: Sequence[int]) -> LeftOut:
    count, first_seq, last_seq = row
    return LeftOut(count=count, first_seq=first_seq, last_seq=last_seq)


def _line(row: list[object]) -> ExtractLine:
    seq, origin, kind, score, quote, start, standing, said_at = row
    return ExtractLine(
        seq=cast("int", seq),
        origin=cast("Origin", origin),
        kind=cast("LineKind", kind),
        score=cast("int", score),
        quote=cast("str", quote),
        start=cast("int", start),
        standing=cast("bool", standing),
        said_at=datetime.fromisoformat(cast("str", said_at)),
        lasting=bool(standing),
    )
