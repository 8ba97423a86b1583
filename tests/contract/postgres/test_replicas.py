"""What servers tell each other when the way to the database breaks off: nothing is refused, and nothing written twice."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.support.cutting import Cutter, Place, cutting
from tests.support.waiting import SECS, until

from everfold.adapters.postgres import repeating
from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.replicas import PostgresReplicas
from everfold.errors import ConflictError, StoreError, StoreUnavailableError
from everfold.ports.replicas import SharedSettings

LOST: list[Place] = ["begun", "unsent", "unanswered"]


@pytest.fixture
def cutter(database_url: str) -> Iterator[Cutter]:
    """A way to an empty database."""
    with tempfile.TemporaryDirectory() as folder, cutting(database_url, Path(folder)) as opened:
        yield opened


@asynccontextmanager
async def replica(url: str) -> AsyncIterator[PostgresReplicas]:
    """One of those that have a store open."""
    opened = PostgresReplicas(url)
    try:
        yield opened
    finally:
        await opened.close()


async def test_settings_are_read_over_a_lost_connection(cutter: Cutter) -> None:
    """A lost connection is not seen by a server that reads the shared settings."""
    async with replica(cutter.url) as one:
        await one.write_settings(b"{}", expected_version=0)
        cutter.place = "read"
        assert await one.read_settings() == SharedSettings(version=1, content=b"{}")
        assert cutter.place is None


@pytest.mark.parametrize("expected_version", [0, 1])
@pytest.mark.parametrize("place", LOST)
async def test_settings_are_written_once_over_a_lost_connection(
    cutter: Cutter, place: Place, expected_version: int
) -> None:
    """Wherever the connection is lost, the write returns, and the settings have changed once."""
    async with replica(cutter.url) as one:
        for version in range(expected_version):
            await one.write_settings(b"[]", expected_version=version)
        await one.read_settings()
        cutter.place = place
        await one.write_settings(b"{}", expected_version=expected_version)
        assert cutter.place is None
        assert await one.read_settings() == SharedSettings(version=expected_version + 1, content=b"{}")


@pytest.mark.parametrize("place", ["unsent", "unanswered"])
async def test_a_write_that_the_server_does_not_know_of_is_settled_by_what_is_stored(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    """Where the server has forgotten how a transaction ended, as after a crash, the settings have changed once."""
    ask = Database.read_transaction_status

    def forget(database: Database, transaction_id: int, server_life: int | None) -> str | None:
        status = ask(database, transaction_id, server_life)
        return status if status == "in progress" else None

    monkeypatch.setattr(Database, "read_transaction_status", forget)
    async with replica(cutter.url) as one:
        await one.read_settings()
        cutter.place = place
        await one.write_settings(b"{}", expected_version=0)
        assert await one.read_settings() == SharedSettings(version=1, content=b"{}")


@pytest.mark.parametrize("place", ["unsent", "unanswered"])
async def test_a_write_behind_another_one_is_refused_over_a_lost_connection(
    cutter: Cutter, database_url: str, place: Place
) -> None:
    """A write over a version that another server has replaced meanwhile is refused, and the other one's settings stay."""
    async with replica(cutter.url) as one, replica(database_url) as other:
        await other.write_settings(b"[]", expected_version=0)
        await one.read_settings()
        cutter.place = place
        with pytest.raises(ConflictError):
            await one.write_settings(b"{}", expected_version=0)
        assert await one.read_settings() == SharedSettings(version=1, content=b"[]")


@pytest.mark.parametrize("place", LOST)
async def test_what_is_told_over_a_lost_connection_arrives_once(
    cutter: Cutter, database_url: str, place: Place
) -> None:
    """Wherever the connection is lost, others hear what was told once and in order."""
    async with replica(cutter.url) as teller, replica(database_url) as reader:
        assert await reader.hear(wait_secs=0) == []
        await teller.tell([b"1"])
        cutter.place = place
        await teller.tell([b"2", b"3"])
        await teller.tell([b"4"])
        heard: list[bytes] = []
        async with asyncio.timeout(SECS):
            while b"4" not in heard:
                heard += await reader.hear(wait_secs=1)
        assert heard == [b"1", b"2", b"3", b"4"]


async def test_what_is_heard_over_a_lost_connection_has_no_gap(cutter: Cutter, database_url: str) -> None:
    """A reader whose connection was lost goes on where it was."""
    async with replica(database_url) as teller, replica(cutter.url) as reader:
        assert await reader.hear(wait_secs=0) == []
        await teller.tell([b"1"])
        cutter.place = "read"
        heard: list[bytes] = []
        async with asyncio.timeout(SECS):
            while not heard:
                heard = await reader.hear(wait_secs=1)
        assert heard == [b"1"]
        assert cutter.place is None


async def test_a_server_that_stays_away_is_told(cutter: Cutter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that does not come back in time is an error, and is found again by the next call."""
    monkeypatch.setattr(repeating, "REPEAT_SECS", 0.2)
    async with replica(cutter.url) as one:
        await one.read_settings()
        cutter.go_down(2)
        with pytest.raises(StoreUnavailableError):
            await one.read_settings()
        await until(lambda: not cutter.is_down)
        assert await one.read_settings() == SharedSettings()


async def test_a_replica_that_closes_does_not_wait_for_a_server(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that is repeated since the database is away ends when the replica closes."""
    monkeypatch.setattr(repeating, "REPEAT_SECS", SECS)
    one = PostgresReplicas(cutter.url)
    await one.read_settings()
    cutter.is_down, cutter.place = True, "read"
    reading = asyncio.create_task(one.read_settings())
    await asyncio.sleep(0)  # it is tried now
    await one.close()
    with pytest.raises(StoreError):
        await reading
