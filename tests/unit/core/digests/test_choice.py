"""The order in which lines are chosen."""

from collections.abc import Iterator
from datetime import UTC, datetime

from everfold.core.digests.choice import LINES_PER_STEP, TALK_QUOTAS, Candidate, Choice
from everfold.core.digests.value import read_value
from everfold.core.statements.extracts import ExtractLine

_AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def _candidates(count: int) -> Iterator[Candidate]:
    """Lines of ten sayings, each again and again with another number: what one adds falls with each that was taken."""
    for seq in range(1, count + 1):
        quote = f"Shelf {seq} of the {'ABCDEFGHIJ'[seq % 10]} wing holds lamps, ropes, kegs and sails for Ada."
        line = ExtractLine(seq, "user", "state", 50, quote, 0, False, _AT)
        yield Candidate(said=(line,), value=read_value(quote), line_class=3, base=0.0, weight=1.0, cost=12.0)


def test_the_order_pauses_however_few_lines_are_taken() -> None:
    """Between two pauses at most so many lines are measured, also where most of them are passed over."""
    measured: list[int] = []

    class Counting(Choice):
        def _measure(self, at: int) -> float:
            measured.append(at)
            return super()._measure(at)

    choice = Counting(list(_candidates(2_000)), TALK_QUOTAS, ())
    choice.weigh(range(2_000))
    counts, taken, last_count = [], 0, 0
    for at in choice.order():
        if at is None:
            counts.append(len(measured) - last_count)
            last_count = len(measured)
        else:
            taken += 1
    assert len(measured) - taken > 10 * LINES_PER_STEP
    assert max(counts) <= LINES_PER_STEP
