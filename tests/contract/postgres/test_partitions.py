"""Every row carries its owner: the tables can be partitioned by users as they are."""

from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.support.contracts import CONTRACTS, make_tests
from tests.support.postgres import LOOKED_UP, clear, partition

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.migrating import migrate
from everfold.adapters.postgres.store import PostgresStore
from everfold.testing.contract.log import LogContract
from everfold.testing.contract.sessions import SessionContract

COLUMNS = """
SELECT tables.relname, array_agg(columns.attname)
FROM pg_class AS tables
JOIN pg_attribute AS columns ON columns.attrelid = tables.oid AND columns.attnum > 0 AND columns.attnotnull
WHERE tables.relkind = 'r' AND tables.relnamespace = CAST('public' AS REGNAMESPACE)
GROUP BY tables.relname
"""
UNIQUES = """
SELECT tables.relname, indexes.relname, array_agg(columns.attname)
FROM pg_index
JOIN pg_class AS indexes ON indexes.oid = pg_index.indexrelid
JOIN pg_class AS tables ON tables.oid = pg_index.indrelid
JOIN pg_attribute AS columns ON columns.attrelid = indexes.oid
WHERE indisunique AND tables.relnamespace = CAST('public' AS REGNAMESPACE)
GROUP BY tables.relname, indexes.relname
"""
OWNERS = {"user_key", "user_id"}


async def test_every_row_and_every_unique_has_its_owner(database_url: str) -> None:
    """Each table but those that ids are looked up in has an owner that is never missing, and so has each of its uniques."""
    await (await PostgresStore.open(database_url)).close()
    with psycopg.connect(database_url) as connection:
        tables = {name: columns for name, columns in connection.execute(COLUMNS) if name not in LOOKED_UP}
        uniques = [row for row in connection.execute(UNIQUES).fetchall() if row[0] not in LOOKED_UP]
    assert len(tables) > 15
    assert [name for name, columns in tables.items() if not OWNERS & set(columns)] == []
    assert [index for _, index, columns in uniques if not OWNERS & set(columns)] == []
    assert {name for name, *_ in uniques} == set(tables)


@pytest.fixture(scope="module")
def partitioned_url(server_url: str) -> str:
    """The url of a database whose tables are partitioned by users."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE partitioned")
    url = make_conninfo(server_url, dbname="partitioned")
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(Database(connection, "partitioned"))
    partition(url)
    return url


@pytest.fixture
async def store(partitioned_url: str) -> AsyncIterator[PostgresStore]:
    """A store over that database, emptied."""
    clear(partitioned_url)
    opened = await PostgresStore.open(partitioned_url)
    yield opened
    await opened.close()


QUICK = (SessionContract, LogContract)
MORE = make_tests("Partitioned", [contract for contract in CONTRACTS if contract not in QUICK])

vars().update(make_tests("Partitioned", QUICK))
vars().update({name: pytest.mark.slow(made) for name, made in MORE.items()})
