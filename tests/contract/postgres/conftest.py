from collections.abc import AsyncIterator

import pytest

from everfold.adapters.postgres.store import PostgresStore


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PostgresStore]:
    """A store over an empty database."""
    opened = await PostgresStore.open(database_url)
    yield opened
    await opened.close()
