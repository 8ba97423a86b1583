import json

import pytest

from everfold.core.log.calibration import (
    LEAST_FACTOR,
    LEAST_SAMPLE_TOKENS,
    MOST_FACTOR,
    Calibration,
    calibrate_budget,
    observe,
    raise_for_context_error,
)
from everfold.errors import InvalidInputError


@pytest.mark.parametrize("ratio", [0.6, 0.93, 1.0, 1.4, 2.5])
def test_steady_ratio_is_learnt(ratio: float) -> None:
    """A provider that always counts the same share of our estimate is known within 2 % after thirty requests."""
    calibration = Calibration()
    for _ in range(30):
        calibration = observe(calibration, counted_tokens=int(ratio * 10_000), estimated_tokens=10_000)
    assert calibration.factor == pytest.approx(ratio, rel=0.02)
    assert calibration.samples_count == 30


@pytest.mark.parametrize(
    ("counted_tokens", "samples_count", "most"), [(10**9, 0, 1.25), (10**9, 50, 1.09), (1, 50, 1.0)]
)
def test_one_odd_sample_does_not_swing(counted_tokens: int, samples_count: int, most: float) -> None:
    """One absurd count moves the factor by a quarter at the very first, and by less than a tenth later."""
    before = Calibration(samples_count=samples_count)
    after = observe(before, counted_tokens=counted_tokens, estimated_tokens=5_000)
    assert 0.94 <= after.factor <= most


def test_small_or_uncounted_requests_teach_nothing() -> None:
    """A request below the least sample, or one that the provider did not count, leaves the calibration as it was."""
    before = Calibration(factor=1.2, samples_count=3)
    assert observe(before, counted_tokens=4_000, estimated_tokens=LEAST_SAMPLE_TOKENS - 1) is before
    assert observe(before, counted_tokens=0, estimated_tokens=9_000) is before


def test_context_error_raises_to_what_it_proves() -> None:
    """After a refusal the same request no longer fits the calibrated budget."""
    after = raise_for_context_error(Calibration(), estimated_tokens=6_000, limit_tokens=8_000)
    assert calibrate_budget(after, 8_000) <= 6_000
    counted = raise_for_context_error(Calibration(), estimated_tokens=6_000, limit_tokens=8_000, counted_tokens=9_000)
    assert counted.factor == pytest.approx(1.5)


def test_context_error_always_raises_until_the_bound() -> None:
    """Every refusal raises the factor by a tenth at least, also for a tiny estimate, and it ends at the bound."""
    calibration = Calibration(samples_count=7)
    for _ in range(20):
        raised = raise_for_context_error(calibration, estimated_tokens=10, limit_tokens=8_000)
        assert raised.factor >= min(calibration.factor * 1.0999, MOST_FACTOR)
        calibration = raised
    assert calibration == Calibration(factor=MOST_FACTOR, samples_count=7)


def test_factor_stays_within_its_bounds() -> None:
    """No series of counts takes the factor out of its bounds."""
    low = high = Calibration()
    for _ in range(40):
        low = observe(low, counted_tokens=1, estimated_tokens=100_000)
        high = observe(high, counted_tokens=10**7, estimated_tokens=1_000)
    assert low.factor == LEAST_FACTOR
    assert high.factor == MOST_FACTOR


def test_budget_is_divided_and_rounded_down() -> None:
    """The calibrated budget times the factor never passes the budget."""
    assert calibrate_budget(Calibration(factor=1.5), 1000) == 666
    assert calibrate_budget(Calibration(), 0) == 0


def test_json_reads_back_equal() -> None:
    """A calibration survives JSON text unchanged, and an empty object is the default."""
    calibration = Calibration(factor=1.0 + 1 / 3, samples_count=9)
    assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration
    assert Calibration.from_json({}) == Calibration()


@pytest.mark.parametrize(
    "value",
    [
        {"factor": "1"},
        {"factor": True},
        {"factor": float("nan")},
        {"factor": 99.0},
        {"factor": None},
        {"samples_count": -1},
        {"samples_count": 1.5},
        {"samples": 1},
    ],
)
def test_broken_json_is_refused(value: dict[str, object]) -> None:
    """A field of a wrong name, type or range is our own error."""
    with pytest.raises(InvalidInputError):
        Calibration.from_json(value)


def test_negative_numbers_are_refused() -> None:
    """No negative count, estimate, limit or budget is taken."""
    with pytest.raises(InvalidInputError):
        observe(Calibration(), counted_tokens=-1, estimated_tokens=1_000)
    with pytest.raises(InvalidInputError):
        observe(Calibration(), counted_tokens=1, estimated_tokens=-1)
    with pytest.raises(InvalidInputError):
        raise_for_context_error(Calibration(), estimated_tokens=1_000, limit_tokens=0)
    with pytest.raises(InvalidInputError):
        calibrate_budget(Calibration(), -1)
