"""The SQLite store holds to the contract, over a file and in memory."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.testing.contract import StoreContract


class TestSqliteStore(StoreContract):
    """Runs the whole contract over a file."""

    @pytest.fixture
    async def store(self, made_database: Path, tmp_path: Path) -> AsyncIterator[SqliteStore]:
        """An empty store in a file of its own."""
        opened = await SqliteStore.open(str(shutil.copy(made_database, tmp_path / "everfold.db")))
        yield opened
        await opened.close()


class TestMemoryStore(StoreContract):
    """Runs the whole contract over a database in memory."""

    @pytest.fixture
    async def store(self) -> AsyncIterator[SqliteStore]:
        """An empty store in memory."""
        opened = await SqliteStore.open(IN_MEMORY)
        yield opened
        await opened.close()
