"""Connections to PostgreSQL that go dead without a word: no call hangs on one."""

import asyncio
import sys
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.support.cutting import SilentWay

import everfold
from everfold.adapters.postgres.connections import DEADLINES, add_parameters
from everfold.adapters.postgres.replicas import PostgresReplicas
from everfold.errors import StoreUnavailableError
from everfold.testing.kit.builders import user

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="its filters are what drops packets"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def way(database_url: str) -> Iterator[SilentWay]:
    """A way to an empty database."""
    opened = SilentWay(database_url)
    yield opened
    opened.close()


async def test_a_call_over_a_dead_connection_is_made_on_another_one(way: SilentWay) -> None:
    """Where the server can still be reached, an append over connections that are dead returns, and is stored once."""
    async with everfold.open(way.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        way.lose_connections()
        assert await session.append(user("The second one.")) == [2]
        assert [message.view.text for message in await session.messages()] == ["The first one.", "The second one."]


async def test_a_call_to_a_dead_host_ends(way: SilentWay) -> None:
    """Where nothing of the server is there any more, calls end with an error, however many there are at once."""
    async with everfold.open(way.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        way.lose_host()
        calls = [session.messages() for _ in range(10)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one) for one in ended} == {StoreUnavailableError}


async def test_what_servers_tell_each_other_goes_on_after_a_dead_connection(way: SilentWay, database_url: str) -> None:
    """A connection that listens and one that tells end where they are dead, and others take their place."""
    replicas, other = PostgresReplicas(way.url), PostgresReplicas(database_url)
    for one in (replicas, other):
        await one.hear(wait_secs=0)
    await replicas.read_settings()
    way.lose_connections()
    await replicas.tell([b"1"])
    await other.tell([b"2"])
    for one, told in ((replicas, b"2"), (other, b"1")):
        heard: list[bytes] = []
        while told not in heard:
            heard += await one.hear(wait_secs=1)
        await one.close()


def test_the_url_sets_other_times(way: SilentWay) -> None:
    """A time that the url names is the url's; the others are ours."""
    given = {"tcp_user_timeout": "60000", "keepalives_idle": "60"}
    asked = conninfo_to_dict(add_parameters(f"{way.url}?{urlencode(given)}"))
    ours = {name: str(value) for name, value in DEADLINES.items()}
    assert asked == {**conninfo_to_dict(way.url), **ours, **given, "client_encoding": "UTF8"}
