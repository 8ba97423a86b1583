"""The bounded memory from which rollups are made.

Theory of operation: the log's sequence numbers are cut into buckets of equal width, at most 16; when a line would need
a 17th, the width doubles and neighbours join. Each bucket keeps its best lines, so that what is old keeps its share
whatever comes later. Equal lines are told apart by a hash of their place, not by their age, so that joining buckets
does not drift to one end of them.

Source: DESIGN 3.4 † (equal quota by age; plain top-k drifts, re-reading raw rows is quadratic); sampling by smallest hash
after Cohen and Kaplan, "Summarizing data using bottom-k sketches" (2007).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from everfold.core.digests.answers import group_stepwise
from everfold.core.digests.choice import begin_choice, choose_quotas, list_candidates
from everfold.core.primitives.origins import Origin
from everfold.core.primitives.stepwise import Steps, finish
from everfold.core.statements.extracts import ExtractLine, from_json, to_json
from everfold.errors import InvalidInputError

BUCKETS: Final = 16
LINES_PER_BUCKET: Final = 24
_FIRST_WIDTH: Final = 32
_FRAME_TOKENS: Final = 8
_CHARS_PER_TOKEN: Final = 4
"""About what a line takes in a rollup; which lines the pool keeps must not depend on an estimator."""


class OfferedMessage(Protocol):
    """What the pool reads of a message."""

    @property
    def lines(self) -> tuple[ExtractLine, ...]:
        """Its extract lines."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupPool:
    """The best lines of a log by bucket of age.

    Attributes:
        width: How many sequence numbers a bucket spans, a power of two.
        buckets: Bucket number (`seq // width`) with its lines in the order of the log, rising.
    """

    width: int = _FIRST_WIDTH
    buckets: tuple[tuple[int, tuple[ExtractLine, ...]], ...] = ()

    def list_lines(self) -> tuple[ExtractLine, ...]:
        """All held lines in the order of the log."""
        return tuple(line for _, lines in self.buckets for line in lines)

    def to_json(self) -> dict[str, object]:
        """A value of JSON that `from_json` reads back equal."""
        rows = [
            [line.seq, line.origin, line.said_at.isoformat(), *to_json(line, line.origin)] for line in self.list_lines()
        ]
        return {"width": self.width, "lines": rows}

    @classmethod
    def from_json(cls, value: object) -> "RollupPool":
        """The pool that `to_json` gave.

        Raises:
            InvalidInputError: the value is not such a pool.
        """
        match value:
            case {"width": int(width), "lines": list(rows)} if width > 0:
                return finish(_fill(width, {}, [_read_row(row) for row in rows]))
            case _:
                raise InvalidInputError(
                    f"The rollup's pool is not {{width, lines}}: {value!r:.120}. Rebuild it from the extract lines."
                )


def pool_stepwise(pool: RollupPool, sources: Sequence[OfferedMessage]) -> Steps[RollupPool]:
    """The pool after every line of the sources was offered. O(lines offered), whatever the length of the log."""
    offered = [line for source in sources for line in source.lines]
    return (yield from _fill(pool.width, dict(pool.buckets), offered))


def pool_drop(pool: RollupPool, seqs: Collection[int]) -> RollupPool:
    """The pool without any line of the named messages (an erase)."""
    erased = frozenset(seqs)
    kept = ((number, tuple(line for line in lines if line.seq not in erased)) for number, lines in pool.buckets)
    return RollupPool(width=pool.width, buckets=tuple((number, lines) for number, lines in kept if lines))


def _fill(width: int, held: dict[int, tuple[ExtractLine, ...]], offered: Iterable[ExtractLine]) -> Steps[RollupPool]:
    by_bucket: dict[int, list[ExtractLine]] = {number: list(lines) for number, lines in held.items()}
    touched: set[int] = set()
    for line in offered:
        number = line.seq // width
        by_bucket.setdefault(number, []).append(line)
        touched.add(number)
    while len(by_bucket) > BUCKETS:
        width *= 2
        joined: dict[int, list[ExtractLine]] = {}
        for number, lines in by_bucket.items():
            joined.setdefault(number // 2, []).extend(lines)
        by_bucket = joined
        touched = set(joined)
    buckets = {number: tuple(lines) for number, lines in sorted(by_bucket.items())}
    for number in sorted(touched):
        buckets[number] = yield from _keep_best(buckets[number])
        yield
    return RollupPool(width=width, buckets=tuple(buckets.items()))


def _keep_best(lines: Iterable[ExtractLine]) -> Steps[tuple[ExtractLine, ...]]:
    """At most `LINES_PER_BUCKET`, in the order of choice of a digest, so that what a rollup would choose is still there."""
    unique = list({(line.seq, line.start): line for line in lines}.values())
    if len(unique) > LINES_PER_BUCKET:
        unique = yield from _choose(unique)
    return tuple(sorted(unique, key=lambda line: (line.seq, line.start)))


def _choose(lines: Sequence[ExtractLine]) -> Steps[list[ExtractLine]]:
    groups = yield from group_stepwise(sorted(lines, key=lambda line: (line.seq, line.start)))
    costs = [sum([_FRAME_TOKENS + len(line.quote) / _CHARS_PER_TOKEN for line in one.said]) for one in groups]
    candidates = yield from list_candidates(groups, costs)
    choice = yield from begin_choice(candidates, choose_quotas(lines))
    chosen: dict[tuple[int, int], ExtractLine] = {}
    for at in choice.order():
        if at is None:
            yield
            continue
        chosen |= {(line.seq, line.start): line for line in groups[at].said}
        if len(chosen) >= LINES_PER_BUCKET:
            break
    return list(chosen.values())[:LINES_PER_BUCKET]


def _read_row(row: object) -> ExtractLine:
    match row:
        case [int(seq), ("user" | "assistant" | "tool" | "external" | "system") as origin, str(said_at), *rest]:
            who: Origin = origin
            return from_json(rest, seq=seq, origin=who, said_at=datetime.fromisoformat(said_at))
        case _:
            raise InvalidInputError(
                f"A line of the rollup's pool is not [seq, origin, time, ...]: {row!r:.120}. Rebuild it."
            )
