"""One engine over each store, with a clock and ids that a test holds in its hands."""

from collections.abc import AsyncIterator

import pytest
from tests.support.sizes import STORES

import everfold
from everfold import Everfold
from everfold.testing.kit.fakes import CountingIds, FakeClock


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, file_url: str) -> str:
    """The url of an empty store of each kind."""
    return file_url if request.param == "sqlite" else "memory://"


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still until it is told to move."""
    return FakeClock()


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds()) as opened:
        yield opened
