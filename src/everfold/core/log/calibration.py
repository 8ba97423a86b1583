"""Calibration: the factor between a provider's token count and our estimate of the same request.

The estimate decides what is kept and never changes; the calibration divides the budget instead (DESIGN 3.1), so a
tokenizer that cuts finer than ours shrinks the window and no message flips between kept and folded. What people see of
a window is in the provider's tokens: `count_tokens` is where an estimate becomes one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final

from everfold.core.primitives.field_types import MOST_WHOLE
from everfold.errors import InvalidInputError

LEAST_FACTOR: Final = 0.5
"""The lower bound. Source: our choice; larger vocabularies may count other scripts well below our estimate."""

MOST_FACTOR: Final = 3.0
"""The upper bound. Source: our choice, not measured; beyond it a count is more likely wrong than the estimate."""

LEAST_SAMPLE_TOKENS: Final = 400
"""Requests estimated below this teach nothing. Source: our choice; a provider's own framing of up to some dozens
of tokens, which no estimate sees, is then below a tenth."""

_FULL_HISTORY_COUNT: Final = 4
"""A new sample weighs 1 / (samples + 2), but never less than 1 / (this + 2)."""

_MOST_CHANGE: Final = 1.5
"""A sample counts as at most this many times the factor so far, or its inverse."""

_ERROR_RAISE: Final = 1.1
"""What a context-length error raises the factor by at least. Source: our choice; four errors pass 1.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What the requests so far taught about a provider's tokenizer.

    Attributes:
        factor: The provider's count over our estimate, smoothed, within `LEAST_FACTOR` and `MOST_FACTOR`.
        samples_count: How many requests it was learnt from.

    Raises:
        InvalidInputError: the factor is outside its bounds or no number, or the count is negative.
    """

    factor: float = 1.0
    samples_count: int = 0

    def __post_init__(self) -> None:
        if not LEAST_FACTOR <= self.factor <= MOST_FACTOR:
            raise InvalidInputError(
                f"a calibration factor must be {LEAST_FACTOR} to {MOST_FACTOR}, got {self.factor!r}"
            )
        if self.samples_count < 0:
            raise InvalidInputError(f"a calibration must have 0 or more samples, got {self.samples_count}")

    def to_json(self) -> dict[str, float | int]:
        """The calibration as a JSON object."""
        return {"factor": self.factor, "samples_count": self.samples_count}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> "Calibration":
        """The calibration that `to_json` gave; what is missing has its default.

        Raises:
            InvalidInputError: a field is unknown, of another type, or out of its bounds.
        """
        unknown = value.keys() - {"factor", "samples_count"}
        if unknown:
            raise InvalidInputError(f"a calibration has no {sorted(unknown)}: expected factor and samples_count")
        factor, samples_count = value.get("factor", 1.0), value.get("samples_count", 0)
        if isinstance(factor, bool) or not isinstance(factor, int | float):
            raise InvalidInputError(f"the factor of a calibration must be a number, got {factor!r}")
        if isinstance(samples_count, bool) or not isinstance(samples_count, int):
            raise InvalidInputError(f"the samples_count of a calibration must be a whole number, got {samples_count!r}")
        return cls(factor=float(factor), samples_count=samples_count)


def observe(calibration: Calibration, *, counted_tokens: int, estimated_tokens: int) -> Calibration:
    """The calibration after one more request that the provider counted, cached tokens included.

    A moving average of the ratio: the first samples weigh 1/2, 1/3, 1/4 ..., later ones 1/6. Each is first held
    within half more and a third less of the factor so far, so one odd sample moves it by a quarter at the very
    first and by a twelfth later. A request too small to mean anything, or not counted (0), changes nothing.

    Raises:
        InvalidInputError: a number is negative or above `MOST_WHOLE`.

    Source: DESIGN 3.1; exponential smoothing with a growing window at the start, samples winsorised.
    """
    _check_counts(counted_tokens=counted_tokens, estimated_tokens=estimated_tokens)
    if estimated_tokens < LEAST_SAMPLE_TOKENS or counted_tokens == 0:
        return calibration
    ratio = _clamp(
        counted_tokens / estimated_tokens, calibration.factor / _MOST_CHANGE, calibration.factor * _MOST_CHANGE
    )
    share = 1 / (min(calibration.samples_count, _FULL_HISTORY_COUNT) + 2)
    factor = calibration.factor + share * (ratio - calibration.factor)
    return Calibration(factor=_clamp(factor, LEAST_FACTOR, MOST_FACTOR), samples_count=calibration.samples_count + 1)


def raise_for_context_error(
    calibration: Calibration, *, estimated_tokens: int, limit_tokens: int, counted_tokens: int | None = None
) -> Calibration:
    """The calibration after a provider refused a request as too long, raised by a tenth at least.

    The refusal proves that the request holds more than the limit, or what the provider's message counted; the
    factor becomes at least what that says of our estimate. It stays within its bounds, so repeated errors end.

    Raises:
        InvalidInputError: a number is negative or above `MOST_WHOLE`, or the limit is 0.

    Source: DESIGN 3.1, a context-length error raises the calibration.
    """
    _check_counts(estimated_tokens=estimated_tokens, counted_tokens=counted_tokens or 0)
    if limit_tokens < 1:
        raise InvalidInputError(f"the limit must be at least 1 token, got {limit_tokens}")
    proven = max(limit_tokens, counted_tokens or 0) / max(estimated_tokens, 1)
    factor = max(calibration.factor * _ERROR_RAISE, proven if estimated_tokens >= LEAST_SAMPLE_TOKENS else 0.0)
    return replace(calibration, factor=_clamp(factor, LEAST_FACTOR, MOST_FACTOR))


def calibrate_budget(calibration: Calibration, budget_tokens: int) -> int:
    """The budget in tokens of our estimate, from one in tokens of the provider; rounded down, and never more than it.

    A provider that reports fewer tokens than we estimate gives no room beyond the limit: it may have left some out.

    Raises:
        InvalidInputError: the budget is negative.
    """
    _check_counts(budget_tokens=budget_tokens)
    return math.floor(budget_tokens / max(calibration.factor, 1.0))


def count_tokens(calibration: Calibration, estimated_tokens: int) -> int:
    """What the provider is expected to count for so many tokens of our estimate; rounded down."""
    return math.floor(estimated_tokens * calibration.factor)


def count_parts(calibration: Calibration, estimates: Sequence[int]) -> list[int]:
    """The same of parts, so that the counts sum to the count of their sum."""
    ends = [count_tokens(calibration, tokens) for tokens in accumulate(estimates, initial=0)]
    return [end - begin for begin, end in pairwise(ends)]


def _clamp(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


def _check_counts(**tokens: int) -> None:
    for name, count in tokens.items():
        if count > MOST_WHOLE:
            raise InvalidInputError(f"cannot calibrate with {name} above {MOST_WHOLE:,}: give the provider's count")
        if count < 0:
            raise InvalidInputError(f"cannot calibrate with {name} of {count}: expected 0 or more")
