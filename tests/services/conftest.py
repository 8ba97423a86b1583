"""One engine over each store, with a clock and ids that a test holds in its hands."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.sizes import STORES

import everfold
from everfold import Everfold
from everfold.testing.kit.fakes import CountingIds, FakeClock


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The url of a new store of each kind."""
    return f"sqlite:///{tmp_path}/everfold.db" if request.param == "sqlite" else "memory://"


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    """The url of a new file, for what only a file can do."""
    return f"sqlite:///{tmp_path}/everfold.db"


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still until it is told to move."""
    return FakeClock()


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds()) as opened:
        yield opened
