"""What is repeated when the way to the server breaks off: everything that left nothing behind, and nothing twice."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.support.cutting import Cutter, Place, cutting
from tests.support.postgres import crash, durable

import everfold
from everfold import Session
from everfold.adapters.postgres.connection import Database
from everfold.errors import StoreUnavailableError
from everfold.testing.kit.builders import user


@pytest.fixture
def cutter(database_url: str) -> Iterator[Cutter]:
    """A way to an empty database."""
    with tempfile.TemporaryDirectory() as folder, cutting(database_url, Path(folder)) as opened:
        yield opened


async def _read(session: Session) -> list[str]:
    """The texts of the log."""
    return [message.view.text for message in await session.messages()]


@pytest.mark.parametrize("place", ["begun", "unsent", "unanswered"])
async def test_an_append_over_a_lost_connection_is_stored_once(cutter: Cutter, place: Place) -> None:
    """Wherever the connection is lost, the append returns, and its message is in the log once."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = place
        assert await session.append(user("The second one.")) == [2]
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one."]
        assert (await session.verify()).is_sound


async def test_a_read_over_a_lost_connection_is_asked_again(cutter: Cutter) -> None:
    """A lost connection is not seen by who reads."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place = "read"
        assert await _read(session) == ["The first one."]
        assert cutter.place is None


async def test_a_commit_that_nobody_knows_of_is_settled_by_the_client_id(
    cutter: Cutter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server has forgotten how a transaction ended the error says so; the same append again stores it once."""
    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        with monkeypatch.context() as patch:
            patch.setattr(Database, "read_transaction_status", lambda *_: None)
            cutter.place = "unanswered"
            with pytest.raises(StoreUnavailableError, match="same client ids"):
                await session.append(user("The second one."), client_ids=["mine"])
        assert await session.append(user("The second one."), client_ids=["mine"]) == [2]
        assert (await session.verify()).is_sound


@pytest.fixture
def lazy_url(database_url: str) -> Iterator[str]:
    """A durable database whose server writes its log when something is committed, and no sooner."""
    with durable(database_url):
        _set(database_url, "ALTER SYSTEM SET wal_writer_delay = '10s'")
        yield database_url
        _set(database_url, "ALTER SYSTEM RESET wal_writer_delay")


def _set(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
        connection.execute("SELECT pg_reload_conf()")


def _give_away(url: str, transaction_id: int) -> None:
    """Have transactions committed until one has had this id."""
    with psycopg.connect(url, autocommit=True) as connection:
        while (
            connection.execute("SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)").fetchall()[0][0]
            < transaction_id
        ):
            pass


@pytest.mark.parametrize("is_given_away", [False, True])
async def test_a_commit_that_a_crash_took_is_not_taken_for_another_one(
    cutter: Cutter, lazy_url: str, *, is_given_away: bool
) -> None:
    """What was appended while the server crashed is in the log or refused, also where another transaction got its id."""

    def crash_and_go_on() -> None:
        with psycopg.connect(lazy_url) as connection:
            query = (
                "SELECT CAST(CAST(backend_xid AS TEXT) AS BIGINT) FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
            )
            [(transaction_id,)] = connection.execute(query).fetchall()
        crash(lazy_url)
        if is_given_away:
            _give_away(lazy_url, transaction_id)

    async with everfold.open(cutter.url) as engine:
        session = await engine.session()
        await session.append(user("The first one."))
        cutter.place, cutter.before = "unsent", crash_and_go_on
        problem = ""
        try:
            await session.append(user("The second one."), client_ids=["mine"])
        except StoreUnavailableError as error:
            problem = str(error)
            await session.append(user("The second one."), client_ids=["mine"])
        assert not problem or (is_given_away and "same client ids" in problem)
        assert cutter.place is None
        assert await _read(session) == ["The first one.", "The second one."]
        assert (await session.verify()).is_sound
