"""The layout: what the window shows of the compacted messages, as one compaction committed it.

A layout is immutable and belongs to the compaction that committed it. It covers the messages up to its watermark; all
messages after it are the tail and are shown as they are. A branch takes the layout of its last compaction at or
before its branch point, so nothing of a layout is ever copied or rebuilt.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, cast

from everfold.core.digests.extractive import LeftOut
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, LineKind

Hold = Literal["head", "slice", "pin", "system", "running", "refresh"]
"""Why a message at or below the watermark is still shown.

head: the first user message within the cap. slice: the kept slice holds it. pin: `[[keep]]`. system: a system message
in the middle of the log. running: the user message of the running turn. refresh: the newest context refresh; one that a
newer one has replaced since is held and not shown, until the next compaction lets it go.
"""

APART: Final[frozenset[Hold]] = frozenset(("head", "running", "refresh"))
"""What is shown at a place of its own, and not with its range."""


NOTHING_LEFT_OUT = LeftOut()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldMessage:
    """A message at or below the watermark that is shown verbatim.

    `tokens` are those of its visible form; `keep` tells that it asked to be pinned, whatever holds it now.
    """

    seq: int
    tokens: int
    hold: Hold
    keep: bool = False


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
        standing: The lines of the standing instructions, newest first.
        standing_text: The block as it is shown; empty when there is none.
        standing_left_out: The standing instructions that do not fit their slice.
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


def layout_to_bytes(layout: Layout) -> bytes:
    """The layout as JSON: compact lists, in the order of the fields. Keeps every code point."""
    value = [
        layout.watermark,
        layout.sum_tokens,
        layout.turns_count,
        [[held.seq, held.tokens, held.hold, held.keep] for held in layout.held],
        [[r.first_seq, r.last_seq, r.digest_id, r.kind, r.digest_tokens] for r in layout.ranges],
        [
            [ln.seq, ln.origin, ln.kind, ln.score, ln.quote, ln.start, ln.standing, ln.said_at.isoformat()]
            for ln in layout.standing
        ],
        layout.standing_text,
        layout.standing_tokens,
        [layout.standing_left_out.count, layout.standing_left_out.first_seq, layout.standing_left_out.last_seq],
        layout.body_tokens,
    ]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def layout_from_bytes(content: bytes) -> Layout:
    """The layout that `layout_to_bytes` wrote."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    watermark, sum_tokens, turns_count, held, ranges, standing, text, standing_tokens, left_out, body_tokens = value
    return Layout(
        watermark=watermark,
        sum_tokens=sum_tokens,
        turns_count=turns_count,
        held=tuple(HeldMessage(seq=seq, tokens=tokens, hold=hold, keep=keep) for seq, tokens, hold, keep in held),
        ranges=tuple(
            ShownRange(first_seq=first, last_seq=last, digest_id=id_, kind=_KINDS[kind], digest_tokens=tokens)
            for first, last, id_, kind, tokens in ranges
        ),
        standing=tuple(_line(row) for row in standing),
        standing_text=text,
        standing_tokens=standing_tokens,
        standing_left_out=LeftOut(count=left_out[0], first_seq=left_out[1], last_seq=left_out[2]),
        body_tokens=body_tokens,
    )


_KINDS: Final[Mapping[str, Literal["digest", "rollup"]]] = {
    "digest": "digest",
    "rollup": "rollup",
    "fine": "digest",
    "coarse": "rollup",
}
"""The kinds of ranges as they are stored, with the two names that they had before migration 0015."""


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
