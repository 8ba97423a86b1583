"""The PostgreSQL store holds to the contract on a server that waits for its disk, as one of users does."""

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest
from tests.support.contracts import make_tests
from tests.support.postgres import clear, serving

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.migrating import migrate
from everfold.adapters.postgres.store import PostgresStore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def durable_url() -> Iterator[str]:
    """The url of a database with every migration behind it."""
    with serving(waits=True) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            migrate(Database(connection, "durable"))
        yield url


@pytest.fixture
async def store(durable_url: str) -> AsyncIterator[PostgresStore]:
    """A store over that database, emptied."""
    clear(durable_url)
    opened = await PostgresStore.open(durable_url)
    yield opened
    await opened.close()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
def test_the_server_waits_for_its_disk(durable_url: str, setting: str) -> None:
    """Nothing is acknowledged before it is on the disk."""
    with psycopg.connect(durable_url) as connection:
        assert connection.execute(f"SHOW {setting}").fetchall() == [("on",)]


vars().update(make_tests("Durable"))
