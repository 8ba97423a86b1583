"""An engine over a database of its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import everfold
from everfold import Everfold


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Everfold]:
    """An engine over a new SQLite file."""
    async with everfold.open(f"sqlite:///{tmp_path}/everfold.db") as opened:
        yield opened
