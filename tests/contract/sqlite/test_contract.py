"""The SQLite store holds to the contract."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from everfold.adapters.sqlite.store import SqliteStore
from everfold.testing.contract import StoreContract


class TestSqliteStore(StoreContract):
    """Runs the whole contract over a file."""

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[SqliteStore]:
        """An empty store in a file of its own."""
        opened = await SqliteStore.open(str(tmp_path / "everfold.db"))
        yield opened
        await opened.close()
