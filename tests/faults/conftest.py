"""What tests of faults hold in their hands."""

import pytest

from everfold.testing.kit.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still until it is told to move."""
    return FakeClock()
